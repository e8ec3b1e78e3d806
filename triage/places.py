"""Where a raw failure happened: its telling frames, those that many conversions share, and which end is the inner one.

Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from fuzz.case import Frame
from triage.recursion import from_the_cycle
from triage.stack import OFFSET, known, sites, spot

#: More frames than these tell nothing new; more are read, since some of them tell nothing in the batch at hand.
DEPTH, _READ = 8, 12
#: A frame within which as many different places are reached, and this part of a batch's, is on every path.
_MANY_PLACES, _PART_OF_PLACES = 5, 0.05
#: Of a longer list of frames, those of its inner end are read.
MOST_FRAMES = 2_000
#: What a message holds that names a place in native code; far quicker to see than the place itself.
_ENDINGS = (".c", ".h", ".rs:", ".inl:", ".m:", ".mm:", ".swift:", ".go:", ".zig:", ".kt:", ".java:")


class Place(NamedTuple):
    """The telling frames, innermost first, each once; where in the innermost it happened (0: unknown).

    A frame that many conversions reach is named with the first one further out that is a conversion's own; `shared` if
    there is none; `quoted` if the message alone names the place.
    """

    stack: tuple[str, ...] = ()
    line: int = 0
    shared: bool = False
    quoted: bool = False


class Spot(NamedTuple):
    """A telling frame besides its name: its line (0: unknown), whether many conversions reach it, its file's name, and
    whose code it is ("": unknown)."""

    line: int
    shared: bool
    file: str
    compiler: str


def telling(found: tuple[Frame, ...], often: int = 0) -> dict[str, Spot]:
    """The frames that tell something by their names, innermost first, each once; `found` is innermost first.

    Where no frame has a name, by their offsets in a library. Functions that are met so `often` are a cycle without end,
    which goes first, if any may be (0: none).
    """
    if often and len(found) > often:
        return _cycling(found, often)
    named: dict[str, Spot] = {}
    stripped: dict[str, Spot] = {}
    for frame in _without_the_script(found):
        name, kind = spot(frame.file, frame.function, getattr(frame, "code", ""))
        if name and not frame.function and frame.line and _told_with_its_function(frame, found):
            continue
        if name and not kind and frame.function.startswith(OFFSET):
            stripped.setdefault(f"{name.rpartition('/')[2]}{frame.function}", _spot(frame))
        elif name and not kind and name not in named:
            named[name] = _spot(frame)
        if len(named) == _READ:
            break
    return named or dict(islice(stripped.items(), _READ))


def _told_with_its_function(frame: Frame, found: tuple[Frame, ...]) -> bool:
    """Whether a place without a function is that of another frame, which native code prints once more; so it is where
    functions of native code are printed without their places."""
    return any(
        each.function
        and ((each.line == frame.line and each.file == frame.file) or (not each.file and "::" in each.function))
        for each in found
    )


def _cycling(found: tuple[Frame, ...], often: int) -> dict[str, Spot]:
    """The telling frames where calls may have gone too deep."""
    spots: dict[str, Spot] = {}
    names = []
    for frame in _without_the_script(found):
        name, kind = spot(frame.file, frame.function, getattr(frame, "code", ""))
        if name and not kind and not frame.function.startswith(OFFSET):
            names.append(name)
            spots.setdefault(name, _spot(frame))
    if not spots:
        return telling(found)
    cycle, named = from_the_cycle(names, often)
    # A cycle is no helper that is handed nonsense, whatever its functions are else: it tells by itself.
    return {name: spots[name]._replace(shared=spots[name].shared and name not in cycle) for name in named[:_READ]}


def calling(outer: Iterable[Frame]) -> frozenset[str]:
    """The names of frames that call the compiler and are none of it."""
    return frozenset(spot(frame.file, frame.function)[0] for frame in outer) - {""}


def walking(found: tuple[Frame, ...]) -> dict[str, Spot]:
    """The innermost frame by its name, where it is of the walk over a program, which tells nothing but where it is all
    that is known of an exception without a word."""
    for frame in _without_the_script(found):
        name, kind = spot(frame.file, frame.function)
        if kind == "framework" and name:
            return {name: _spot(frame)}
        if kind not in ("runtime", "panic"):
            break
    return {}


def on_every_path(stacks: Iterable[Sequence[str]]) -> frozenset[str]:
    """The frames of a batch through which many different places are reached, each stack innermost first.

    They are the walk over a model, the call into a library, the harness that runs it: none of them tells a bug, and
    where one is innermost the rest of the stack is lost, or nothing but the message can tell.
    """
    within: defaultdict[str, set[str]] = defaultdict(set)
    innermost: set[str] = set()
    for stack in set(map(tuple, stacks)):
        if stack:
            innermost.add(stack[0])
        for frame in stack[1:]:
            within[frame].add(stack[0])
    least = max(_MANY_PLACES, _PART_OF_PLACES * len(innermost))
    return frozenset(frame for frame, places in within.items() if len(places) >= least)


def _spot(frame: Frame) -> Spot:
    _, _, shared, file, compiler = known(frame.file, frame.function)
    return Spot(frame.line, shared, file, compiler)


def often_shared(stacks: Iterable[Mapping[str, Spot]]) -> frozenset[str]:
    """The frames of a batch that many conversions reach: known as such where a trace tells their file."""
    return frozenset(name for stack in stacks for name, each in stack.items() if each.shared)


def place(
    found: Mapping[str, Spot],
    quoted: Mapping[str, Spot],
    wide: Collection[str] = frozenset(),
    helpers: Collection[str] = frozenset(),
    dead: bool = False,
) -> Place:
    """The place of a failure from its telling frames, and from the places that its message names (`quoted`).

    `wide` are frames that tell nothing in this batch, `helpers` those that many conversions reach. A place that the
    message names is further in than frames of Python. Where a program is `dead` without a word, no check of a helper
    failed: its caller is the place.
    """
    named = {name: each for name, each in found.items() if name not in wide}
    told: dict[str, Spot] = {}
    if quoted and not any("::" in name for name in islice(named, DEPTH)):
        told = {name: each for name, each in quoted.items() if name not in wide}
        named = {**told, **named}
    if not named:
        return Place()
    names, spots = tuple(named)[:DEPTH], tuple(named.values())[:DEPTH]
    own = next(
        (
            at
            for at, (name, each) in enumerate(zip(names, spots, strict=True))
            if not each.shared and name not in helpers and (not at or not _without_a_function(name))
        ),
        -1,
    )
    if dead and own > 0:
        return Place(names[own:], spots[own].line, quoted=bool(told))
    innermost = f"{names[0]} < {names[own]}" if own > 0 else names[0]
    return Place((innermost, *names[1:]), spots[0].line, shared=own < 0, quoted=bool(told))


def _without_the_script(found: tuple[Frame, ...]) -> Iterable[Frame]:
    """Frames without those of the file that the traceback begins in: it calls the compiler and is none of it."""
    script = found[-1].file if found and of_a_script(found[-1]) else ""
    return (frame for frame in found if frame.file != script) if script else found


def quoted_places(message: str) -> dict[str, Spot]:
    """The places in native code that a message names, innermost first."""
    places: dict[str, Spot] = {}
    if not any(ending in message for ending in _ENDINGS):
        return places
    for frame in islice(sites(message[:16_000]), 4):
        function = frame.function if "::" in frame.function or "(" not in frame.function else ""
        name, kind = spot(frame.file, function)
        if name and not kind and name not in places:
            places[name] = _spot(Frame(frame.file, frame.line, function))
    return places


def _without_a_function(name: str) -> bool:
    """Whether a frame of native code is named by its file alone: some tools print so where the one before it is."""
    return "/" in name and "::" not in name and " " not in name


def of_a_script(frame: Frame) -> bool:
    """Whether a frame is the body of a file of Python, in which a program begins; native code has such names, too."""
    return frame.function == "<module>" and (not frame.file or frame.file.endswith((".py", ">")))
