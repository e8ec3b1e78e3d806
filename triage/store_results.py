"""What campaigns saw, for those who look back: which there are, and their results. For `triage.store` alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import BindParameter, bindparam, func
from sqlalchemy import select as chosen
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import Select

from fuzz.case import FAILING, Origin, Status
from triage import records
from triage.lifecycle import NO_BUGS, State
from triage.records import CampaignInfo, Mark, Sighting
from triage.rows import SHOWING, BugRow, CampaignRow, FailureRow, ResultRow

_FAILING = [status.value for status in FAILING]
#: Results that may show a failure; in the statement itself, since an index of them is used where they are known.
_SHOWING: BindParameter[Sequence[str]] = bindparam("showing", SHOWING, expanding=True, literal_execute=True)
#: How often a question about many cases is split: SQLite takes some thousand values at once.
_AT_ONCE = 500
#: By name; ten thousand are looked up for a page.
_STATES = {state.value: state for state in State}
#: What is asked of a bug; SQLModel's `select` knows no more than four columns together.
_BUG = (col(BugRow.id), col(BugRow.fingerprint), col(BugRow.state))


@dataclass(frozen=True)
class Recorded:
    """What one case did on one target; `bug` is the fingerprint of the bug that it shows, ``""`` for none."""

    case_id: str
    target_id: str
    origin: Origin
    status: Status
    seconds: float
    bug: str


def campaigns(session: Session) -> list[CampaignInfo]:
    """Every campaign, the oldest first. `resumed` tells nothing here."""
    return [campaign(row) for row in session.exec(select(CampaignRow).order_by(col(CampaignRow.id)))]


def campaign(row: CampaignRow, resumed: bool = False) -> CampaignInfo:
    """A campaign as it is told."""
    assert row.id is not None
    begun = (row.id, resumed, json.loads(row.parameters), row.started, row.finished)
    return CampaignInfo(*begun, row.name, Mark(row.mark), row.marked_by, row.marked, row.owner, row.seen)


def recorded(session: Session, campaign_id: int) -> list[Recorded]:
    """All results of a campaign, by target and case."""
    joined = (col(FailureRow.case_id) == col(ResultRow.case_id)) & (
        col(FailureRow.target_id) == col(ResultRow.target_id)
    )
    query = (
        select(ResultRow, FailureRow.fingerprint)
        .join(FailureRow, joined, isouter=True)
        .where(ResultRow.campaign_id == campaign_id)
        .order_by(col(ResultRow.target_id), col(ResultRow.case_id))
    )
    return [_recorded(row, bug) for row, bug in session.exec(query)]


def _recorded(row: ResultRow, bug: str | None) -> Recorded:
    # Another campaign may have seen the same pair fail.
    shown = bug if bug and row.status in _FAILING else ""
    origin = records.origin_from(row.origin)
    return Recorded(row.case_id, row.target_id, origin, Status(row.status), row.seconds, shown)


def seen(campaign_id: int) -> Select[str, int]:
    """The fingerprint and the minute of every failing result of a campaign."""
    same = (col(ResultRow.case_id) == FailureRow.case_id) & (col(ResultRow.target_id) == FailureRow.target_id)
    mine = (ResultRow.campaign_id == campaign_id, col(ResultRow.status).in_(_SHOWING))
    return select(FailureRow.fingerprint, ResultRow.minute).join(ResultRow, same).where(*mine)


def sightings(session: Session, campaign_id: int) -> list[Sighting]:
    """The bugs that a campaign saw, by id."""
    every = seen(campaign_id).subquery()
    told = (func.count().label("failures"), func.min(every.c.minute).label("first"))
    each = chosen(every.c.fingerprint, *told).group_by(every.c.fingerprint).subquery()
    query = chosen(*_BUG, each.c.failures, each.c.first).join(each, each.c.fingerprint == BugRow.fingerprint)
    rows = session.connection().execute(query.order_by(col(BugRow.id))).all()
    return [Sighting(bug, fingerprint, _STATES[state], *told) for bug, fingerprint, state, *told in rows]


def failed(session: Session) -> dict[str, set[str]]:
    """The bugs that cases showed in any campaign, as fingerprints by case id; none that is no compiler's bug."""
    joined = col(BugRow.fingerprint) == col(FailureRow.fingerprint)
    query = select(FailureRow.case_id, FailureRow.fingerprint).join(BugRow, joined)
    found: dict[str, set[str]] = defaultdict(set)
    for case_id, bug in session.exec(query.where(col(BugRow.state).not_in(NO_BUGS))):
        found[case_id].add(bug)
    return dict(found)


def ran(session: Session, case_ids: Sequence[str], before: int) -> set[str]:
    """Those of the cases that a campaign with a smaller id has results of."""
    found: set[str] = set()
    earlier = col(ResultRow.campaign_id).in_(select(CampaignRow.id).where(col(CampaignRow.id) < before))
    for at in range(0, len(case_ids), _AT_ONCE):
        asked = col(ResultRow.case_id).in_(case_ids[at : at + _AT_ONCE])
        found.update(session.exec(select(ResultRow.case_id).where(earlier, asked).distinct()))
    return found
