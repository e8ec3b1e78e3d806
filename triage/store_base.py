"""The connection to the database, and its transactions: what every part of the store stands on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine, make_url
from sqlmodel import Session

from triage.rows import BugRow
from triage.store_advice import one_line_errors
from triage.store_error import Unknown
from triage.store_locks import Holds, locked_file, locked_server
from triage.store_place import is_server, shown


def now() -> datetime:
    """This moment, as rows keep it."""
    return datetime.now(UTC)


class Database:
    """One database, for use by the threads of one process; close it, or use it in a ``with``.

    `address` opens it once more; `place` is what people may see of that.
    """

    def __init__(self, address: str, engine: Engine) -> None:
        self.address, self.place = address, shown(address)
        self._engine = engine

    def close(self) -> None:
        """Close the connections; what was recorded is safe without this."""
        with one_line_errors(self.place):
            self._engine.dispose()

    def beside(self, name: str) -> Path:
        """Where a file of this machine lies that belongs to the database: beside it, or in the current folder."""
        if is_server(self.address):
            return Path(f"{make_url(self.address).database}.{name}").absolute()
        path = Path(self.address)
        return path.with_name(f"{path.name}.{name}")

    @contextmanager
    def sole(self, what: str) -> Iterator[Holds]:
        """Whether nobody else who shares the database is inside for this purpose; nobody waits.

        Once it is ours it may be lost: with the connection to a server. Raises StoreError.
        """
        server = is_server(self.address)
        with locked_server(self._engine, what, self.place) if server else locked_file(self.beside(what)) as holds:
            yield holds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _session(self, begin: str) -> Iterator[Session]:
        engine = self._engine.execution_options(begin=begin)
        with one_line_errors(self.place), Session(engine) as session, session.begin():
            yield session

    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that only reads; for this file and `triage.ledger`."""
        return self._session("DEFERRED")

    def writing(self) -> AbstractContextManager[Session]:
        """A transaction that takes the write lock at once; for this file and `triage.ledger`."""
        return self._session("IMMEDIATE")

    def checkpoint(self) -> None:
        """Move what was committed from the log into the file, so that nobody who is in a hurry has to; nobody waits.

        A server does that by itself.
        """
        if is_server(self.address):
            return
        with one_line_errors(self.place):
            lent = self._engine.raw_connection()
            try:
                lent.driver_connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # type: ignore[union-attr]
            finally:
                lent.close()

    def _row(self, session: Session, bug_id: int) -> BugRow:
        row = session.get(BugRow, bug_id)
        if row is None:
            raise Unknown(f"{self.place}: no bug {bug_id}")
        return row
