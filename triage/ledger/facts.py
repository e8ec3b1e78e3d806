"""What is known of a bug beside its state: where it was judged to be fixed, of which issues it is no duplicate.

An issue is named by its repository (``owner/name``, upper and lower case alike) and its number.
"""

from __future__ import annotations

from triage.ledger.owners import now
from triage.ledger.rows import ApartRow, JudgedRow
from triage.store import Store


class Facts:
    """The facts of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def judge(self, bug_id: int, revision: str) -> None:
        """The bug was judged to be fixed on this build; the one before is forgotten."""
        with self._store.writing() as session:
            session.merge(JudgedRow(bug_id=bug_id, revision=revision, at=now()))

    def judged(self, bug_id: int) -> str:
        """The build on which the bug was last judged to be fixed, "" where it never was."""
        with self._store.reading() as session:
            row = session.get(JudgedRow, bug_id)
            return "" if row is None else row.revision

    def set_apart(self, bug_id: int, repository: str, number: int, by: str) -> None:
        """A person has said that the bug is no duplicate of this issue; the same again changes nothing."""
        place = (bug_id, repository.lower(), number)
        with self._store.writing() as session:
            if session.get(ApartRow, place) is None:
                bug_id, repository, number = place
                session.add(ApartRow(bug_id=bug_id, repository=repository, number=number, by=by, at=now()))

    def is_apart(self, bug_id: int, repository: str, number: int) -> bool:
        """Whether a person has said so."""
        with self._store.reading() as session:
            return session.get(ApartRow, (bug_id, repository.lower(), number)) is not None
