"""Putting a bug aside because a person said so, and taking it up again: what that means for its state and its work."""

from __future__ import annotations

from bot import keys
from bot.life import saying
from triage.ledger import Ledger
from triage.ledger.records import OutKind
from triage.lifecycle import IllegalMove, State
from triage.store import Conflict, Store

#: Work on a bug that is pointless once it is put aside.
_POINTLESS = ("triage", "bisect", "file", "close", "reopen")
#: How often a move is tried while another process moves the bug, too.
_TRIES = 5


def move(store: Store, bug_id: int, state: State, note: str) -> str:
    """Move a bug; why it cannot be moved, "" where it is there now. Raises Unknown, and Conflict if it never rests."""
    for attempt in range(_TRIES):
        bug = store.bug(bug_id)
        if bug.state is state:
            return ""
        try:
            store.advance(bug_id, bug.state, state, note=note)
        except IllegalMove as problem:
            return str(problem)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
        else:
            return ""
    raise AssertionError("a try either ends or raises")


def drop(ledger: Ledger, bug_id: int, why: str) -> None:
    """End what was going to be done and said about a bug."""
    for kind in _POINTLESS:
        ledger.work.cancel(kind, keys.bug(bug_id), why)
    # A closing by a person's command stands: whoever puts the bug aside wants that, too.
    saying.withdraw(ledger, bug_id, why, tuple(OutKind), spared=("aside:",))
