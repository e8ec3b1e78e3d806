"""What campaigns saw, for those who look back: which there are, and their results. For `triage.store` alone."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlmodel import Session, col, select

from fuzz.case import FAILING, Origin, Status
from triage import records
from triage.records import CampaignInfo
from triage.rows import CampaignRow, FailureRow, ResultRow

_FAILING = [status.value for status in FAILING]


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
    rows = session.exec(select(CampaignRow).order_by(col(CampaignRow.id)))
    return [
        CampaignInfo(row.id, False, json.loads(row.parameters), row.started, row.finished)
        for row in rows
        if row.id is not None
    ]


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


def failed(session: Session) -> set[str]:
    """The ids of all cases that any campaign saw fail."""
    query = select(ResultRow.case_id).where(col(ResultRow.status).in_(_FAILING)).distinct()
    return set(session.exec(query))
