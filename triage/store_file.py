"""The database file: checked, opened, and brought to the newest schema. The first half of `triage.store`."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from triage.rows import APPLICATION_ID, SCHEMA
from triage.store_advice import one_line_errors
from triage.store_error import StoreError
from triage.store_migrate import upgrade
from triage.store_place import BUSY_SECONDS

#: Pages of the log after which whoever commits moves them into the file: 16 MB. That takes tens of milliseconds, so
#: processes that have the time do it earlier (`Store.checkpoint`).
LOG_PAGES = 4000


def open_file(path: Path, create: bool) -> Engine:
    """An engine for the database at `path`, its schema up to date.

    `create` allows a missing (or empty) file; otherwise nothing is made. Raises StoreError.
    """
    _check_kind(path, create)
    with one_line_errors(path):
        _check_owner(path, create)
        engine = _engine(path, create)
        try:
            _migrate(engine, path)
        except BaseException:
            engine.dispose()
            raise
    return engine


def _check_kind(path: Path, create: bool) -> None:
    """Raise StoreError unless `path` is, or with `create` may become, an SQLite file."""
    if path.is_dir():
        raise StoreError(f"{path}: is a folder, not a database")
    if not path.exists():
        if not create:
            raise StoreError(f"{path}: no such database (a hunt makes one)")
        if not path.parent.is_dir():
            raise StoreError(f"{path}: cannot be made, there is no folder {path.parent}")
        return
    if not path.is_file():
        raise StoreError(f"{path}: is not a regular file")
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path}: Permission denied")
    if not create and not path.stat().st_size:
        raise StoreError(f"{path}: is empty (a hunt makes one: name another file)")


def _check_owner(path: Path, create: bool) -> None:
    """Raise StoreError if it is no database or another program's; it has not been written to then.

    SQLite looks, and nobody else: whoever closes the file by himself takes from all connections of this process the
    locks that tell other processes of them, and the first of those to end removes the log that is still written to.
    """
    with closing(_connect(path, create)) as raw:
        try:
            raw.execute("BEGIN")  # both answers from one moment: another process may be making the tables
            (owner,) = raw.execute("PRAGMA application_id").fetchone()
            (tables,) = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorname != "SQLITE_NOTADB":
                raise
            raise StoreError(f"{path}: is not a database (a hunt makes one: name another file)") from error
    if owner != APPLICATION_ID and tables:
        raise StoreError(f"{path}: is a database of another program (name another file)")


def _connect(path: Path, create: bool) -> sqlite3.Connection:
    mode = "rwc" if create else "rw"
    return sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions begin where we say, not where the driver guesses
        check_same_thread=False,  # the pool lends a connection to one thread at a time
    )


def _engine(path: Path, create: bool) -> Engine:
    # The URL names no file, so SQLAlchemy would choose the pool for databases in memory, which closes connections
    # that other threads still use.
    engine = create_engine("sqlite://", creator=lambda: _connect(path, create), poolclass=QueuePool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        _use_wal(connection)
        # With WAL, NORMAL keeps every commit over a killed process; only a power cut may lose the last ones.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the lock first: a reader that turns writer is refused without waiting.
        connection.exec_driver_sql("BEGIN " + connection.get_execution_options().get("begin", "DEFERRED"))

    return engine


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL. Unlike a statement, the switch does not wait for other processes, so this does."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _version(connection: Connection) -> str | None:
    """The schema that the database has; None while it has none."""
    if not connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").scalar():
        return None
    version: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return version


def _migrate(engine: Engine, path: Path) -> None:
    """Bring the schema to `SCHEMA` in one transaction, or raise StoreError if it is a newer one."""
    with engine.connect() as connection:
        if _version(connection) == SCHEMA:
            return
        driver = connection.connection.driver_connection
        connection.rollback()
        # Alembic changes a table by copying it; with keys enforced, dropping the old one would drop its children.
        driver.execute("PRAGMA foreign_keys=OFF")  # type: ignore[union-attr]
        connection.execution_options(begin="IMMEDIATE")
        with connection.begin():
            if upgrade(connection, _version(connection), path):
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.invalidate()  # the next user gets a connection that enforces keys
