"""What one raw failure says of its bug, in words that compare: telling frames, normalised message, and the rest.

Frames, messages and traces come in the forms of many tools; `gather` reads all of a batch together, because a list of
bare frames does not say which of its ends is the inner one. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from fuzz.case import Frame
from triage import traces
from triage.messages import WORDS, said
from triage.rules import rules
from triage.stack import sites, spot

#: More frames than these tell nothing new.
DEPTH = 8
_MOST_FRAMES = 2_000


@dataclass(frozen=True)
class Report:
    """One raw failure. `frames` are in one order for a whole batch, `trace` is raw text; "" and () mean unknown."""

    id: str
    message: str
    symptom: str = ""
    operator: str = ""
    exception: str = ""
    frames: tuple[Frame, ...] = ()
    trace: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a failure says of its bug.

    `stack` are the telling frames, innermost first, each once; `line` is where in the innermost it happened, 0 where
    unknown; `message` is normalised and without the operator, and `empty` if it says no more than that something
    failed; `names_operator` if it named the operator; `cut` if the innermost frames are known to be lost; `quoted` if
    there are no frames and the message alone names the place.
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


def gather(reports: Sequence[Report]) -> list[Evidence]:
    """The evidence of each report, in order."""
    inner_last = _inner_last(reports)
    return [_evidence(report, inner_last) for report in reports]


def _evidence(report: Report, inner_last: bool) -> Evidence:
    trace = traces.read(report.trace) if report.trace else traces.Trace()
    message, exception = _prefixed(report.message or trace.text)
    if "\n" in message and not report.trace and not report.frames:
        inside = traces.read(message)  # some compilers put the trace into the message
        if inside.frames:
            trace, message = inside, inside.text
    given = report.frames[-_MOST_FRAMES:] if inner_last else report.frames[:_MOST_FRAMES]
    stack, line = _stack((*(reversed(given) if inner_last else given), *trace.frames), message)
    operator, named, message = _operator(report.operator, message)
    normal = said(message)
    return Evidence(
        stack=stack,
        line=line,
        message=normal,
        empty=_empty(normal),
        names_operator=named,
        exception=(report.exception or exception).rpartition(".")[2].rpartition("::")[2],
        symptom=" ".join(report.symptom.lower().split()),
        operator=operator,
        cut=trace.cut and not report.frames,
        quoted=bool(stack) and not given and not trace.frames,
    )


@lru_cache(maxsize=1 << 14)
def _empty(message: str) -> bool:
    return rules().empty.fullmatch(message) is not None


def _prefixed(message: str) -> tuple[str, str]:
    """(the message without the exception before it, the exception) as a runner wrote them down."""
    for pattern in rules().prefixes:
        found = pattern.match(message[:2_000])
        if found:
            return message[found.end() :], found["exception"]
    return message, ""


def _operator(given: str, message: str) -> tuple[str, bool, str]:
    """(the operator, whether the message names it, the message with OP in its place)."""
    operator = given
    if not operator:
        found = next((hit for pattern in rules().operators if (hit := pattern.search(message[:4_000]))), None)
        operator = found["operator"] if found else ""
    if len(operator) < 3 or operator.lower() in WORDS:
        return operator, False, message
    masked, hits = _spelling(operator).subn("OP", message[:64_000])
    return operator, hits > 0, masked


@lru_cache(maxsize=1 << 14)
def _spelling(operator: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(operator)}(?:-\d+)?(?![\w])", re.IGNORECASE)


def _stack(found: Sequence[Frame], message: str) -> tuple[tuple[str, ...], int]:
    """The telling frames, innermost first, and the line of the first one.

    A place that the message names is further in than frames of Python.
    """
    named: dict[str, int] = {}
    has_native = False
    for frame in found:
        name, kind = spot(frame.file, frame.function)
        if not name or kind:
            continue
        named.setdefault(name, frame.line)
        has_native |= "::" in name
        if len(named) == DEPTH:
            break
    if not has_native and message:
        named = {**_named_places(message), **named}
    chosen = dict(islice(named.items(), DEPTH))
    return tuple(chosen), next(iter(chosen.values()), 0)


def _named_places(message: str) -> dict[str, int]:
    """Native places in a message, innermost first."""
    places: dict[str, int] = {}
    if not any(ending in message for ending in (".c", ".h", ".rs:", ".inl:")):
        return places
    for frame in islice(sites(message[:16_000]), 4):
        name, kind = spot(frame.file, "")
        if name and not kind:
            places.setdefault(name, frame.line)
    return places


def _inner_last(reports: Sequence[Report]) -> bool:
    """Whether lists of frames end with the innermost one.

    The outer ends of a batch are alike, since every failure comes through the same few calls; the inner ones differ.
    """
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    for report in reports:
        if len(report.frames) > 1:
            first[_telling(report.frames[:_MOST_FRAMES])] += 1
            last[_telling(report.frames[: -_MOST_FRAMES - 1 : -1])] += 1
    return sum(count**2 for count in last.values()) <= sum(count**2 for count in first.values())


def _telling(found: Sequence[Frame]) -> str:
    """The first frame that tells something, "" if none does."""
    spots = (spot(frame.file, frame.function) for frame in found)
    return next((name for name, kind in spots if name and not kind), "")
