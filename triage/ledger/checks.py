"""The check runs that the bot has at GitHub: one per head commit and project."""

from __future__ import annotations

from dataclasses import asdict, replace

from sqlalchemy import func
from sqlmodel import col, select

from triage.ledger.records import Check
from triage.ledger.rows import CheckRow
from triage.store import Store

#: What `put` leaves as it is.
_KEPT = frozenset({"fork", "newest"})


class Checks:
    """The check runs of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, check: Check) -> None:
        """Save a check run, new or changed. What GitHub called it (`run_id`) is not forgotten.

        Where the head of a known one lies, and whether it is the newest, `moved` alone says: whoever tells how a check
        goes on may have read that before it changed.
        """
        with self._store.writing() as session:
            row = session.get(CheckRow, check.external_id)
            if row is None:
                session.add(CheckRow(**asdict(check)))
                return
            for name, value in asdict(check).items():
                if name not in _KEPT and (name != "run_id" or value is not None):
                    setattr(row, name, value)

    def moved(self, check: Check) -> None:
        """The pull request of a check run is at its head from now on, and no longer at any other one."""
        others = select(CheckRow).where(
            CheckRow.repository == check.repository,
            CheckRow.project == check.project,
            CheckRow.pull == check.pull,
            col(CheckRow.newest),
        )
        with self._store.writing() as session:
            for other in session.exec(others):
                other.newest = False
            row = session.get(CheckRow, check.external_id)
            if row is None:
                session.add(CheckRow(**asdict(replace(check, newest=True))))
            else:
                row.pull, row.base, row.fork, row.newest = check.pull, check.base, check.fork, True

    def newest(self, repository: str, project: str, pull: int | None) -> Check | None:
        """The check run of the head that a pull request is at, as far as is known."""
        query = select(CheckRow).where(
            CheckRow.repository == repository,
            CheckRow.project == project,
            CheckRow.pull == pull,
            col(CheckRow.newest),
        )
        with self._store.reading() as session:
            row = None if pull is None else session.exec(query).first()
            return None if row is None else _check(row)

    def get(self, external_id: str) -> Check | None:
        """One check run by our id."""
        with self._store.reading() as session:
            row = session.get(CheckRow, external_id)
            return None if row is None else _check(row)

    def listed(self, offset: int, limit: int) -> tuple[list[Check], int]:
        """So many of the check runs, the one that began last first, and how many there are."""
        query = select(CheckRow).order_by(col(CheckRow.since).desc(), col(CheckRow.external_id))
        with self._store.reading() as session:
            total = session.exec(select(func.count()).select_from(CheckRow)).one()
            return [_check(row) for row in session.exec(query.offset(offset).limit(limit))], total

    def of_head(self, repository: str, head_sha: str) -> list[Check]:
        """The check runs of a commit."""
        query = select(CheckRow).where(CheckRow.repository == repository, CheckRow.head_sha == head_sha)
        with self._store.reading() as session:
            return [_check(row) for row in session.exec(query.order_by(col(CheckRow.external_id)))]

    def of_pull(self, repository: str, pull: int) -> list[Check]:
        """The check runs of a pull request, the oldest first."""
        query = select(CheckRow).where(CheckRow.repository == repository, CheckRow.pull == pull)
        with self._store.reading() as session:
            return [_check(row) for row in session.exec(query.order_by(col(CheckRow.since)))]

    def in_state(self, *states: str) -> list[Check]:
        """The check runs in these states."""
        query = select(CheckRow).where(col(CheckRow.state).in_(states)).order_by(col(CheckRow.since))
        with self._store.reading() as session:
            return [_check(row) for row in session.exec(query)]


def _check(row: CheckRow) -> Check:
    return Check(**row.model_dump())
