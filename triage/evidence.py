"""What one raw failure says of its bug, in words that compare: telling frames, normalised message, and the rest.

Frames, messages and traces come in the forms of many tools; `gather` reads all of a batch together, because a list of
bare frames does not say which of its ends is the inner one. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fuzz.case import Frame
from triage import traces
from triage.messages import WORDS, said
from triage.places import MOST_FRAMES, inner_last, place
from triage.rules import rules

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
    reverse = inner_last([report.frames for report in reports])
    found = [_evidence(report, reverse) for report in reports]
    known = _with_operators(found)
    return [_recognised(each, known) for each in found]


def _evidence(report: Report, reverse: bool) -> Evidence:
    trace = traces.read(report.trace) if report.trace else traces.Trace()
    message, exception = _prefixed(report.message or trace.text)
    if "\n" in message and not report.trace and not report.frames:
        inside = traces.read(message)  # some compilers put the trace into the message
        if inside.frames:
            trace, message = inside, inside.text
    given = report.frames[: -MOST_FRAMES - 1 : -1] if reverse else report.frames[:MOST_FRAMES]
    at = place((*given, *trace.frames), message)
    converting = _converting(message)
    operator, named, masked = _operator(converting or report.operator, message)
    normal = said(masked)
    return Evidence(
        stack=(f"{at.stack[0]} for {operator}", *at.stack[1:]) if at.shared and converting else at.stack,
        line=at.line,
        message=normal,
        plain=normal.replace("OP", said(named)) if named else normal,
        empty=_empty(normal),
        names_operator=bool(named),
        exception=(report.exception or exception).rpartition(".")[2].rpartition("::")[2],
        symptom=" ".join(report.symptom.lower().split()),
        operator=operator,
        cut=trace.cut and not report.frames,
        quoted=bool(at.stack) and not given and not trace.frames,
        shared=at.shared,
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
    return replace(
        each, message=message, operator=each.operator or operator, names_operator=same, empty=_empty(message)
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


def _operator(given: str, message: str) -> tuple[str, str, str]:
    """(the operator, how the message spells it, "" where it does not name it, the message with OP in its place)."""
    operator = given
    if not operator:
        found = next((hit for pattern in rules().operators if (hit := pattern.search(message[:4_000]))), None)
        operator = found["operator"] if found else ""
    if len(operator) < 3 or operator.lower() in WORDS:
        return operator, "", message
    pattern = _spelling(operator)
    found = pattern.search(message)
    if not found:
        return operator, "", message
    return operator, found[0], pattern.sub("OP", message[:64_000])


def _converting(message: str) -> str:
    """The operator whose conversion or run a compiler's own words tell to have failed, "" where they do not."""
    begun = message[:_LONGEST_CONVERTING]
    found = (hit for needs, pattern in rules().converting if needs in begun and (hit := pattern.search(begun)))
    return next((hit["operator"] for hit in found), "")


@lru_cache(maxsize=1 << 14)
def _spelling(operator: str) -> re.Pattern[str]:
    # Behind a slash it is part of a node's name.
    return re.compile(rf"(?<![\w./]){re.escape(operator)}(?:-\d+)?(?![\w])", re.IGNORECASE)
