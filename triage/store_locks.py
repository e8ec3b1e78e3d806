"""Locks that one process of all that share a database holds, until it lets go or ends. For `triage.store` alone."""

from __future__ import annotations

import fcntl
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from triage.rows import APPLICATION_ID
from triage.store_advice import one_line_errors

#: Whether the lock is ours; asked again at any time, since a server that is restarted forgets it. In one thread.
Holds = Callable[[], bool]


@contextmanager
def locked_file(path: Path) -> Iterator[Holds]:
    """Whether nobody else has the file locked; it is ours inside."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield lambda: False
        else:
            yield lambda: True
    finally:
        os.close(file)


@contextmanager
def locked_server(engine: Engine, name: str, place: str) -> Iterator[Holds]:
    """The same of a name in a database of PostgreSQL: its session has it, and a process that is killed has none.

    Raises StoreError where the server cannot be asked for it.
    """
    key = {"ours": APPLICATION_ID, "name": zlib.crc32(name.encode()) & 0x7FFFFFFF}
    mine = False
    with one_line_errors(place):
        connection = engine.execution_options(isolation_level="AUTOCOMMIT").connect()
    try:
        with one_line_errors(place):
            mine = bool(connection.execute(text("SELECT pg_try_advisory_lock(:ours, :name)"), key).scalar())
        yield lambda: mine and _lives(connection)
    finally:
        if mine:
            _let_go(connection, key)
        connection.invalidate()  # the session ends, and its lock with it
        connection.close()


def _let_go(connection: Connection, key: dict[str, int]) -> None:
    """Unlock at once: the server notices the end of a session only some time after it."""
    with suppress(DBAPIError):  # a session that is gone has no lock
        if not connection.invalidated:
            connection.execute(text("SELECT pg_advisory_unlock(:ours, :name)"), key)


def _lives(connection: Connection) -> bool:
    """Whether the server still has the session. Never another one in its place: that would not have the lock."""
    try:
        return not connection.invalidated and connection.execute(text("SELECT true")).scalar() is True
    except DBAPIError:
        return False
