"""What a person decides of bugs, with the note of who did it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from triage import store_acts, store_decisions
from triage.acts import Deed, NewAct
from triage.decisions import Decisions
from triage.rows import FailureRow
from triage.store_base import Database, now
from triage.store_best import choose_best_failures
from triage.store_error import Unknown


class ByHand(Database):
    """The part of the store that takes decisions; each is kept against all later campaigns."""

    def decisions(self) -> Decisions:
        """What has been decided by hand."""
        with self.reading() as session:
            return store_decisions.load(session)

    def merge(self, kept_id: int, given_id: int, by: str = "") -> bool:
        """Give all failures of one bug to another, for good; False where that was done before.

        `by` is kept with it. Raises Unknown, Undecidable and IllegalMove.
        """
        with self.writing() as session:
            done = store_decisions.merge(session, self._row(session, kept_id), self._row(session, given_id), now())
            if done:
                choose_best_failures(session)
                _note(session, NewAct(by, Deed.MERGE, f"merged it into bug {kept_id}", given_id))
                _note(session, NewAct(by, Deed.MERGE, f"merged bug {given_id} into it", kept_id))
            return done

    def unmerge(self, given_id: int, why: str = "by hand") -> None:
        """Undo that a bug was merged: it is NEW and has its failures again, and is apart from the other for good.

        Raises Unknown, Undecidable and IllegalMove.
        """
        with self.writing() as session:
            store_decisions.unmerge(session, self._row(session, given_id), why, now())
            choose_best_failures(session)

    def split(self, bug_id: int, failure_ids: Sequence[int], why: str = "by hand", by: str = "") -> int:
        """Make a bug of its own, for good, of some failures of a bug; its id. `by` is kept with it.

        Raises Unknown and Undecidable.
        """
        with self.writing() as session:
            rows = []
            for number in dict.fromkeys(failure_ids):
                row = session.get(FailureRow, number)
                if row is None:
                    raise Unknown(f"{self.place}: no failure {number}")
                rows.append(row)
            new = store_decisions.split(session, self._row(session, bug_id), rows, why, now())
            assert new.id is not None
            told = f"split {len(rows)} failure{'s' if len(rows) > 1 else ''} off as bug {new.id}"
            _note(session, NewAct(by, Deed.SPLIT, told, bug_id))
            _note(session, NewAct(by, Deed.SPLIT, f"split it off bug {bug_id}", new.id))
            return new.id

    def mute(self, bug_id: int, reason: str = "", by: str = "") -> bool:
        """Put a bug aside for good; False where it was before, and the first reason stands.

        `by` is kept with it. Raises Unknown, Undecidable and IllegalMove.
        """
        with self.writing() as session:
            done = store_decisions.mute(session, self._row(session, bug_id), reason, now())
            if done:
                _note(session, NewAct(by, Deed.MUTE, "muted it" + (f": {reason}" if reason else ""), bug_id))
            return done


def _note(session: Session, new: NewAct) -> None:
    """Keep what a person did; what the bot decides by itself is told elsewhere."""
    if new.by:
        store_acts.add(session, new)
