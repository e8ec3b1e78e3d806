"""What the failures of a batch say of their bugs, in words that compare: telling frames, normalised message, the rest.

Each report is read by itself (`triage/reading.py`); `gather` puts them together, because some things only the others
tell: which end of a bare list of frames is the inner one, which frames are on every path, which word is an operator.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from typing import NamedTuple

from fuzz.case import Frame
from triage import traces
from triage.families import OF_NO_OPERATOR, family
from triage.frame_order import Order
from triage.hollow import hollow
from triage.places import Place, Spot, often_shared, on_every_path, place
from triage.reading import OF_A_NODE, Read, Report, of_python, read
from triage.rules import rules
from triage.spread import spread
from triage.titled import without_titles
from triage.traces import Trace
from triage.wrongness import says_wrong, way, wrong

__all__ = ["Evidence", "Report", "gather"]

#: So many traces show which end of a list is the inner one.
_MOST_TRACED = 500
#: To read a report without words, and one of its frames, takes as long as to read so many characters.
_BARE, _FRAME = 200, 60


class Evidence(NamedTuple):
    """What a failure says of its bug.

    `stack` are the telling frames, innermost first, each once; `line` is where in the innermost it happened, 0 where
    unknown; `message` is normalised and without the operator, and `empty` if it says no more than that something
    failed; `names_operator` if it named the operator; `cut` if the innermost frames are known to be lost; `quoted` if
    there are no frames and the message alone names the place; `shared` if many conversions come by the place;
    `plain` is the message with the operator's name left in; `way` is in what way the numbers of a wrong result are
    wrong; `files` are those of the native frames; `clipped` if the message looks as if somebody had clipped it;
    `weak` if the language says so of any fault, which `site` tells apart where there is no stack;
    `refused` if it is said that the named operator is not supported; `compilers` are those whose failure it may be, as
    far as frames, exception and words tell; `noted` is the operator that the report names where its message names
    another; `walk` is where in the walk over a program it ended, without a stack.
    """

    stack: tuple[str, ...]
    line: int
    message: str
    empty: bool
    names_operator: bool
    exception: str
    symptom: str
    operator: str
    cut: bool
    quoted: bool
    shared: bool = False
    plain: str = ""
    way: str = ""
    files: frozenset[str] = frozenset()
    clipped: bool = False
    weak: bool = False
    site: str = ""
    refused: bool = False
    compilers: frozenset[str] = frozenset()
    noted: str = ""
    walk: str = ""


def gather(reports: Sequence[Report], jobs: int = 1) -> list[Evidence]:
    """The evidence of each report, in order; a large batch is read in up to `jobs` processes."""
    rules()  # before processes are started, each of which needs them
    traced: dict[str, Trace] = {}
    order = Order([report.frames for report in reports], lambda: _traced(reports, traced))
    reading = partial(_read, order=order, traced=traced)
    found = without_titles(reports, spread(reading, reports, jobs, like=_operator, size=_size), order)
    stacks = [each.named for each in found]
    usual = _Usual(on_every_path(map(tuple, stacks)) | _callers(found), often_shared(stacks))
    places = [_place(each, usual, _died(each)) for each in found]
    broad = _of_no_operator(found, places)
    evidence = [_evidence(each, at, broad) for each, at in zip(found, places, strict=True)]
    known = _with_operators(evidence)
    return [_recognised(each, known) for each in evidence]


def _traced(reports: Sequence[Report], known: dict[str, Trace]) -> Iterator[tuple[Frame, ...]]:
    """The frames of traces, innermost first: of no more than are needed, and the same in whatever order they come.

    What is read is kept in `known`."""
    for trace in nsmallest(_MOST_TRACED, {report.trace for report in reports if report.trace}):
        if trace not in known:
            known[trace] = traces.read(trace)
        yield known[trace].frames


def _operator(report: Report) -> str:
    return report.operator


def _size(report: Report) -> int:
    """How long it takes to read a report, in characters."""
    return _BARE + len(report.message) + len(report.trace) + _FRAME * len(report.frames)


def _callers(found: Sequence[Read]) -> frozenset[str]:
    """What calls the compiler in some traces, unless others end in it more often: names may coincide."""
    calling = Counter(name for each in found for name in each.callers)
    ending = Counter(next(iter(each.named)) for each in found if each.named)
    return frozenset(name for name, times in calling.items() if times >= ending[name])


def _read(reports: Sequence[Report], order: Order, traced: Mapping[str, Trace]) -> list[Read]:
    return [read(report, order, traced.get(report.trace)) for report in reports]


@dataclass(frozen=True)
class _Usual:
    """What the frames of a batch have shown: those on or before every path, and those that many conversions reach."""

    wide: frozenset[str]
    helpers: frozenset[str]


def _of_no_operator(found: Sequence[Read], places: Sequence[Place]) -> frozenset[tuple[str, str]]:
    """The places that many conversions reach, or none, with the words that so many operators meet there that they are
    about no operator, though each is told to have been at work."""
    met: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for each, at in zip(found, places, strict=True):
        if each.converting and each.normal.startswith(OF_A_NODE) and not each.refused and (at.shared or not at.stack):
            met[at.stack[0] if at.stack else "", each.normal].add(family(each.operator))
    return frozenset(key for key, operators in met.items() if len(operators) >= OF_NO_OPERATOR)


def _evidence(read: Read, at: Place, broad: Collection[tuple[str, str]]) -> Evidence:
    bare = read.empty and at.stack
    own = (at.stack[0] if at.stack else "", read.normal) not in broad
    return Evidence(
        stack=(f"{at.stack[0]} for {read.operator}", *at.stack[1:])
        if at.shared and read.converting and own
        else at.stack,
        line=at.line,
        message="" if bare else read.normal,
        plain="" if bare else read.plain,
        empty=read.empty,
        names_operator=read.names_operator and own,
        exception=read.exception,
        symptom=read.symptom,
        operator=read.operator,
        cut=read.cut,
        quoted=at.quoted,
        shared=at.shared,
        files=_files(read.named) if at.stack and not at.quoted else frozenset(),
        clipped=read.clipped,
        weak=read.weak,
        site="" if at.stack else read.site,
        refused=read.refused,
        compilers=read.compilers,
        walk="" if at.stack else read.walk,
        way=way(read.message) if wrong(read.symptom) or (not at.stack and _speaks_of_wrong(read)) else "",
    )


def _speaks_of_wrong(read: Read) -> bool:
    return says_wrong(read.message) if read.says_wrong is None else read.says_wrong


def _died(read: Read) -> bool:
    """Whether the program died without a word; where there are no words, frames of Python show that it did not."""
    return read.empty and not read.exception and (bool(read.message) or not any(map(of_python, read.named)))


def _files(named: Mapping[str, Spot]) -> frozenset[str]:
    """The names of the files of native frames."""
    return frozenset(spot.file for name, spot in named.items() if "::" in name and spot.file)


def _place(read: Read, usual: _Usual, dead: bool) -> Place:
    """Where it happened. Of a wrong result without frames, the pass that is blamed for it."""
    if read.blamed and (wrong(read.symptom) or not read.symptom):
        return Place((f"pass {read.blamed}",))
    if read.compared:
        return Place()  # what compares numbers is none of the compiler
    if read.foreign:
        return place({}, read.quoted, usual.wide, usual.helpers, dead)
    wide = frozenset[str]() if read.value else usual.wide
    return place(read.named, read.quoted, wide, usual.helpers, dead)


def _with_operators(found: Sequence[Evidence]) -> dict[str, tuple[str, str]]:
    """The messages that name an operator, as they stand: with OP in its place, and which operator it is."""
    known: dict[str, dict[tuple[str, str], str]] = {}
    for each in found:
        if each.names_operator:
            known.setdefault(each.plain, {}).setdefault((each.message, family(each.operator)), each.operator)
    return {
        plain: (message, operator)
        for plain, readings in known.items()
        if len(readings) == 1
        for (message, _), operator in readings.items()
    }


def _recognised(each: Evidence, known: Mapping[str, tuple[str, str]]) -> Evidence:
    """With the operator that its message names, where only other failures with this message tell that it is one."""
    if each.names_operator or each.plain not in known:
        return each
    message, operator = known[each.plain]
    return each._replace(
        message=message, operator=operator, noted=each.operator, names_operator=True, empty=hollow(message)
    )
