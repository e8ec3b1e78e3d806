"""What differs between two builds on one case. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from fuzz.case import FAILING, Status


class Seen(Protocol):
    """The part of a replayed case that a comparison needs."""

    @property
    def letter(self) -> str: ...
    @property
    def status(self) -> Status: ...


class Change(StrEnum):
    """How a case's outcome changes from base to head."""

    NEW_FAILURE = "new_failures"
    FIXED = "fixed"
    STILL_FAILING = "still_failing"
    FLAKY = "flaky"
    SAME = "same"  # passes on both, or is refused honestly on both
    NOTHING = "nothing"  # one side could not be judged


#: The change of a case that head refuses, by its status on base; STILL_FAILING for the others.
_REFUSED = {Status.OK: Change.NEW_FAILURE, Status.UNSUPPORTED: Change.SAME}


def change(base: Seen, head: Seen) -> Change:
    """The change from `base` to `head`, as far as single outcomes tell.

    A case fails that has a FAILING status. An honest refusal does not fail; but a case that passed and is refused now
    is a new failure, and one that was refused and passes now is fixed. One that was refused and fails now is a new
    failure, too: a silent wrong result is worse than a refusal.
    """
    if Status.FLAKY in (base.status, head.status):
        return Change.FLAKY
    if not (_judged(base.status) and _judged(head.status)):
        return Change.NOTHING
    if head.status in FAILING:
        return Change.STILL_FAILING if base.status in FAILING else Change.NEW_FAILURE
    if head.status is Status.UNSUPPORTED:
        return _REFUSED.get(base.status, Change.STILL_FAILING)
    return Change.SAME if base.status is Status.OK else Change.FIXED


def differs(base: Seen, head: Seen) -> bool:
    """Whether fresh runs of both sides are needed before anything is said."""
    return change(base, head) in (Change.NEW_FAILURE, Change.FIXED)


def _judged(status: Status) -> bool:
    return status in (Status.OK, Status.UNSUPPORTED) or status in FAILING
