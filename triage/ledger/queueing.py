"""Putting work into the queue within a transaction of whoever asks for it. For this package alone."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import insert, tuple_, update
from sqlmodel import Session, col, select

from triage.ledger.owners import now
from triage.ledger.records import NewWork, WorkState
from triage.ledger.rows import WorkRow
from triage.records import dump


def queue(session: Session, new: NewWork) -> int:
    """Queue work within a transaction; its id."""
    same = select(WorkRow).where(
        WorkRow.kind == new.kind, WorkRow.key == new.key, WorkRow.state == WorkState.QUEUED.value
    )
    row = session.exec(same).first()
    if row is None:
        row = WorkRow(
            kind=new.kind,
            key=new.key,
            project=new.project,
            payload="",
            state="",
            priority=0,
            created=now(),
            updated=now(),
        )
        session.add(row)
    row.payload, row.state, row.priority = dump(new.payload), WorkState.QUEUED.value, new.priority
    row.project, row.not_before, row.updated = new.project, new.not_before, now()
    session.flush()
    assert row.id is not None
    return row.id


def queue_all(session: Session, news: Iterable[NewWork]) -> None:
    """Queue much work within a transaction, in three statements: others wait for its end."""
    last = {(new.kind, new.key): new for new in news}
    if not last:
        return
    same = tuple_(col(WorkRow.kind), col(WorkRow.key)).in_(list(last))
    query = select(WorkRow.id, WorkRow.kind, WorkRow.key).where(same, WorkRow.state == WorkState.QUEUED.value)
    waiting = {(kind, key): number for number, kind, key in session.exec(query)}
    moment = now()
    rows = {
        place: {
            "payload": dump(new.payload),
            "priority": new.priority,
            "project": new.project,
            "not_before": new.not_before,
            "updated": moment,
        }
        for place, new in last.items()
    }
    new = {"state": WorkState.QUEUED.value, "attempts": 0, "note": "", "owner": "", "lease": None, "created": moment}
    added = [{"kind": at[0], "key": at[1], **new, **row} for at, row in rows.items() if at not in waiting]
    if added:
        session.connection().execute(insert(WorkRow), added)
    for place, number in waiting.items():
        session.connection().execute(update(WorkRow).where(col(WorkRow.id) == number).values(rows[place]))
