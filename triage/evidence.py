"""What one raw failure says of its bug, in words that compare: telling frames, normalised message, and the rest.

Frames, messages and traces come in the forms of many tools; `gather` reads all of a batch together, because a list of
bare frames does not say which of its ends is the inner one. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from fuzz.case import Frame
from triage import traces
from triage.messages import WORDS, said
from triage.rules import rules
from triage.stack import shared, sites, spot

#: More frames than these tell nothing new.
DEPTH = 8
_MOST_FRAMES = 2_000
#: So far into a message is read what was being converted.
_LONGEST_CONVERTING = 8_000


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
    there are no frames and the message alone names the place; `shared` if many conversions come by the place;
    `plain` is the message with the operator's name left in.
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


def gather(reports: Sequence[Report]) -> list[Evidence]:
    """The evidence of each report, in order."""
    inner_last = _inner_last(reports)
    found = [_evidence(report, inner_last) for report in reports]
    known = _with_operators(found)
    return [_recognised(each, known) for each in found]


def _evidence(report: Report, inner_last: bool) -> Evidence:
    trace = traces.read(report.trace) if report.trace else traces.Trace()
    message, exception = _prefixed(report.message or trace.text)
    if "\n" in message and not report.trace and not report.frames:
        inside = traces.read(message)  # some compilers put the trace into the message
        if inside.frames:
            trace, message = inside, inside.text
    given = report.frames[-_MOST_FRAMES:] if inner_last else report.frames[:_MOST_FRAMES]
    ordered = (*(reversed(given) if inner_last else given), *_without_the_script(trace.frames))
    stack, line, common = _stack(ordered, message)
    operator, named, masked = _operator(report.operator, message)
    normal = said(masked)
    return Evidence(
        stack=(f"{stack[0]} for {operator}", *stack[1:]) if common and named and _converting(message) else stack,
        line=line,
        message=normal,
        plain=said(message) if named else normal,
        empty=_empty(normal),
        names_operator=named,
        exception=(report.exception or exception).rpartition(".")[2].rpartition("::")[2],
        symptom=" ".join(report.symptom.lower().split()),
        operator=operator,
        cut=trace.cut and not report.frames,
        quoted=bool(stack) and not given and not trace.frames,
        shared=common,
    )


def _with_operators(found: Sequence[Evidence]) -> dict[str, tuple[str, str]]:
    """The messages that name an operator, as they stand: with OP in its place, and which operator it is."""
    known: dict[str, set[tuple[str, str]]] = {}
    for each in found:
        if each.names_operator:
            known.setdefault(each.plain, set()).add((each.message, each.operator))
    return {plain: next(iter(readings)) for plain, readings in known.items() if len(readings) == 1}


def _recognised(each: Evidence, known: Mapping[str, tuple[str, str]]) -> Evidence:
    """With the operator that its message names, where only other failures with this message tell that it is one."""
    if each.names_operator or each.plain not in known:
        return each
    message, operator = known[each.plain]
    same = each.operator in ("", operator)
    return replace(each, message=message, operator=each.operator or operator, names_operator=same, empty=_empty(message))


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
    operator = _converting(message) or given
    if not operator:
        found = next((hit for pattern in rules().operators if (hit := pattern.search(message[:4_000]))), None)
        operator = found["operator"] if found else ""
    if len(operator) < 3 or operator.lower() in WORDS:
        return operator, False, message
    masked, hits = _spelling(operator).subn("OP", message[:64_000])
    return operator, hits > 0, masked


def _converting(message: str) -> str:
    """The operator whose conversion or run a compiler's own words tell to have failed, "" where they do not."""
    begun = message[:_LONGEST_CONVERTING]
    found = (hit for pattern in rules().converting if (hit := pattern.search(begun)))
    return next((hit["operator"] for hit in found), "")


@lru_cache(maxsize=1 << 14)
def _spelling(operator: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(operator)}(?:-\d+)?(?![\w])", re.IGNORECASE)


def _stack(found: Sequence[Frame], message: str) -> tuple[tuple[str, ...], int, bool]:
    """The telling frames, innermost first, the line of the first one, and whether it is shared by conversions.

    A place that the message names is further in than frames of Python. A shared one is named with who called it.
    """
    named: dict[str, Frame] = {}
    has_native = False
    for frame in found:
        name, kind = spot(frame.file, frame.function, getattr(frame, "code", ""))
        if not name or kind:
            continue
        named.setdefault(name, frame)
        has_native |= "::" in name
        if len(named) == DEPTH:
            break
    if not has_native and message:
        named = {**_named_places(message), **named}
    names, frames = tuple(named)[:DEPTH], tuple(named.values())[:DEPTH]
    if not names or not shared(frames[0].file, frames[0].function):
        return names, frames[0].line if frames else 0, False
    own = next((at for at, frame in enumerate(frames) if not shared(frame.file, frame.function)), 0)
    if own:
        return (f"{names[0]} < {names[own]}", *names[1:]), frames[0].line, False
    return names, frames[0].line, True


def _without_the_script(found: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Frames without those of the file that the traceback begins in: it calls the compiler and is none of it."""
    if not found or found[-1].function != "<module>":
        return found
    return tuple(frame for frame in found if frame.file != found[-1].file)


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
