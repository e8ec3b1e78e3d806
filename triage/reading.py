"""What one raw failure says by itself: its telling frames, its words, its operator.

Frames, messages and traces come in the forms of many tools. Nothing here depends on the other failures of a batch, but
for the end at which its lists of frames have the inner one: so a large batch is read in several processes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from fuzz.case import Frame
from triage import recursion, testcase, trace_lines, traces
from triage.caller import without_the_caller
from triage.fenced import unfenced, unquoted
from triage.frame_order import Order
from triage.hollow import deadly, hollow, late, spoken
from triage.messages import WORDS, part, said, worded
from triage.noted import classed
from triage.noted import spoken as spoken_symptom
from triage.ownership import compilers
from triage.places import MOST_FRAMES, Spot, calling, quoted_places, telling, walking
from triage.prefixes import bare_class, prefixed
from triage.rules import rules
from triage.traces import PythonFrame, Trace
from triage.unescaped import unescaped
from triage.whole import told_by, whole
from triage.wrongness import compared, guilty, says_wrong, wrong

#: So far into a message is read what was being converted.
_LONGEST_CONVERTING = 8_000
#: What a message holds that has a trace in it; one beside a trace of its own seldom does.
_TRACED = re.compile(r"File \"|(?i:trace)|\.py:\d|0x[0-9a-f]{6}")
#: A message that is nothing but a key that was not found, or another value: only the place can tell.
_VALUE = re.compile(r"(?:\w+: )?(?:'[^']*'|\"[^\"]*\"|N)")
#: What goes before the words of a kernel, which may be nobody's.
OF_A_NODE = "OP node. "
#: What is said of any fault: that an assertion does not hold, that a key is missing.
_OF_ANY = frozenset(("AssertionError", "KeyError"))
#: What only native code says: a diagnosis, a status, a check.
_FOREIGN = re.compile(
    r"(?:[\w.]+(?:Error|Exception)\w*: )*(?:\S+:\d+:\d+: )?"
    r"(?:(?:fatal )?error: |LLVM ERROR|(?:INTERNAL|UNIMPLEMENTED|UNAVAILABLE"
    r"|INVALID_ARGUMENT|FAILED_PRECONDITION|NOT_FOUND|OUT_OF_RANGE|RESOURCE_EXHAUSTED|UNKNOWN|ABORTED)[:>] )"
)
#: The same on a line of its own, below what the binding says of it.
_FOREIGN_BELOW = re.compile(r"\n(?:loc\([^\n]*\): )?error: ")
_OF_PYTHON = re.compile(r"[\w./]*\w+\.pyx?(?: |$)")
#: Nobody clips messages to less than this.
_SHORTEST_CLIPPED = 80
#: What stands between the operators of a model, where a runner notes all of them.
_LISTED = re.compile(r" ?[,;|+] ?")
#: How a program ended that was not killed.
_GAVE_UP = re.compile(
    r"(?i)\b(?:exit(?:ed)?|return(?:ed)?|fail(?:ed|ure)?)\b.{0,40}?(?<![-\d])(?:[1-9]\d?|1[01]\d)\b(?!\d)"
    r"|\bcase failed\b"
)
_LONGEST_STATUS = 120
#: How a page of issues marks code, headings and what is folded away.
_ISSUE = re.compile(r"^(?:> ?)*(?:`{3}|~{3}|#{2,4} [A-Z]|<details>|\*\*[\w ]+\*\*:)", re.MULTILINE)
#: What people who write titles leave out: signs of code, names that are put together.
_CODE = re.compile(r"[_:;=(){}\[\]<>'\"`\\@#!*]|\w/|[a-z][A-Z]|[A-Z]{2}[a-z]|0x")
#: What is longer is no title; so much of a message is found again in a trace that holds it.
_LONGEST_TITLE, _HEAD = 160, 24
#: So many lines of what a trace says are compared with what others say.
_MOST_BESIDE = 12
_CLOSING = frozenset(".;!?)]}'\"`")


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


class Read(NamedTuple):
    """What was read of one report.

    `named` are its telling frames by name, innermost first, and `foreign` if they only pass on what native code said;
    `quoted` are the places in native code that its words name. `message` is what it said, `value` if it is nothing but
    a value, `normal` that without its
    exceptions, normalised and without the operator, `plain` the same with the operator left in; `empty` if it says no
    more than that something failed; `names_operator` if it named the operator, `converting` if it said that this one's
    conversion or run failed; `cut` if the innermost frames are known to be lost. `blamed` is the pass that the message
    blames, where there are no telling frames. `exception` is a bare class name. `clipped` if the message is as long as
    somebody may have clipped it. `callers` are frames that call the compiler and are none of it. `weak` if the
    language says so of any fault, and `site` where the message itself tells that to have been raised; `refused` if it
    says that the operator which it names is not supported; `compilers` are those whose failure it may be, where known;
    `walk` is where in the walk over a program it ended, where no frame tells more; `compared` if it is a wrong result;
    `beside` are the lines in which its trace says what failed, where these do not hold its message; `says_wrong` if the
    words speak of a wrong result, None where frames tell more and nobody asked.
    """

    named: Mapping[str, Spot]
    foreign: bool
    quoted: Mapping[str, Spot]
    message: str
    value: bool
    cut: bool
    blamed: str
    normal: str
    plain: str
    empty: bool
    names_operator: bool
    converting: bool
    exception: str
    symptom: str
    operator: str
    clipped: bool
    callers: frozenset[str] = frozenset()
    weak: bool = False
    site: str = ""
    refused: bool = False
    compilers: frozenset[str] = frozenset()
    walk: str = ""
    compared: bool = False
    beside: tuple[str, ...] = ()
    says_wrong: bool | None = None


class _Words(NamedTuple):
    """What the words say: the operator, how it is spelled in them, what is said without it, whose conversion or run
    failed, whether numbers are compared and by which test, and whether the machine lacks something."""

    operator: str
    spelled: str
    normal: str
    converting: str
    compares: bool
    subject: str
    lacking: bool


def read(report: Report, order: Order, trace: Trace | None = None) -> Read:
    """What a report says; `order` tells which end of a list of frames is the inner one, `trace` is the report's if it
    has been read."""
    every, told, cut, beside = _frames_and_message(report, order, trace)
    message, wrapped, site, body = prefixed(told)
    words = _words(report, message, told)
    found = () if words.lacking else without_the_caller(every)
    value = _VALUE.fullmatch(words.normal) is not None
    exception = next(filter(None, map(bare_class, (report.exception, wrapped))), "")
    bare = words.normal.removeprefix(OF_A_NODE)
    empty = hollow(bare)
    named = telling(found, recursion.SAID if recursion.endless(told) else recursion.DIED if empty else 0)
    weak = value or spoken(bare) or (not words.normal and exception in _OF_ANY)
    walk = {} if named else walking(found)
    if walk and (weak or (not words.normal and (report.exception or wrapped))):
        named = walk
    return Read(
        named=named,
        foreign=_foreign(told) and not any("::" in name or not of_python(name) for name in named),
        quoted={} if words.lacking else quoted_places(body),
        message=told,
        value=value,
        cut=cut,
        blamed="" if named else guilty(told),
        normal=words.normal,
        plain=words.normal.replace("OP", said(words.spelled)) if words.spelled else words.normal,
        empty=empty,
        names_operator=bool(words.spelled),
        converting=bool(words.converting),
        exception=exception,
        symptom=_symptom(report.symptom, exception, words),
        operator=words.operator,
        clipped=told is report.message and _clipped(told),
        callers=calling(every[len(found) :]) if found and len(found) < len(every) else frozenset(),
        weak=weak,
        site=site if weak else "",
        refused=bool(words.spelled) and _refuses(words.normal),
        compilers=compilers(named, found, report.exception or wrapped, told if empty else "")
        or rules().owned.accused(compared(told) if words.compares or says_wrong(told) else "")
        or rules().owned.accused(words.subject),
        walk=next(iter(walk), ""),
        compared=words.compares,
        beside=beside,
        says_wrong=None if named else says_wrong(told) if report.symptom else words.compares,
    )


def _words(report: Report, message: str, told: str) -> _Words:
    """What is said in a message without the exceptions before it; `told` has them."""
    converting = _converting(message)
    compares = wrong(classed(report.symptom)) if report.symptom else says_wrong(told)
    tested = testcase.named(report.message, report.trace) if compares else testcase.NONE
    operator, spelled, masked = _operator(
        converting or testcase.operator_of(report.operator) or tested.operator, message
    )
    if converting and not spelled:  # its name is a word of messages as well
        masked = re.sub(rf"\b{re.escape(converting)}(?= (?:node|op|operator)\b)", "OP", masked, count=1)
    normal = worded(masked)
    if lacking := _lacking(normal):
        return _Words("", "", lacking, converting, compares, "", lacking=True)
    return _Words(operator, spelled, normal, converting, compares, tested.subject, lacking=False)


@lru_cache(maxsize=1 << 14)
def _lacking(normal: str) -> str:
    """What a normalised message says the machine lacks, "" where it does not."""
    found = rules().environment.search(normal)
    return found[0] if found else ""


@lru_cache(maxsize=1 << 14)
def _refuses(normal: str) -> bool:
    """Whether a normalised message says that the operator which it names is not supported."""
    return rules().refusal.search(normal) is not None


def of_python(name: str) -> bool:
    """Whether a frame's name is that of a function of Python."""
    return _OF_PYTHON.match(name) is not None


def _foreign(message: str) -> bool:
    """Whether only native code speaks so."""
    return _FOREIGN.match(message) is not None or ("error: " in message and _FOREIGN_BELOW.search(message) is not None)


def _clipped(text: str) -> bool:
    """Whether a text may have been clipped: to a round length, in tens or in powers of two, and in mid-sentence."""
    length = len(text)
    of_round = length % 10 == 0 or length & (length - 1) == 0 or length & (length + 1) == 0
    return length >= _SHORTEST_CLIPPED and of_round and text[-1] not in _CLOSING


def _frames_and_message(
    report: Report, order: Order, known: Trace | None
) -> tuple[tuple[Frame, ...], str, bool, tuple[str, ...]]:
    """The frames, innermost first, the message, whether the innermost frames are lost, and what is said besides."""
    trace = known or (traces.read(report.trace) if report.trace else Trace())
    words = unquoted(unfenced(unescaped(report.message)))
    message = words or trace.said
    if "\n" in words and (not report.trace or _TRACED.search(words)):
        inside = traces.read(words)  # some compilers, and some reporters, put the trace into the message
        if inside.frames:
            message = inside.closing or inside.text
            trace = _beside(trace, inside)
        elif not report.trace:
            message = _without_chatter(words)
    elif words and trace.said:
        message = whole(words, trace)
    plain = bool(trace.closing) or not (trace.frames or report.frames or report.operator)
    if trace.said and (_status(message) or _of_the_log(message, trace) or _titled(message, report.trace, plain=plain)):
        message = told_by(trace) or message
    if report.operator and " with a message:" in message:
        message = part(message, report.operator)  # what follows from it is in the same log
    given = report.frames[: -MOST_FRAMES - 1 : -1] if order.inner_last(report.frames) else report.frames[:MOST_FRAMES]
    cut = trace.cut or bool(trace.gap and not telling(trace.frames[: trace.gap]))
    titled = words and trace.said and _may_be_a_title(message, report.trace)
    beside = trace.said.splitlines()[:_MOST_BESIDE] if titled else ()
    return _together(given, trace.frames), message, cut and not report.frames, tuple(beside)


def _may_be_a_title(message: str, trace: str) -> bool:
    line = message.strip()
    return bool(trace) and 0 < len(line) < _LONGEST_TITLE and "\n" not in line and _absent(line, trace)


def _absent(message: str, trace: str) -> bool:
    """Whether a trace does not hold the first words of a message."""
    line = message.strip().partition("\n")[0]
    return line[:_HEAD] not in trace and prefixed(line)[0][:_HEAD] not in trace  # the first is quickly seen


def _status(message: str) -> bool:
    """Whether a message says no more than that a program gave up, which it has told the reason of itself."""
    return len(message) < _LONGEST_STATUS and hollow(said(message)) and _GAVE_UP.search(message) is not None


def _of_the_log(message: str, trace: Trace) -> bool:
    """Whether a message is a line of the log that tells nothing: code that ran, or what a runner says of itself."""
    line = message.strip()
    if not line or "\n" in line or len(line) > _LONGEST_TITLE:
        return False
    return rules().aside.fullmatch(line) is not None or any(
        isinstance(frame, PythonFrame) and frame.code.strip() == line for frame in trace.frames
    )


def _titled(message: str, trace: str, *, plain: bool) -> bool:
    """Whether a message is the title that a person wrote above a log, which does not hold its words: above a page of an
    issue, or where `plain`, since nothing else or an exception tells, in words without any sign of code."""
    line = message.strip().partition("\n")[0]
    if len(line) >= _LONGEST_TITLE or not _absent(line, trace):
        return False
    if plain and _may_be_a_title(message, trace) and not _CODE.search(message):
        return True
    return _ISSUE.search(trace) is not None


def _beside(trace: Trace, inside: Trace) -> Trace:
    """The trace with the native frames that its message tells, where it has none; without frames the message's."""
    if not trace.frames:
        return inside
    native = tuple(frame for frame in inside.frames if "::" in frame.function)
    if not native or any("::" in frame.function for frame in trace.frames):
        return trace
    return replace(trace, frames=(*native, *trace.frames))


def _without_chatter(message: str) -> str:
    """A message of several lines without those of a log that tell of no failure; unchanged where none is left."""
    chatter = rules().chatter
    lines = message.splitlines()
    bare = [line.strip() for line in trace_lines.lines(message)]
    bare = bare if len(bare) == len(lines) else [line.strip() for line in lines]
    told = "\n".join(line for line, said in zip(lines, bare, strict=True) if not chatter.match(said))
    return told if told.strip() else message


def _together(given: tuple[Frame, ...], traced: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames of a list and of a trace, innermost first: those of native code are further in."""
    if given and all(frame.file.endswith(".py") for frame in given):
        return (*traced, *given)
    return (*given, *traced)


def _symptom(told: str, exception: str, words: _Words) -> str:
    """What was noted, in small letters; a wrong result and a program that does not end are told by words as well."""
    if words.compares and not told:
        return "wrong result"
    noted, message = classed(told), words.normal
    if noted == "exception" and deadly(exception):
        return "crash"  # a signal is none
    if not noted and hollow(message) and late(message):
        return "hang"
    return noted or ("" if message else spoken_symptom(told))  # where nothing else is said, it tells


def _operator(given: str, message: str) -> tuple[str, str, str]:
    """(the operator, how the message spells it, "" where it does not name it, the message with OP in its place)."""
    operator = _of_several(given, message)
    if not operator:
        found = next((hit for pattern in rules().operators if (hit := pattern.search(message[:4_000]))), None)
        operator = found["operator"] if found else ""
    if len(operator) < 3 or operator.lower() in WORDS or not _may_name(message, operator):
        return operator, "", message
    pattern = _spelling(operator)
    found = pattern.search(message)
    if not found:
        return operator, "", message
    named = next((hit[0] for hit in pattern.finditer(message) if not _of_a_case(message, hit.start())), "")
    return operator, named, pattern.sub("OP", message[:64_000])


def _of_several(given: str, message: str) -> str:
    """The operator, where all of a model are noted the one that the message names; none where it names none of them."""
    if not (several := _LISTED.split(given))[1:]:
        return given
    return next((one for one in several if one and _may_name(message, one) and _spelling(one).search(message)), "")


def _converting(message: str) -> str:
    """The operator whose conversion or run a compiler's own words tell to have failed, "" where they do not."""
    begun = message[:_LONGEST_CONVERTING]
    for needs, pattern in rules().converting:
        if needs in begun and (found := pattern.search(begun)):
            return found["operator"]
    return ""


def _may_name(message: str, operator: str) -> bool:
    """Whether `_spelling` need search: False is sure, and quickly seen."""
    return not message.isascii() or operator.rpartition("::")[2].lower() in message.lower()


_CASE = re.compile(r"(?<![\w-])[a-z]{1,4}\d{3,8}-$")


def _of_a_case(message: str, at: int) -> bool:
    """Whether an operator is part of a case's name, which tells what was tried, not what is wrong: "c27113-pad"."""
    return _CASE.search(message[max(at - 16, 0) : at]) is not None


@lru_cache(maxsize=1 << 14)
def _spelling(operator: str) -> re.Pattern[str]:
    # Behind a slash it is part of a node's name.
    bare = operator.rpartition("::")[2]
    return re.compile(rf"(?<![\w./:])(?:\w+::)*{re.escape(bare)}(?:-\d+)?(?![\w])", re.IGNORECASE)
