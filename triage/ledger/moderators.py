"""Who may decide on the pages, and who is signed in there. Secrets and tokens come and go as hashes alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func
from sqlmodel import col, select

from triage.ledger.owners import now
from triage.ledger.rows import ModeratorRow, SignedInRow
from triage.store import Store, StoreError, Unknown


class Known(StoreError):
    """A moderator of that name is there already."""


@dataclass(frozen=True)
class Moderator:
    """One who may decide: since when (UTC), and in how many places signed in now."""

    name: str
    added: datetime
    signed_in: int


class Moderators:
    """The moderators of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, name: str, secret: str) -> None:
        """A new moderator with the hash of a secret. Raises Known."""
        with self._store.writing() as session:
            if session.get(ModeratorRow, name) is not None:
                raise Known(f"{name} is a moderator already (remove the name first: its secret is told only once)")
            session.add(ModeratorRow(name=name, secret=secret, added=now()))

    def remove(self, name: str) -> None:
        """A moderator no longer, and signed out everywhere at once. Raises Unknown."""
        with self._store.writing() as session:
            row = session.get(ModeratorRow, name)
            if row is None:
                raise Unknown(f"no moderator is called {name} (see graphwarden moderators list)")
            session.connection().execute(delete(SignedInRow).where(col(SignedInRow.name) == name))
            session.delete(row)

    def listed(self) -> list[Moderator]:
        """All moderators by name."""
        places = select(func.count()).where(SignedInRow.name == ModeratorRow.name, col(SignedInRow.expires) > now())
        query = select(ModeratorRow, places.scalar_subquery()).order_by(col(ModeratorRow.name))
        with self._store.reading() as session:
            return [Moderator(row.name, row.added, number) for row, number in session.exec(query)]

    def any(self) -> bool:
        """Whether there is one at all."""
        with self._store.reading() as session:
            return session.exec(select(ModeratorRow.name).limit(1)).first() is not None

    def secret(self, name: str) -> str:
        """The hash of a moderator's secret, "" for an unknown name."""
        with self._store.reading() as session:
            row = session.get(ModeratorRow, name)
            return "" if row is None else row.secret

    def sign_in(self, name: str, token: str, lasting: timedelta) -> None:
        """Somebody with the name is signed in where the browser has what `token` is the hash of. Raises Unknown."""
        with self._store.writing() as session:
            if session.get(ModeratorRow, name) is None:  # removed at this moment
                raise Unknown(f"no moderator is called {name}")
            session.connection().execute(delete(SignedInRow).where(col(SignedInRow.expires) <= now()))
            session.add(SignedInRow(token=token, name=name, since=now(), expires=now() + lasting))

    def signed_in(self, token: str) -> str:
        """Who is signed in there, "" for nobody."""
        with self._store.reading() as session:
            row = session.get(SignedInRow, token)
            return row.name if row is not None and row.expires > now() else ""

    def sign_out(self, token: str) -> None:
        """Nobody is signed in there any more."""
        with self._store.writing() as session:
            session.connection().execute(delete(SignedInRow).where(col(SignedInRow.token) == token))

    def sign_out_everywhere(self, name: str) -> None:
        """The moderator is signed in nowhere any more."""
        with self._store.writing() as session:
            session.connection().execute(delete(SignedInRow).where(col(SignedInRow.name) == name))
