"""How errors of databases are told: in one line, with what helps. For the store's own files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from triage.store_error import StoreError
from triage.store_place import BUSY_SECONDS

#: What an error of SQLite or PostgreSQL contains -> what helps.
_ADVICE = {
    "database is locked": f"another process has been writing for more than {BUSY_SECONDS:.0f} s",
    "attempt to write a readonly database": "give write permission on the file and its folder",
    "unable to open database file": "check the permissions of the file and its folder",
    "database disk image is malformed": "the file is damaged: restore a copy or start a new one",
    "database or disk is full": "free some space; what was committed is safe",
    "due to lock timeout": f"another process has been writing for more than {BUSY_SECONDS:.0f} s",
    "No space left on device": "free some space at the server; what was committed is safe",
    "FATAL: database": "make it with createdb, and a role with createuser",
}


@contextmanager
def one_line_errors(place: object) -> Iterator[None]:
    """Raise StoreError for what a database or SQLAlchemy's driver layer raise inside."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
        advice = next((told for words, told in _ADVICE.items() if words in cause), "")
        raise StoreError(f"{place}: {cause}" + (f" ({advice})" if advice else "")) from error
