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
from triage.families import family
from triage.hollow import hollow, late
from triage.messages import WORDS, part, said
from triage.places import MOST_FRAMES, Place, inner_last, often_shared, on_every_path, place, telling
from triage.rules import rules
from triage.wrongness import guilty, says_wrong, way, wrong

#: So far into a message is read what was being converted.
_LONGEST_CONVERTING = 8_000
#: What a message holds that has a trace in it; one beside a trace of its own seldom does.
_TRACED = re.compile(r"File \"|(?i:trace)|\.py:\d|0x[0-9a-f]{6}")
#: A message that is nothing but a key that was not found, or another value: only the place can tell.
_VALUE = re.compile(r"(?:\w+: )?(?:'[^']*'|\"[^\"]*\"|N)")
#: What only native code says: a diagnosis, a status, a check.
_FOREIGN = re.compile(
    r"(?:[\w.]+(?:Error|Exception)\w*: )*(?:\S+:\d+:\d+: )?"
    r"(?:(?:fatal )?error: |LLVM ERROR|(?:INTERNAL|UNIMPLEMENTED|UNAVAILABLE"
    r"|INVALID_ARGUMENT|FAILED_PRECONDITION|NOT_FOUND|OUT_OF_RANGE|RESOURCE_EXHAUSTED|UNKNOWN|ABORTED)[:>] )"
)
_OF_PYTHON = re.compile(r"[\w./]*\w+\.pyx?(?: |$)")
#: An exception may be wrapped in others, each of which writes its name before the message.
_MOST_PREFIXES = 6


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
    `plain` is the message with the operator's name left in; `way` is in what way the numbers of a wrong result are
    wrong; `files` are those of the native frames.
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


def gather(reports: Sequence[Report]) -> list[Evidence]:
    """The evidence of each report, in order."""
    reverse = inner_last([report.frames for report in reports])
    read = [_read(report, reverse) for report in reports]
    usual = _Usual(on_every_path([tuple(each.named) for each in read]), often_shared([each.named for each in read]))
    found = [_evidence(report, each, usual) for report, each in zip(reports, read, strict=True)]
    known = _with_operators(found)
    return [_recognised(each, known) for each in found]


@dataclass(frozen=True)
class _Usual:
    """What the frames of a batch have shown: those on every path, and those that many conversions reach."""

    wide: frozenset[str]
    helpers: frozenset[str]


@dataclass(frozen=True)
class _Read:
    """What was read of one report: its telling frames by name, innermost first, and what it said."""

    named: Mapping[str, Frame]
    message: str
    cut: bool


def _read(report: Report, reverse: bool) -> _Read:
    trace = traces.read(report.trace) if report.trace else traces.Trace()
    message = report.message or trace.said
    if "\n" in report.message and (not report.trace or _TRACED.search(report.message)):
        inside = traces.read(report.message)  # some compilers, and some reporters, put the trace into the message
        if inside.frames:
            message = inside.closing or inside.text
            trace = trace if trace.frames or report.frames else inside
    if report.operator and " with a message:" in message:
        message = part(message, report.operator)  # what follows from it is in the same log
    given = report.frames[: -MOST_FRAMES - 1 : -1] if reverse else report.frames[:MOST_FRAMES]
    return _Read(telling(_together(given, trace.frames)), message, trace.cut and not report.frames)


def _together(given: tuple[Frame, ...], traced: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames of a list and of a trace, innermost first: those of native code are further in."""
    if given and all(frame.file.endswith(".py") for frame in given):
        return (*traced, *given)
    return (*given, *traced)


def _evidence(report: Report, read: _Read, usual: _Usual) -> Evidence:
    message, exception = _prefixed(read.message)
    converting = _converting(message)
    operator, named, masked = _operator(converting or report.operator, message)
    normal = said(masked)
    empty, symptom = hollow(normal), _symptom(report.symptom, normal)
    at = _place(read, normal, symptom, usual, empty and not report.exception and not exception)
    words = "" if empty and at.stack else normal
    return Evidence(
        stack=(f"{at.stack[0]} for {operator}", *at.stack[1:]) if at.shared and converting else at.stack,
        line=at.line,
        message=words,
        plain=words.replace("OP", said(named)) if named else words,
        empty=empty,
        names_operator=bool(named),
        exception=(report.exception or exception).rpartition(".")[2].rpartition("::")[2],
        symptom=symptom,
        operator=operator,
        cut=read.cut,
        quoted=at.quoted,
        shared=at.shared,
        files=_files(read.named) if at.stack and not at.quoted else frozenset(),
        way=way(read.message) if wrong(symptom) or (not at.stack and says_wrong(read.message)) else "",
    )


def _files(named: Mapping[str, Frame]) -> frozenset[str]:
    """The names of the files of native frames."""
    return frozenset(frame.file.rpartition("/")[2] for name, frame in named.items() if "::" in name and frame.file)


def _place(read: _Read, normal: str, symptom: str, usual: _Usual, dead: bool) -> Place:
    """Where it happened. Of a wrong result without frames, the pass that is blamed for it."""
    if not read.named and (name := guilty(read.message)) and (wrong(symptom) or not symptom):
        return Place((f"pass {name}",))
    if _FOREIGN.match(read.message) and not any("::" in name or not _OF_PYTHON.match(name) for name in read.named):
        return place(
            {}, read.message, usual.wide, usual.helpers, dead
        )  # native code said it, which Python only passes on
    wide = frozenset[str]() if _VALUE.fullmatch(normal) else usual.wide
    return place(read.named, read.message, wide, usual.helpers, dead)


def _symptom(told: str, message: str) -> str:
    """What was noted, in small letters; a program that does not end is told by its message as well."""
    noted = " ".join(told.lower().split())
    return "hang" if late(noted) or (not noted and hollow(message) and late(message)) else noted


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
    same = each.operator in ("", operator)
    return replace(
        each, message=message, operator=each.operator or operator, names_operator=same, empty=hollow(message)
    )


def _prefixed(message: str) -> tuple[str, str]:
    """(the message without the exceptions before it, the first of them) as runners wrote them down."""
    exception = ""
    for _ in range(_MOST_PREFIXES):
        found = next((hit for pattern in rules().prefixes if (hit := pattern.match(message[:2_000]))), None)
        if found is None:
            break
        message = message[found.end() :]
        exception = exception or found.groupdict().get("exception", "")
    return message, exception


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
    bare = operator.rpartition("::")[2]
    return re.compile(rf"(?<![\w./:])(?:\w+::)*{re.escape(bare)}(?:-\d+)?(?![\w])", re.IGNORECASE)
