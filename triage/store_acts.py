"""What people did, in the database. For `triage.store` and `triage.ledger`, which do it in the same transaction."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlmodel import Session, col, select

from triage.acts import Act, Deed, NewAct
from triage.records import clean
from triage.rows import ActRow


def add(session: Session, new: NewAct) -> None:
    """Keep that it was done, now."""
    session.add(
        ActRow(
            at=datetime.now(UTC),
            by=clean(new.by),
            deed=new.deed.value,
            bug_id=new.bug_id,
            campaign_id=new.campaign_id,
            text=clean(new.text),
        )
    )


def listed(session: Session, bug_id: int | None, campaign_id: int | None, limit: int) -> list[Act]:
    """The last acts, of one bug or campaign where that is given, the newest first."""
    query = select(ActRow).order_by(col(ActRow.id).desc()).limit(limit)
    if bug_id is not None:
        query = query.where(ActRow.bug_id == bug_id)
    if campaign_id is not None:
        query = query.where(ActRow.campaign_id == campaign_id)
    return [Act(row.at, row.by, Deed(row.deed), row.text, row.bug_id, row.campaign_id) for row in session.exec(query)]
