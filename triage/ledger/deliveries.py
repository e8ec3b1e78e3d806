"""Webhook deliveries: stored first, acknowledged then, handled later, each exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, insert, update
from sqlmodel import col, select

from triage.ledger.owners import now
from triage.ledger.queueing import queue, queue_all
from triage.ledger.records import Delivery, DeliveryState, NewDelivery, NewWork, Settled
from triage.ledger.rows import DeliveryRow
from triage.records import clean
from triage.store import Store, Unknown

_DONE = (DeliveryState.HANDLED, DeliveryState.IGNORED)


class Deliveries:
    """The deliveries of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add_many(self, arrived: Sequence[NewDelivery]) -> set[str]:
        """Store deliveries; those whose id is known already are left as they are. The ids that were new."""
        if not arrived:
            return set()
        first: dict[str, NewDelivery] = {}
        for each in arrived:  # in their order: `received` is what they are handled by
            first.setdefault(each.id, each)
        with self._store.writing() as session:
            known = set(session.exec(select(DeliveryRow.id).where(col(DeliveryRow.id).in_(first))))
            moment = now()
            rows = [
                {
                    "id": each.id,
                    "event": each.event,
                    "body": each.body,
                    "received": moment + timedelta(microseconds=at),
                    "state": DeliveryState.NEW.value,
                    "attempts": 0,
                    "note": "",
                }
                for at, each in enumerate(first.values())
                if each.id not in known
            ]
            if rows:
                session.connection().execute(insert(DeliveryRow), rows)
        return first.keys() - known

    def known(self, ids: Iterable[str]) -> set[str]:
        """Those of the ids that are stored."""
        with self._store.reading() as session:
            return set(session.exec(select(DeliveryRow.id).where(col(DeliveryRow.id).in_(list(ids)))))

    def oldest(self) -> datetime | None:
        """When the delivery came that has waited longest; None if none waits."""
        query = select(DeliveryRow.received).where(DeliveryRow.state == DeliveryState.NEW.value)
        with self._store.reading() as session:
            return session.exec(query.order_by(col(DeliveryRow.received)).limit(1)).first()

    def first(self) -> datetime | None:
        """When the oldest delivery that is still kept came; None if there is none."""
        with self._store.reading() as session:
            return session.exec(select(func.min(DeliveryRow.received))).first()

    def waiting(self, limit: int = 100) -> list[Delivery]:
        """Deliveries that nobody has handled, in the order in which they came."""
        query = select(DeliveryRow).where(DeliveryRow.state == DeliveryState.NEW.value)
        with self._store.reading() as session:
            rows = session.exec(query.order_by(col(DeliveryRow.received), col(DeliveryRow.id)).limit(limit))
            return [_delivery(row) for row in rows]

    def begun(self, delivery_id: str) -> int:
        """Count one more attempt at handling it; how many there have been. Raises Unknown."""
        return self.begun_many([delivery_id])[delivery_id]

    def begun_many(self, ids: Sequence[str]) -> dict[str, int]:
        """Count one more attempt at handling each of them; how many there have been. Raises Unknown."""
        mine = col(DeliveryRow.id).in_(ids)
        count = update(DeliveryRow).where(mine).values(attempts=DeliveryRow.attempts + 1)
        with self._store.writing() as session:
            session.connection().execute(count)
            found = dict(session.exec(select(DeliveryRow.id, DeliveryRow.attempts).where(mine)).all())
        if missing := set(ids) - found.keys():
            raise Unknown(f"no delivery {', '.join(sorted(missing))}")
        return found

    def settle(self, settled: Iterable[Settled]) -> set[str]:
        """Save how deliveries ended, with the work that follows, all or nothing; the ids that were not settled before.

        What was settled before stays as it is, and nothing follows from it again.
        """
        wanted = {each.id: each for each in settled}
        new = select(DeliveryRow.id).where(
            col(DeliveryRow.id).in_(wanted), DeliveryRow.state == DeliveryState.NEW.value
        )
        # By its id, not as a row that is loaded: the body may be 25 MB.
        change = update(DeliveryRow).where(col(DeliveryRow.id) == bindparam("which"))
        change = change.values(state=bindparam("end"), note=bindparam("why"))
        with self._store.writing() as session:
            ours = set(session.exec(new))
            ends = [
                {"which": each.id, "end": each.state.value, "why": clean(each.note)}
                for each in wanted.values()
                if each.id in ours
            ]
            if ends:
                session.connection().execute(change, ends)
            queue_all(session, (one for each in wanted.values() if each.id in ours for one in each.works))
        return ours

    def handled(self, delivery_id: str, works: Iterable[NewWork] = (), note: str = "") -> list[int]:
        """It became work: all of it or nothing, and once. The ids of the work; none if it was handled before."""
        with self._store.writing() as session:
            row = session.get(DeliveryRow, delivery_id)
            if row is None or row.state != DeliveryState.NEW:
                return []
            row.state, row.note = DeliveryState.HANDLED.value, note
            return [queue(session, each) for each in works]

    def ignored(self, delivery_id: str, why: str) -> None:
        """There is nothing to do."""
        self._settle(delivery_id, DeliveryState.IGNORED, why)

    def failed(self, delivery_id: str, why: str) -> None:
        """It cannot be read; kept for a person to look at."""
        self._settle(delivery_id, DeliveryState.FAILED, why)

    def counts(self) -> dict[DeliveryState, int]:
        """How many there are in each state."""
        query = select(DeliveryRow.state, func.count()).group_by(col(DeliveryRow.state))
        with self._store.reading() as session:
            return {DeliveryState(state): number for state, number in session.exec(query)}

    def forget(self, before: datetime) -> int:
        """Delete settled deliveries that came before a time (UTC); how many."""
        old = delete(DeliveryRow).where(col(DeliveryRow.received) < before, col(DeliveryRow.state).in_(_DONE))
        with self._store.writing() as session:
            return int(session.connection().execute(old).rowcount)

    def _settle(self, delivery_id: str, state: DeliveryState, note: str) -> None:
        with self._store.writing() as session:
            row = session.get(DeliveryRow, delivery_id)
            if row is not None and row.state == DeliveryState.NEW:
                row.state, row.note = state.value, note


def _delivery(row: DeliveryRow) -> Delivery:
    return Delivery(row.id, row.event, row.body, row.received, DeliveryState(row.state), row.attempts, row.note)
