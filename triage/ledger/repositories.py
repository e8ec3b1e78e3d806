"""GitHub's ids of repositories: a name may become another repository's, the id stays with the repository."""

from __future__ import annotations

from triage.ledger.owners import now
from triage.ledger.rows import RepositoryRow
from triage.store import Store


class Repositories:
    """The ids of one database, by ``owner/name``. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def id_of(self, name: str) -> int | None:
        """The id that was noted with a name, None where none was."""
        with self._store.reading() as session:
            row = session.get(RepositoryRow, name.lower())
            return None if row is None else row.github_id

    def note(self, name: str, github_id: int) -> int:
        """Note the id of a name that has none yet; the id that it has then."""
        with self._store.writing() as session:
            row = session.get(RepositoryRow, name.lower())
            if row is None:
                row = RepositoryRow(name=name.lower(), github_id=github_id, at=now())
                session.add(row)
            return row.github_id
