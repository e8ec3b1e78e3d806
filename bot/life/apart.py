"""A bug that a person had called a duplicate is none after all: undone, and remembered."""

from __future__ import annotations

from bot import keys
from bot.life import aside
from triage.ledger import Ledger
from triage.ledger.records import NewWork
from triage.lifecycle import State
from triage.records import Bug


def undo(ledger: Ledger, bug: Bug, project: str, note: str, other: str, by: str) -> tuple[tuple[NewWork, ...], str]:
    """Judge the bug anew, with the failures that it had given away; the work that follows, and what there is to say.

    `other` is the issue that it is no duplicate of, ``owner/name#12``, "" where that is not known. May be done again.
    Raises StoreError.
    """
    if not undone(bug, note):
        if bug.fingerprint in ledger.store.decisions().merged:
            ledger.store.unmerge(bug.id, note)
        else:
            aside.move(ledger.store, bug.id, State.NEW, note)
    if other:
        repository, _, number = other.rpartition("#")
        ledger.facts.set_apart(bug.id, repository, int(number), by)
    if not ledger.store.bug(bug.id).count:  # merged before it was noted which failures a bug gives away
        return (), f"Bug {bug.id} is one of its own again, and is worked on when it is met the next time."
    work = NewWork("triage", keys.bug(bug.id), project, {"bug": bug.id})
    return (work,), f"Bug {bug.id} is one of its own again, and is judged anew."


def undone(bug: Bug, note: str) -> bool:
    """Whether that has been done, and its end was not saved."""
    return bug.state is State.NEW and bug.note == note
