"""Where a database is, a file or a server, and how its errors are told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

#: How long a transaction waits for another process's before it gives up.
BUSY_SECONDS = 30.0
_SERVERS = ("postgresql://", "postgres://", "postgresql+psycopg://")
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


class StoreError(Exception):
    """The database cannot do what was asked. The text is one line: what, where, how to mend it."""


def is_server(place: object) -> bool:
    """Whether a place is the URL of a server and not a file."""
    return isinstance(place, str) and place.startswith(_SERVERS)


def shown(place: object) -> str:
    """A place as people may see it: without a password."""
    if not is_server(place):
        return str(place)
    try:
        return make_url(str(place)).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return f"{str(place).partition('://')[0]}://…"


@contextmanager
def one_line_errors(place: object) -> Iterator[None]:
    """Raise StoreError for what a database or SQLAlchemy's driver layer raise inside."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
        advice = next((told for words, told in _ADVICE.items() if words in cause), "")
        raise StoreError(f"{place}: {cause}" + (f" ({advice})" if advice else "")) from error
