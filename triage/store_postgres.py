"""A PostgreSQL database in place of the file: connected to, checked, and brought to the newest schema (decision 022).

One process writes at a time, as with SQLite: every transaction that writes first takes a lock of the whole database. So
each rule of the ledger (a delivery is handled once, work has one owner) holds on both without being written twice.
"""

from __future__ import annotations

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from triage.rows import APPLICATION_ID, SCHEMA
from triage.store_advice import one_line_errors
from triage.store_error import StoreError
from triage.store_migrate import upgrade
from triage.store_place import BUSY_SECONDS, shown

_SCHEME = "postgresql+psycopg"
#: Seconds of silence until a connection is asked whether the other side still lives, between such questions, and how
#: many stay without an answer before it is given up. Without that, a machine that lost its power keeps its locks, the
#: clock among them, for two hours; whoever asks a server that did waits for a quarter of an hour.
_ALIVE = {"keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 4}


def open_server(url: str, create: bool) -> Engine:
    """An engine for the database at `url`, its schema up to date.

    `create` allows a database without tables; the database itself must be there. Raises StoreError.
    """
    place = shown(url)
    engine = _engine(_checked(url, place))
    try:
        with one_line_errors(place), engine.connect() as connection:
            _check_owner(connection, place, create)
            version = _version(connection)
            connection.rollback()
            if version != SCHEMA:
                connection.execution_options(begin="IMMEDIATE")
                with connection.begin():
                    upgrade(connection, _version(connection), place)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _checked(url: str, place: str) -> URL:
    try:
        parsed = make_url(url).set(drivername=_SCHEME)
        import psycopg  # noqa: F401
    except (ArgumentError, ValueError) as error:
        raise StoreError(f"{place}: no URL like postgresql://USER:PASSWORD@HOST/DATABASE") from error
    except ImportError as error:
        raise StoreError(
            f"{place}: psycopg, which speaks with PostgreSQL, is missing: pip install 'graphwarden[postgres]'"
        ) from error
    if not parsed.database:
        raise StoreError(f"{place}: names no database: postgresql://USER:PASSWORD@HOST/DATABASE")
    return parsed


def _engine(url: URL) -> Engine:
    ours = {"lock_timeout": int(BUSY_SECONDS * 1000), "timezone": "UTC"}
    ours |= {f"tcp_{name}": value for name, value in _ALIVE.items()}  # what the server shall ask, and below what we do
    options = " ".join(f"-c {name}={value}" for name, value in ours.items())
    asked = {"connect_timeout": 10, "application_name": "graphwarden", "options": options, **_ALIVE}
    asked["tcp_user_timeout"] = 60_000  # ms: what was sent and is not taken ends a connection, too
    # A server that was restarted has ended the connections that wait here.
    engine = create_engine(url, connect_args=asked, pool_pre_ping=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("begin") == "IMMEDIATE":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")
        else:  # several questions, all from one moment
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    return engine


def _check_owner(connection: Connection, place: str, create: bool) -> None:
    tables = set(inspect(connection).get_table_names())
    if not tables and not create:
        raise StoreError(f"{place}: has no tables (a hunt makes them)")
    if tables and not {"alembic_version", "campaign", "bug"} <= tables:
        raise StoreError(f"{place}: is a database of another program (name another one)")


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return version
