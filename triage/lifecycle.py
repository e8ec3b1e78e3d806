"""The life of a bug: its states and the moves between them. Pure; the store applies them.

The states are those of "One model's journey" in docs/architecture.md. A bug waits in its state until
the step for that state has done its work, so a killed campaign goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class State(StrEnum):
    """How far a bug has come."""

    SLIP = "slip"  # met by no test, only while another bug was reduced; kept until a test or a person asks for it
    NEW = "new"  # seen, with its model and inputs saved
    CONFIRMED = "confirmed"  # fails again in fresh processes
    FLAKY = "flaky"  # does not always fail; not filed as it stands
    REDUCED = "reduced"  # the smallest model with the same signature is known
    LOCATED = "located"  # the conversion function, pass or revision is known, or known to be unknown
    JUDGED = "judged"  # the court holds it for a bug worth a report
    DRAFTED = "drafted"  # a report is written and its reproducer was seen to fail
    REPORTED = "reported"  # an issue is open at the compiler
    FIXED = "fixed"  # a later revision passes, repeatedly, in the same environment
    CLOSED = "closed"  # the issue is closed as fixed
    REGRESSED = "regressed"  # fails again after a fix
    DUPLICATE = "duplicate"  # the same as another bug
    INVALID = "invalid"  # not the compiler's fault
    STALE = "stale"  # can no longer be judged, e.g. the revision is gone


#: Failures that turned out not to be a compiler's bug, or that no test showed.
NO_BUGS = (State.FLAKY, State.INVALID, State.STALE, State.SLIP)


class IllegalMove(ValueError):
    """A move that `MOVES` does not hold."""


#: A bug may be put aside like this from every state before its issue is closed.
_ASIDE = frozenset({State.DUPLICATE, State.INVALID, State.STALE})

#: state -> states that it may move to. Whatever was put aside can only come back as NEW, to be judged again. From open
#: to CLOSED without FIXED, and from CLOSED to REPORTED, go those whose issue a person has closed or reopened.
MOVES: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.SLIP: frozenset({State.NEW}) | _ASIDE,
        State.NEW: frozenset({State.CONFIRMED, State.FLAKY}) | _ASIDE,
        State.CONFIRMED: frozenset({State.REDUCED, State.FLAKY}) | _ASIDE,
        State.FLAKY: frozenset({State.CONFIRMED}) | _ASIDE,
        State.REDUCED: frozenset({State.LOCATED, State.FLAKY}) | _ASIDE,
        State.LOCATED: frozenset({State.JUDGED, State.FLAKY}) | _ASIDE,
        State.JUDGED: frozenset({State.DRAFTED, State.FLAKY}) | _ASIDE,
        State.DRAFTED: frozenset({State.REPORTED, State.FIXED, State.FLAKY}) | _ASIDE,
        State.REPORTED: frozenset({State.FIXED, State.CLOSED}) | _ASIDE,
        State.FIXED: frozenset({State.CLOSED, State.REGRESSED}) | _ASIDE,
        State.CLOSED: frozenset({State.REGRESSED, State.REPORTED}),
        State.REGRESSED: frozenset({State.FIXED, State.CLOSED}) | _ASIDE,
        State.DUPLICATE: frozenset({State.NEW}),
        State.INVALID: frozenset({State.NEW}),
        State.STALE: frozenset({State.NEW}),
    }
)

#: States of a bug whose report is written.
WITH_DRAFT = frozenset({State.DRAFTED, State.REPORTED, State.FIXED, State.CLOSED, State.REGRESSED})


def check_move(old: State, new: State) -> None:
    """Raise IllegalMove unless a bug may go from `old` to `new`."""
    if new not in MOVES[old]:
        allowed = ", ".join(sorted(MOVES[old]))
        raise IllegalMove(f"a bug cannot go from {old} to {new} (from {old} it can go to: {allowed})")


def diagram() -> str:
    """The moves as a mermaid state diagram, which GitHub draws; for the documentation."""
    order = list(State)
    lines = ["stateDiagram-v2", f"    [*] --> {State.NEW}", f"    [*] --> {State.SLIP}"]
    for old, reachable in MOVES.items():
        lines += [f"    {old} --> {new}" for new in sorted(reachable, key=order.index)]
    return "\n".join(lines) + "\n"
