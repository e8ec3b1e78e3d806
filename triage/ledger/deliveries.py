"""Webhook deliveries: stored first, acknowledged then, handled later, each exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert
from sqlmodel import col, select

from triage.ledger import work
from triage.ledger.owners import now
from triage.ledger.records import Delivery, DeliveryState, NewDelivery, NewWork
from triage.ledger.rows import DeliveryRow
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
        first = {each.id: each for each in reversed(arrived)}
        with self._store.writing() as session:
            known = set(session.exec(select(DeliveryRow.id).where(col(DeliveryRow.id).in_(first))))
            rows = [
                {
                    "id": each.id,
                    "event": each.event,
                    "body": each.body,
                    "received": now(),
                    "state": DeliveryState.NEW.value,
                    "attempts": 0,
                    "note": "",
                }
                for each in first.values()
                if each.id not in known
            ]
            if rows:
                session.connection().execute(insert(DeliveryRow), rows)
        return first.keys() - known

    def known(self, ids: Iterable[str]) -> set[str]:
        """Those of the ids that are stored."""
        with self._store.reading() as session:
            return set(session.exec(select(DeliveryRow.id).where(col(DeliveryRow.id).in_(list(ids)))))

    def waiting(self, limit: int = 100) -> list[Delivery]:
        """Deliveries that nobody has handled, in the order in which they came."""
        query = select(DeliveryRow).where(DeliveryRow.state == DeliveryState.NEW.value)
        with self._store.reading() as session:
            rows = session.exec(query.order_by(col(DeliveryRow.received), col(DeliveryRow.id)).limit(limit))
            return [_delivery(row) for row in rows]

    def begun(self, delivery_id: str) -> int:
        """Count one more attempt at handling it; how many there have been."""
        with self._store.writing() as session:
            row = session.get(DeliveryRow, delivery_id)
            if row is None:
                raise Unknown(f"no delivery {delivery_id}")
            row.attempts += 1
            return row.attempts

    def handled(self, delivery_id: str, works: Iterable[NewWork] = (), note: str = "") -> list[int]:
        """It became work: all of it or nothing, and once. The ids of the work; none if it was handled before."""
        with self._store.writing() as session:
            row = session.get(DeliveryRow, delivery_id)
            if row is None or row.state != DeliveryState.NEW:
                return []
            row.state, row.note = DeliveryState.HANDLED.value, note
            return [work.queue(session, each) for each in works]

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
