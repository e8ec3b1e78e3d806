"""Where a database is: in a file or at a server. Told without SQL, which takes its time to import."""

from __future__ import annotations

from urllib.parse import urlsplit

#: How long a transaction waits for another process's before it gives up.
BUSY_SECONDS = 30.0
_SERVERS = ("postgresql://", "postgres://", "postgresql+psycopg://")


def is_server(place: object) -> bool:
    """Whether a place is the URL of a server and not a file."""
    return isinstance(place, str) and place.startswith(_SERVERS)


def shown(place: object) -> str:
    """A place as people may see it: without a password, and without what stands behind a question mark."""
    if not is_server(place):
        return str(place)
    try:
        scheme, rest, path, *_ = urlsplit(str(place))
    except ValueError:  # no URL at all, as whoever opens it will say
        return f"{str(place).partition('://')[0]}://…"
    user, at, server = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{server}{path}"
