"""Work to be done: rows that processes claim, keep alive, and finish. The row is the queue."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import timedelta

from sqlalchemy import case, func, or_
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from triage.ledger import outbox
from triage.ledger.owners import LEASE, free, here, me, now
from triage.ledger.queueing import queue
from triage.ledger.records import OPEN, Counted, NewOutgoing, NewWork, Work, WorkState
from triage.ledger.rows import WorkRow
from triage.records import clean, dump
from triage.store import Store, Unknown

#: Work that was begun more often than this comes after all other work.
LUCKLESS = 5


class Works:
    """The work of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, new: NewWork) -> int:
        """Queue work; its id. Waiting work of the same kind and key takes the newer payload instead."""
        with self._store.writing() as session:
            return queue(session, new)

    def claim(self, kinds: Collection[str] | None = None) -> Work | None:
        """Take the most urgent piece that may begin now, or one whose owner is gone; None where there is none.

        Of work with one kind and key only one piece runs at a time.
        """
        with self._store.writing() as session:
            rows = list(session.exec(_claimable(kinds)))
            busy = {
                (row.kind, row.key) for row in rows if row.state == WorkState.RUNNING and not free(row.owner, row.lease)
            }
            for row in rows:
                if (row.kind, row.key) in busy:
                    continue
                row.state, row.owner, row.lease = WorkState.RUNNING.value, me(), now() + LEASE
                row.attempts += 1
                row.updated = now()
                return _work(row)
        return None

    def beat(self, work: Work, note: str = "") -> bool:
        """Say that the work goes on, and how; False if it is no longer ours to do (cancelled, or taken over)."""
        with self._store.writing() as session:
            row = session.get(WorkRow, work.id)
            if row is None or not _mine(row):
                return False
            row.lease, row.updated = now() + LEASE, now()
            row.note = clean(note) or row.note
            return True

    def done(
        self,
        work: Work,
        note: str = "",
        works: Iterable[NewWork] = (),
        outgoing: Iterable[NewOutgoing] = (),
        counted: Counted | None = None,
    ) -> bool:
        """The work is done, with what follows from it, all or nothing; False if it was no longer ours.

        Raises triage.ledger.outbox.Overtaken, and saves nothing, where what was `counted` does not hold any more.
        """
        with self._store.writing() as session:
            if not _end(session, work, WorkState.DONE, note):
                return False
            if counted is not None:
                outbox.recount(session, counted)
            for each in works:
                queue(session, each)
            for one in outgoing:
                outbox.put(session, one)
            return True

    def again(self, work: Work, seconds: float, note: str, counted: bool = False) -> bool:
        """Try once more, not before `seconds` from now; False if it was no longer ours.

        Attempts that were no fault of the work's are not `counted`: waiting is none.
        """
        with self._store.writing() as session:
            if not _end(session, work, WorkState.QUEUED, note):
                return False
            row = session.get(WorkRow, work.id)
            assert row is not None
            row.not_before = now() + timedelta(seconds=seconds)
            row.attempts = row.attempts if counted else 0
            return True

    def wake(self, kind: str, key: str) -> bool:
        """Let work that waits for its time begin now; whether there was any."""
        query = select(WorkRow).where(WorkRow.kind == kind, WorkRow.key == key, WorkRow.state == WorkState.QUEUED.value)
        with self._store.writing() as session:
            rows = list(session.exec(query))
            for row in rows:
                row.not_before = None
            return bool(rows)

    def failed(self, work: Work, note: str, outgoing: Iterable[NewOutgoing] = ()) -> bool:
        """Give up, and say so where there is something to say; False if it was no longer ours."""
        with self._store.writing() as session:
            if not _end(session, work, WorkState.FAILED, note):
                return False
            for one in outgoing:
                outbox.put(session, one)
            return True

    def cancel(self, kind: str, key: str, why: str, states: Collection[WorkState] = OPEN) -> int:
        """End open work of a kind and key, or with a key that begins so where it ends in ``*``; how many."""
        named = col(WorkRow.key).startswith(key[:-1], autoescape=True) if key.endswith("*") else WorkRow.key == key
        query = select(WorkRow).where(WorkRow.kind == kind, named, col(WorkRow.state).in_(states))
        with self._store.writing() as session:
            rows = list(session.exec(query))
            for row in rows:
                row.state, row.note, row.updated = WorkState.CANCELLED.value, why, now()
            return len(rows)

    def done_before(self, work: Work) -> bool:
        """Whether other work of the kind with the very same payload is done: what asked for it was delivered twice.

        For payloads that hold when it was asked for.
        """
        same = select(WorkRow.id).where(
            WorkRow.kind == work.kind,
            WorkRow.project == work.project,
            WorkRow.payload == dump(work.payload),
            WorkRow.state == WorkState.DONE.value,
            WorkRow.id != work.id,
        )
        with self._store.reading() as session:
            return session.exec(same).first() is not None

    def ahead(self, work: Work, kinds: Collection[str], alone: Collection[str]) -> str:
        """The kind and key of what comes before a piece of work that runs, "" for nothing.

        That is more urgent work of these `kinds` that may begin now, and work of a kind in `alone` that runs here: it
        shall have the machine for itself.
        """
        with self._store.reading() as session:
            for row in session.exec(_claimable(kinds)):
                waits = row.state == WorkState.QUEUED or free(row.owner, row.lease)
                if row.priority < work.priority and (waits or (row.kind in alone and here(row.owner))):
                    return f"{row.kind} {row.key}"
        return ""

    def counts(self) -> dict[tuple[str, WorkState], int]:
        """How many pieces of work of each kind there are in each state."""
        kind = (col(WorkRow.kind), col(WorkRow.state))
        query = select(*kind, func.count()).group_by(*kind).order_by(*kind)
        with self._store.reading() as session:
            return {(name, WorkState(state)): number for name, state, number in session.exec(query)}

    def get(self, work_id: int) -> Work:
        """One piece of work. Raises Unknown."""
        with self._store.reading() as session:
            row = session.get(WorkRow, work_id)
            if row is None:
                raise Unknown(f"no work {work_id}")
            return _work(row)

    def listed(
        self,
        states: Collection[WorkState] | None = None,
        kind: str | None = None,
        key: str | None = None,
        limit: int = 200,
    ) -> list[Work]:
        """Work, the newest first."""
        query = select(WorkRow).order_by(col(WorkRow.id).desc()).limit(limit)
        if states is not None:
            query = query.where(col(WorkRow.state).in_(list(states)))
        if kind is not None:
            query = query.where(WorkRow.kind == kind)
        if key is not None:
            query = query.where(WorkRow.key == key)
        with self._store.reading() as session:
            return [_work(row) for row in session.exec(query)]


def _claimable(kinds: Collection[str] | None) -> SelectOfScalar[WorkRow]:
    ready = or_(col(WorkRow.not_before).is_(None), col(WorkRow.not_before) <= now())
    query = select(WorkRow).where(col(WorkRow.state).in_(OPEN), ready)
    if kinds is not None:
        query = query.where(col(WorkRow.kind).in_(list(kinds)))
    # What does not come to an end may be what ends its process: it must not hold up all others.
    unlucky = case((col(WorkRow.attempts) > LUCKLESS, 1), else_=0)
    return query.order_by(unlucky, col(WorkRow.priority), col(WorkRow.id))


def _mine(row: WorkRow) -> bool:
    return row.state == WorkState.RUNNING and row.owner == me()


def _end(session: Session, work: Work, state: WorkState, note: str) -> bool:
    row = session.get(WorkRow, work.id)
    if row is None or not _mine(row):
        return False
    row.state, row.note, row.owner, row.lease, row.updated = state.value, clean(note), "", None, now()
    return True


def _work(row: WorkRow) -> Work:
    assert row.id is not None
    return Work(
        id=row.id,
        kind=row.kind,
        key=row.key,
        project=row.project,
        payload=json.loads(row.payload),
        state=WorkState(row.state),
        priority=row.priority,
        attempts=row.attempts,
        note=row.note,
        created=row.created,
        updated=row.updated,
        not_before=row.not_before,
    )
