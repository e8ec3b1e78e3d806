"""Locks that one process of all that share a database holds, until it lets go or ends. For `triage.store` alone."""

from __future__ import annotations

import fcntl
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, text

from triage.rows import APPLICATION_ID


@contextmanager
def locked_file(path: Path) -> Iterator[bool]:
    """Whether nobody else has the file locked; it is ours inside."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


@contextmanager
def locked_server(engine: Engine, name: str) -> Iterator[bool]:
    """The same of a name in a database of PostgreSQL: its session has it, and a process that is killed has none."""
    key = {"ours": APPLICATION_ID, "name": zlib.crc32(name.encode()) & 0x7FFFFFFF}
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        mine = bool(connection.execute(text("SELECT pg_try_advisory_lock(:ours, :name)"), key).scalar())
        try:
            yield mine
        finally:
            connection.invalidate()  # the session ends, and its lock with it
