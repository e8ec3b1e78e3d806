"""Where a raw failure happened: its telling frames, those that many conversions share, and which end is the inner one.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from fuzz.case import Frame
from triage.stack import shared, sites, spot

#: More frames than these tell nothing new.
DEPTH = 8
#: Of a longer list of frames, those of its inner end are read.
MOST_FRAMES = 2_000
#: Frames that stand at the outer end.
_OUTER_KINDS = ("framework", "reporter")


@dataclass(frozen=True)
class Place:
    """The telling frames, innermost first, each once; where in the innermost it happened (0: unknown).

    A frame that many conversions reach is named with the first one further out that is a conversion's own; `shared` if
    there is none.
    """

    stack: tuple[str, ...] = ()
    line: int = 0
    shared: bool = False


def place(found: tuple[Frame, ...], message: str) -> Place:
    """The place of a failure from its frames, innermost first, and from its message.

    A place that the message names is further in than frames of Python.
    """
    named: dict[str, Frame] = {}
    has_native = False
    for frame in _without_the_script(found):
        name, kind = spot(frame.file, frame.function, getattr(frame, "code", ""))
        if not name or kind:
            continue
        named.setdefault(name, frame)
        has_native |= "::" in name
        if len(named) == DEPTH:
            break
    if not has_native and message:
        named = {**_named_places(message), **named}
    if not named:
        return Place()
    names, frames = tuple(named)[:DEPTH], tuple(named.values())[:DEPTH]
    own = next((at for at, frame in enumerate(frames) if not shared(frame.file, frame.function)), -1)
    innermost = f"{names[0]} < {names[own]}" if own > 0 else names[0]
    return Place((innermost, *names[1:]), frames[0].line, shared=own < 0)


def _without_the_script(found: tuple[Frame, ...]) -> Iterator[Frame]:
    """Frames without those of the file that the traceback begins in: it calls the compiler and is none of it."""
    last = found[-1] if found else Frame("", 0, "")
    script = last.file if last.function == "<module>" and last.file.endswith((".py", ">")) else ""
    return (frame for frame in found if not script or frame.file != script)


def _named_places(message: str) -> dict[str, Frame]:
    """Native places in a message, innermost first."""
    places: dict[str, Frame] = {}
    if not any(ending in message for ending in (".c", ".h", ".rs:", ".inl:")):
        return places
    for frame in islice(sites(message[:16_000]), 4):
        name, kind = spot(frame.file, "")
        if name and not kind:
            places.setdefault(name, Frame(frame.file, frame.line, ""))
    return places


def inner_last(lists: Sequence[tuple[Frame, ...]]) -> bool:
    """Whether the lists of frames of a batch end with the innermost one.

    What kind of frame stands at the ends tells: a program dies at the inner end and begins at the outer one. Otherwise
    the outer ends are alike, since every failure comes through the same few calls, and the inner ones differ.
    """
    several = [frames for frames in lists if len(frames) > 1]
    votes = sum(_vote(frames[0], frames[-1]) for frames in several)
    if votes:
        return votes > 0
    first = Counter(_telling(frames[:MOST_FRAMES]) for frames in several)
    last = Counter(_telling(frames[: -MOST_FRAMES - 1 : -1]) for frames in several)
    return sum(count**2 for count in last.values()) <= sum(count**2 for count in first.values())


def _vote(first: Frame, last: Frame) -> int:
    """How many of the two ends speak for the inner one being last, less those that speak against it."""
    first_kind, last_kind = (spot(frame.file, frame.function)[1] for frame in (first, last))
    spoken = (first_kind in _OUTER_KINDS) + (last_kind == "panic")
    return spoken - (last_kind in _OUTER_KINDS) - (first_kind == "panic")


def _telling(found: Sequence[Frame]) -> str:
    """The first frame that tells something, "" if none does."""
    spots = (spot(frame.file, frame.function) for frame in found)
    return next((name for name, kind in spots if name and not kind), "")
