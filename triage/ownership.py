"""Whose failure it is: the compiler that frames, an exception or words show: rules ``[[own]]``. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from fuzz.case import Frame
from triage.places import Spot
from triage.rules import rules
from triage.stack import known

#: So many frames that tell nothing else show whose they are, and so much of a message.
_MOST_FRAMES, _LONGEST = 60, 8_000


def compilers(named: Mapping[str, Spot], found: tuple[Frame, ...], exception: str, hollow: str) -> frozenset[str]:
    """Whose failure it may be: by its telling frames, else by any, else by its exception and by words without sense."""
    told = (spot.compiler for spot in named.values())
    ignored = (known(frame.file, frame.function).compiler for frame in found[:_MOST_FRAMES])
    return (
        (frozenset(told) - {""})
        or (frozenset(ignored) - {""})
        or (frozenset((rules().owned.name(exception),)) - {""} if exception else frozenset())
        or (rules().owned.compilers(hollow[:_LONGEST]) if hollow else frozenset())
    )
