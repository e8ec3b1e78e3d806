"""Failed sign-ins, counted: whoever fails often waits longer each time, and nobody else does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlmodel import Session, col

from triage.ledger.owners import now
from triage.ledger.rows import AttemptRow
from triage.store import Store

#: After so long without a failure it is forgotten that there was one.
FORGOTTEN = timedelta(hours=24)


@dataclass(frozen=True)
class Limit:
    """So many attempts may fail at once; the next waits a second, and each further failure doubles that.

    `longest` is the longest wait in seconds.
    """

    free: int
    longest: float

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures."""
        over = failures - self.free
        return 0.0 if over < 0 else min(self.longest, 2.0 ** min(over, 30))


class Attempts:
    """The failed sign-ins of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, limits: Mapping[str, Limit]) -> float:
        """Count an attempt under each of these keys as failed, before its secret is looked at; 0.

        Where one of them has to wait, nothing is counted, and the answer is for how many seconds.
        """
        with self._store.writing() as session:
            _forget(session)
            rows = {key: session.get(AttemptRow, key) for key in limits}
            waits = [(row.until - now()).total_seconds() for row in rows.values() if row is not None]
            if waits and max(waits) > 0:
                return max(waits)
            for key, limit in limits.items():
                _count(session, key, rows[key], limit)
            return 0.0

    def succeeded(self, *keys: str) -> None:
        """What was counted under these keys is forgotten."""
        with self._store.writing() as session:
            session.connection().execute(delete(AttemptRow).where(col(AttemptRow.key).in_(keys)))


def _count(session: Session, key: str, row: AttemptRow | None, limit: Limit) -> None:
    if row is None:
        row = AttemptRow(key=key, failures=0, last=now(), until=now())
        session.add(row)
    row.failures += 1
    row.last, row.until = now(), _after(limit.wait(row.failures))


def _after(seconds: float) -> datetime:
    return now() + timedelta(seconds=seconds)


def _forget(session: Session) -> None:
    session.connection().execute(delete(AttemptRow).where(col(AttemptRow.last) < now() - FORGOTTEN))
