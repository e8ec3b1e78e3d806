"""Where a process died, by the native stack that `fuzz.native` took of it: the key of a crash (decision 023). Pure.

Read are the frames of the text that ends a dead worker's output. The site is the innermost frame of the compiler's own
that tells something: the C library's, the standard library's and helpers that everything comes by are passed over.
There is none where the heap was found broken (whoever broke it is long gone), nor in generated code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from fuzz import native
from triage import stack

#: Frames that a report shows.
_MOST_SHOWN = 12
_FRAME = re.compile(
    r"#\d+  (?P<function>.+) from (?P<library>[^\s+]+(?:\+\+[^\s+]*)?)"
    r"(?P<offset>\+0x[0-9a-f]+)?(?: \(in (?P<beginning>\+0x[0-9a-f]+)\))?"
)
#: Whose blocks the program has broken is not told by where the allocator notices.
_ALLOCATOR = re.compile(
    r"(?:operator (?:new|delete)\b.*|_*(?:libc_)?(?:c?free|[mc]alloc|realloc|memalign|posix_memalign|aligned_alloc"
    r"|valloc|int_free\w*|int_malloc|malloc_\w+|unlink_chunk)(?:\..*)?|j[emn]_?\w*alloc|mi_\w+)"
)
#: Kinds of frames that lie between the compiler's own code and the signal.
_INNER = ("panic", "runtime")
_UNKNOWN = "??"
_TEMPLATE = re.compile(r"<.*>")
#: What the standard library puts between a caller and the function that it calls.
_PLUMBING = re.compile(r"std::(?:_Function_handler|function|__invoke\w*|_Bind|_Mem_fn)\b|_ZNK?St17_Function_handler")

#: In whose body a lambda stands, and which of them it is.
_OWNER = re.compile(r"(?P<name>[\w:~]+)(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?(?: const)?$")
_NUMBER = re.compile(r"#(?P<number>\d+)\}")


@dataclass(frozen=True)
class NativeFrame:
    """A frame: its function, ``??`` where the library does not tell it, the library's file, the place in that, and
    where the function without a name begins."""

    function: str
    library: str
    offset: str = ""
    beginning: str = ""


@dataclass(frozen=True)
class Site:
    """Where a process died. One without a `named` function is the same only within one build of the compiler.

    `caller` is a function without a name: the one that the place lies in, or that called the constructor at the place
    from another library; "" where that is not known.
    """

    place: str
    named: bool
    caller: str = ""


def frames(stderr: str) -> Iterator[NativeFrame]:
    """The native frames that were taken of a dead worker, innermost first; none where none were."""
    _, heading, below = stderr.rpartition(native.HEADING)
    for line in below.splitlines() if heading else ():
        if found := _FRAME.fullmatch(line.strip()):
            yield NativeFrame(found["function"], found["library"], found["offset"] or "", found["beginning"] or "")


def site(stderr: str) -> Site | None:
    """Where a worker died by its last output; None where that cannot be told."""
    found = list(frames(stderr))
    for frame, outer in zip_longest(found, found[1:]):
        if _ALLOCATOR.fullmatch(frame.function):
            return None
        if frame.function == _UNKNOWN:
            return Site(frame.library + frame.offset, named=False, caller=_nameless(frame)) if frame.offset else None
        if _PLUMBING.match(frame.function) and (held := _held(frame)):
            return held
        name, kind = stack.spot(frame.library, frame.function)
        if kind in _INNER or stack.shared(frame.library, frame.function):
            continue
        return Site(name, named=True, caller=_maker(frame.library, name, outer)) if name and not kind else None
    return None


def _held(frame: NativeFrame) -> Site | None:
    """The lambda that a `std::function` holds: compiled into what calls it, it has no frame of its own.

    None where it holds something else, or the name is not told in C++: several files may have a variable of one name.
    """
    before, found, after = frame.function.partition("::{lambda(")
    owner, number = _OWNER.search(before), _NUMBER.search(after)
    if not found or owner is None or number is None:
        return None
    return Site(f"{owner['name']}::{{lambda#{number['number']}}}", named=True)


def _nameless(frame: NativeFrame) -> str:
    """A function without a name, as its library and where it begins there."""
    return frame.library + frame.beginning if frame.beginning else ""


def _maker(library: str, name: str, outer: NativeFrame | None) -> str:
    """The function without a name of another library that had an operation made: it hands the constructor nonsense."""
    *_, scope, function = ["", *_TEMPLATE.sub("", name).split("::")]
    if outer is None or not scope or function != scope or outer.library == library:
        return ""
    return _nameless(outer)


def place(stderr: str) -> str:
    """The function that a worker died in, which every build calls so; "" where it is not known by name."""
    found = site(stderr)
    return found.place if found and found.named else ""


def same(one: str, other: str, one_build: bool) -> bool | None:
    """Whether two workers died at one site, by their last outputs; None where that cannot be told."""
    mine, theirs = site(one), site(other)
    if mine is None or theirs is None or not (one_build or (mine.named and theirs.named)):
        return None
    if one_build and mine.caller and mine.caller == theirs.caller:
        return True
    return (mine.place, mine.named) == (theirs.place, theirs.named)


def without_stack(stderr: str) -> str:
    """What a worker printed itself."""
    return stderr.partition(f"\n{native.HEADING}")[0]


def shown(stderr: str) -> list[str]:
    """The frames for a reader, innermost first: functions and libraries, those without a name as ``??``.

    Frames in which the standard library only hands a call on are left out.
    """
    told = (frame for frame in frames(stderr) if not _PLUMBING.match(frame.function))
    lines = [f"{frame.function}  ({frame.library})" for frame in told]
    return lines[:_MOST_SHOWN] + ([f"... {len(lines) - _MOST_SHOWN} outer frames"] if len(lines) > _MOST_SHOWN else [])
