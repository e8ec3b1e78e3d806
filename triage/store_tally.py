"""The numbers of a campaign by the minute, kept while results are recorded. For `triage.store` alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy import select as chosen
from sqlmodel import Session, SQLModel, col, select

from fuzz.case import Stage, Status
from triage.records import Progress, Reachable, Reached, clean
from triage.rows import CampaignRow, ReachedRow, ResultRow, TallyRow
from triage.store_upsert import upserting

#: How often a question about many cases is split: SQLite takes some thousand values at once.
_AT_ONCE = 500
_RESULT = tuple(
    SQLModel.metadata.tables["result"].c[name] for name in ("case_id", "target_id", "minute", "status", "stage")
)


def minute(session: Session, campaign_id: int, now: datetime) -> int:
    """The minute of a campaign that `now` is in, 0 for an unknown one: whoever writes for it fails by himself."""
    row = session.get(CampaignRow, campaign_id)
    if row is None:
        return 0
    started = row.started if row.started.tzinfo else row.started.replace(tzinfo=UTC)
    return max(0, int((now - started).total_seconds() // 60))


def count(session: Session, campaign_id: int, rows: Sequence[dict[str, Any]]) -> None:
    """Count results that are about to be written (as columns): one that replaces another is not counted twice."""
    before = _before(session, campaign_id, {row["case_id"] for row in rows})
    known = {case for case, _ in before}
    changes: dict[tuple[int, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in {(row["case_id"], row["target_id"]): row for row in rows}.values():
        changed = changes[row["minute"], row["status"], row["stage"]]
        changed[0] += 1
        changed[1] += row["case_id"] not in known
        known.add(row["case_id"])
        old = before.get((row["case_id"], row["target_id"]))
        if old:
            changes[old][0] -= 1
    table = SQLModel.metadata.tables["tally"]
    statement = upserting(session, table)
    added = {name: table.c[name] + statement.excluded[name] for name in ("results", "cases")}
    names = ("minute", "status", "stage", "results", "cases")
    new = [
        {"campaign_id": campaign_id} | dict(zip(names, (*key, *change), strict=True))
        for key, change in sorted(changes.items())
    ]
    keys = ("campaign_id", "minute", "status", "stage")
    if new:
        session.connection().execute(statement.on_conflict_do_update(index_elements=keys, set_=added), new)


def _before(session: Session, campaign_id: int, cases: Iterable[str]) -> dict[tuple[str, str], tuple[int, str, str]]:
    """(case, target) -> minute, status and stage of the results that these cases have already."""
    found, wanted = dict[tuple[str, str], tuple[int, str, str]](), sorted(cases)
    for at in range(0, len(wanted), _AT_ONCE):
        some = col(ResultRow.case_id).in_(wanted[at : at + _AT_ONCE])
        query = chosen(*_RESULT).where(col(ResultRow.campaign_id) == campaign_id, some)
        found |= {(row[0], row[1]): (row[2], row[3], row[4]) for row in session.connection().execute(query)}
    return found


def ends(session: Session, campaign_id: int) -> tuple[dict[tuple[Status, Stage], int], int]:
    """How many results ended how, and how many different cases they are of."""
    kinds = (col(TallyRow.status), col(TallyRow.stage))
    sums = (func.sum(TallyRow.results), func.sum(TallyRow.cases))
    query = select(*kinds, *sums).where(TallyRow.campaign_id == campaign_id).group_by(*kinds)
    rows = session.exec(query).all()
    found = {(Status(status), Stage(stage)): results for status, stage, results, _ in rows if results}
    return found, sum(cases for *_, cases in rows)


def totals(session: Session) -> tuple[dict[Status, int], int]:
    """The results of all campaigns by status, and the sum of their cases."""
    sums = (func.sum(TallyRow.results), func.sum(TallyRow.cases))
    rows = session.exec(select(TallyRow.status, *sums).group_by(col(TallyRow.status))).all()
    return {Status(status): results for status, results, _ in rows}, sum(cases for *_, cases in rows)


def progress(session: Session, campaign_id: int) -> list[Progress]:
    """The results and new cases of each minute in which there were any, in order."""
    sums = (func.sum(TallyRow.results), func.sum(TallyRow.cases))
    query = select(TallyRow.minute, *sums).where(TallyRow.campaign_id == campaign_id)
    return [Progress(*row) for row in session.exec(query.group_by(col(TallyRow.minute)).order_by(col(TallyRow.minute)))]


def reach(session: Session, campaign_id: int, parts: Iterable[Reached], minute: int) -> None:
    """Note what was reached now; what was reached before stays where it was."""
    told = {"campaign_id": campaign_id, "minute": minute}
    rows = [told | {"part": each.part.value, "name": clean(each.name)} for each in parts]
    if rows:
        session.connection().execute(
            upserting(session, SQLModel.metadata.tables["reached"]).on_conflict_do_nothing(), rows
        )


def reached(session: Session, campaign_id: int) -> dict[Reachable, dict[int, int]]:
    """For each kind of parts how many were reached for the first time in a minute."""
    when = (col(ReachedRow.part), col(ReachedRow.minute))
    query = select(*when, func.count()).where(ReachedRow.campaign_id == campaign_id).group_by(*when).order_by(*when)
    found: dict[Reachable, dict[int, int]] = {}
    for part, at, number in session.exec(query):
        found.setdefault(Reachable(part), {})[at] = number
    return found
