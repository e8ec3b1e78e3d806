"""Raw text of a trace -> frames, in whatever form a tool printed it. Pure.

Read are: tracebacks of Python and of faulthandler; frames of native code (`trace_native`), numbered ``#3``, ``3:``,
``frame #3:``, ``[bt] (3)`` or not at all, with ``at file:line`` behind them or on the next line; XLA's bare symbols
between ``*** Begin stack trace ***`` and its end; Julia's ``[1] f(x::Int)`` with ``@ Module file:line`` on the next
line; the forms of `trace_forms`; and any other line that is made as frames are (`trace_shapes`). What fits none of them
is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from fuzz.case import Frame
from triage import trace_chain, trace_forms, trace_lines, trace_shapes
from triage.fenced import unfenced
from triage.headline import headline
from triage.rules import rules
from triage.trace_native import NUMBERED, native, unnumbered
from triage.unescaped import unescaped

#: Of a longer trace, the beginning and the end are read: either may be the inner one.
_MOST = 60_000
_LONGEST_LINE = 1_500
_MOST_TEXT, _MOST_READ = 12, 400

_PYTHON = re.compile(r'File "(?P<file>[^"]+)"(?:, line (?P<line>\d+)|(?=, in ))(?:(?P<comma>,)? in (?P<function>.+))?')
#: What TVM calls the file of native code that it knows no better.
_NO_FILE = "<unknown>"
#: gdb goes on with a frame's long arguments on lines of their own.
_ARGUMENTS = re.compile(r"(?:__args#\d+|__closure|__functor|this|[a-z]\w*)=\S[^=]*(?:=[^=]*)*\) at \S+:\d+$")
#: What the line of a numbered frame may begin with.
_BEFORE_NUMBER = frozenset("*f#[0123456789")
#: Open MPI and Boost number from nought; behind a number without a sign stand a library and an address.
_NUMBERED_TOO = re.compile(r"(?:\[ *(\d+)\]|(\d+)#|(\d+)(?= +\S+\s+0x[0-9a-fA-F]+ ))\s+(\S.*)")
_LISTING = re.compile(r"\*{3} (?:(?P<begin>Begin)|End|Check failure) stack trace:? \*{3}")
#: What stands above symbols that nothing else marks: of ONNX Runtime's checks, of py-spy, of runners.
_HEADING = re.compile(
    r"(?:(?:native|c\+\+) )?(?:stack|back) ?trace:?$|native stack:?$|(?P<spied>Thread \d+ \((?:active|idle)[^)]*\))",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"(?:at )?(?P<symbol>[A-Za-z_~(][^\s(]*::[^\s(]+(?: ?\(.*\)(?: const)?)?)(?: \(\))?$")
_PLACED = re.compile(r"(?P<function>\S.*?) \((?P<file>[^\s():]+\.[A-Za-z]{1,5}|<[^<>\s]+>)(?::(?P<line>\d+))?\)$")
_AT = re.compile(r"at (?:(?P<function>\S.*?) \()?(?P<file>[^\s()]+?):(?P<line>\d+)(?::\d+)?\)?$")
_JULIA_PLACE = re.compile(r"@ [\w.]+ (?P<file>\S+?):(?P<line>\d+)$")
_CUT = re.compile(
    r"\.\.\.|…|[\[<(](?:\.\.\. ?)?(?:\w+ ){0,3}(?:truncated|snip(?:ped)?|omitted|cut|elided)", re.IGNORECASE
)
_ARROW = re.compile(r"-{2,}> *(?P<line>\d{1,7}) (?P<code>.*\S)")
_FINAL = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: .*|(?<=Error):|(?<=Exception):)?$")
_BEGINS = ("Traceback (most recent", "Current thread", "Thread 0x")
#: Rust's chain of reasons, which goes without numbers where there is one.
_REASON = re.compile(r"\d+: (?!.*::\w+$)")
_SIGNAL = "<signal handler called>"
#: What a logger puts before a place, which is no frame then.
_LEVEL = re.compile(r"[IWVE]\d{0,4} |\[")
_LEVELS = frozenset("IWVE[")


@dataclass(frozen=True)
class PythonFrame(Frame):
    """A frame of Python and the line of code that was running there, "" where the trace does not print it."""

    code: str = ""


@dataclass(frozen=True)
class Trace:
    """What a trace holds: frames innermost first, lines that are no frames, and whether the innermost are lost.

    `said` is the part of the text that tells what failed; `closing` begins with the line that ends a traceback of
    Python, "" where there is none. `gap` is how many of the innermost frames stand before the first that are left out,
    0 where none are.
    """

    frames: tuple[Frame, ...] = ()
    text: str = ""
    cut: bool = False
    said: str = ""
    closing: str = ""
    gap: int = 0


@dataclass
class _Reading:
    """The frames found so far: sections of Python frames, runs of numbered native ones, as they were printed."""

    python: list[list[PythonFrame]] = field(default_factory=lambda: [[]])
    links: list[str] = field(default_factory=lambda: [""])  # how each section follows from the one before
    link: str = ""  # how the next one will
    headed: bool = False  # bare symbols are frames
    spied: bool = False  # and those of Python are innermost first, too
    caused: bool = False  # the runs are exceptions of Java, each the cause of the one before
    native: list[dict[int, Frame]] = field(default_factory=lambda: [{}])
    text: list[str] = field(default_factory=list)
    final: int = -1  # the line of text with which the last Python traceback ended
    first_calls: bool = False  # faulthandler: the most recent call first
    current: int = 0  # the section of the thread that died
    ended: bool = True  # the Python traceback came to its final line
    bare: bool = False  # the last line was a frame of Python, whose code may follow
    asserting: bool = False  # frames and code as pytest shows them: an exception follows, if not a bare assertion
    lone: Frame | None = None  # the last line was nothing but a place, and is text unless another follows
    listing: bool = False  # indented lines are symbols
    reasons: bool = False  # numbered lines are reasons, each for the one before, and not frames
    skipped: bool = False  # frames are left out here
    dumped: bool = False  # LLVM printed the stack
    aside: bool = False  # what follows shows the traced program rather than the compiler's calls


def read(raw: str) -> Trace:
    """The frames and the other lines of a trace."""
    raw = unfenced(unescaped(raw))
    if len(raw) > 2 * _MOST:
        raw = f"{raw[:_MOST]}\n{raw[-_MOST:]}"
    reading = _Reading()
    for line in trace_lines.lines(raw):
        stripped = line.strip()
        if stripped:
            _take(reading, stripped[:_LONGEST_LINE], line[:1].isspace())
    return _finished(reading)


def _take(reading: _Reading, line: str, indented: bool) -> None:
    """One line: a frame, or text."""
    bare, reading.bare = reading.bare, False
    lone, reading.lone = reading.lone, None
    if reading.aside and not line.startswith(_BEGINS):
        return
    if line.startswith('File "') and (found := _PYTHON.match(line)):
        function = found["function"] or ""
        reading.first_calls |= bool(function) and not found["comma"]
        file = "" if found["file"] == _NO_FILE and "::" in function else found["file"]
        reading.python[-1].append(PythonFrame(file, int(found["line"] or 0), function))
        reading.ended = False
        reading.bare = True
        return
    if bare and indented and not NUMBERED.match(line):
        last = reading.python[-1][-1]
        reading.python[-1][-1] = PythonFrame(last.file, last.line, last.function, line)
        reading.asserting = reading.ended
        return
    if line.startswith(_BEGINS):
        reading.aside = False
        if reading.python[-1]:
            within = line.startswith("Traceback") and not reading.ended
            reading.python.append([])
            reading.links.append(reading.link or (trace_chain.WITHIN if within else ""))
        reading.link = ""
        if line.startswith("Current"):
            reading.current = len(reading.python) - 1
        return
    reading.reasons = line == "Caused by:" or (reading.reasons and _REASON.match(line) is not None)
    if reading.reasons:
        reading.text.append(line)
        return
    if line[0] in _BEFORE_NUMBER and (numbered := NUMBERED.match(line)) and not _is_text(numbered, indented):
        number = int((numbered[1] or numbered[2] or numbered[3] or numbered[4])[:9])
        number -= int(numbered[4] is not None)  # Julia begins with 1
        if number in reading.native[-1]:
            reading.native.append({})
        reading.native[-1][number] = native(numbered[5])
        return
    if indented and reading.listing:
        reading.native[-1][_next(reading)] = native(line)
        return
    if (reading.spied and _spied(reading, line)) or _headed(reading, line):
        return
    if line[0] in ".…[<(" and _CUT.match(line):
        reading.skipped = True
    reading.dumped |= line.startswith(_DUMPED)
    if line[0] in _LEVELS and _LEVEL.match(line) and rules().chatter.match(line):
        return
    if _other(reading, line) or _chained(reading, line):
        return
    if line.startswith("--") and _pointed_at(reading, line):
        return
    if rules().chatter.match(line) and not _raised(reading, line, indented):
        return
    if rules().end.match(line):
        reading.aside = reading.ended = True
        return
    if _shaped(reading, line, lone):
        return
    if reading.headed and (found := _SYMBOL.match(line)) and _listed(reading, native(found["symbol"])):
        return
    if not indented:
        if (reading.asserting or (not reading.ended and reading.python[-1])) and _FINAL.match(line):
            reading.final = len(reading.text)
            reading.asserting = False
        reading.ended |= _FINAL.match(line) is not None
    if not (indented and reading.python[-1] and not reading.ended) and len(reading.text) < _MOST_READ:
        reading.text.append(line)


def _raised(reading: _Reading, line: str, indented: bool) -> bool:
    """Whether a line ends a traceback, as the exception that was raised: a warning may be one."""
    return not reading.ended and bool(reading.python[-1]) and not indented and _FINAL.match(line) is not None


def _headed(reading: _Reading, line: str) -> bool:
    """Whether a line says that what follows is a list of frames, which nothing else marks."""
    heading = _HEADING.match(line) if line[-1] in ':"' else None
    if heading is None:
        return False
    reading.headed, reading.spied = True, heading["spied"] is not None
    if reading.spied and reading.native[-1]:
        reading.native.append({})
    return True


def _spied(reading: _Reading, line: str) -> bool:
    """Whether a line is a frame of py-spy with its place: those without are told as symbols are."""
    found = _PLACED.match(line)
    return found is not None and _listed(
        reading, Frame(found["file"], int((found["line"] or "0")[:9]), found["function"])
    )


def _listed(reading: _Reading, frame: Frame | None) -> bool:
    """Take a frame of such a list, innermost first: of py-spy's those of Python as well. Whether there was one."""
    if frame is None:
        return False
    reading.native[-1][_next(reading)] = frame
    return True


def _pointed_at(reading: _Reading, line: str) -> bool:
    """Whether a notebook shows by an arrow the line of code that was running in the frame above, which it is given."""
    found, section = _ARROW.match(line), reading.python[-1]
    if not found or not section or section[-1].code or section[-1].line != int(found["line"]):
        return False
    section[-1] = PythonFrame(section[-1].file, section[-1].line, section[-1].function, found["code"].strip())
    return True


def _next(reading: _Reading) -> int:
    """The number of a frame that bears none: where some were left out before it, not the very next one."""
    number = max(reading.native[-1], default=-1) + 1 + reading.skipped
    reading.skipped = False
    return number


def _is_text(numbered: re.Match[str], indented: bool) -> bool:
    """Whether "12: foo" is a line of text rather than a frame: bare numbers are frames only when indented."""
    return (numbered[3] or numbered[4]) is not None and not indented


def _chained(reading: _Reading, line: str) -> bool:
    """Whether a line only says how what follows belongs to what went before."""
    if kind := trace_chain.link(line):
        reading.link = kind
        return True
    if line.startswith("Caused by: ") and reading.native[-1]:
        reading.native.append({})
        reading.caused = True
    return False


def _shaped(reading: _Reading, line: str, lone: Frame | None) -> bool:
    """A frame in no known form. Python's are printed in its own order; a single bare place is no frame."""
    frame = trace_shapes.frame(line)
    if frame is None:
        return False
    run = reading.native[-1]
    if frame.file.endswith((".py", ".pyx")):
        reading.python[-1].append(PythonFrame(frame.file, frame.line, frame.function))
        reading.bare = line.endswith(f": in {frame.function}")  # pytest's, which prints the code below
    elif frame.function or run or lone:
        if lone and not frame.function and reading.text:
            reading.text.pop()
            run[_next(reading)] = lone
        run[_next(reading)] = frame
    else:
        reading.lone = frame
        return False
    return True


def _other(reading: _Reading, line: str) -> bool:
    """A frame without a number, or the second line of one."""
    run = reading.native[-1]
    if line.startswith("***") and (listing := _LISTING.match(line)):
        reading.listing = bool(listing["begin"])
        return True
    if line.startswith("@") and run and (found := _JULIA_PLACE.match(line)):
        latest = next(reversed(run))
        run[latest] = Frame(found["file"], int(found["line"]), run[latest].function)
        return True
    if frame := _formed(reading, line):
        run[_next(reading)] = frame
        return True
    if run and line[-1:].isdigit() and _ARGUMENTS.match(line):
        return True
    if line.startswith("at ") and (found := _AT.match(line)):
        last = next(reversed(run), None)
        if last is not None and not found["function"] and not run[last].file:
            run[last] = Frame(found["file"], int(found["line"]), run[last].function)
        else:
            run[_next(reading)] = Frame(found["file"], int(found["line"]), found["function"] or "")
        return True
    if frame := unnumbered(line):
        run[_next(reading)] = frame
        return True
    if line[0] in "[0123456789" and ("0x" in line or "# " in line) and (found := _NUMBERED_TOO.match(line)):
        run[_next(reading)] = trace_shapes.frame(line) or native(found[4])
        return True
    return False


def _formed(reading: _Reading, line: str) -> Frame | None:
    """A frame in one of the forms of `trace_forms`."""
    if line.startswith(("@", "at ", "by ")):
        if symbol := trace_forms.symbol(line):
            return native(symbol)
        return trace_forms.java(line)
    if line.startswith("//"):
        return trace_forms.failed_pass(line)
    found = trace_forms.go(line, reading.text[-1]) if reading.text and ".go:" in line else None
    if found:
        reading.text.pop()  # the call, which was taken for text
    return found


#: How LLVM's dump of a stack begins; so many frames of its own handler go first, which runners leave out.
_DUMPED = ("Stack dump:", "Stack dump without symbol names")
_OF_THE_HANDLER = 5


def _finished(reading: _Reading) -> Trace:
    runs = [run for run in reading.native if run]
    run = _crashed(runs)
    lost = bool(run) and min(run) > (_OF_THE_HANDLER if reading.dumped else 0)
    numbers = sorted(run)
    inner = list(_below_the_handler([run[number] for number in numbers]))
    before = next((at for at, number in enumerate(numbers) if number != numbers[0] + at), 0)
    gap = max(before - (len(numbers) - len(inner)), 0)
    if reading.caused:
        inner = [each[number] for each in reversed(runs) for number in sorted(each)]
    section: Sequence[Frame] = reading.python[reading.current]
    if reading.first_calls:
        section = [*_native(reading), *section]
    else:
        section = trace_chain.ordered(reading.python, reading.links)
        lost |= bool(section) and not run and not reading.ended
    cut_first = bool(reading.text) and bool(_CUT.match(reading.text[0])) and bool(run)
    text = "\n".join(reading.text[:_MOST_TEXT])
    said = headline(reading.text, reading.final)
    return Trace((*inner, *section), text, lost or cut_first, said, said if reading.final >= 0 else "", gap)


def _native(reading: _Reading) -> Iterator[Frame]:
    """The frames of native code, innermost first, that stand among Python's before faulthandler says where that was."""
    for at, section in enumerate(reading.python):
        if at != reading.current:
            yield from (frame for frame in reversed(section) if "::" in frame.function)


def _crashed(runs: list[dict[int, Frame]]) -> dict[int, Frame]:
    """Of several threads the one that died: a signal reached it, or it called abort; else the first."""
    for run in runs:
        if any(
            _SIGNAL in frame.function or "abort" in frame.function or "raise" in frame.function
            for frame in run.values()
        ):
            return run
    return runs[0] if runs else {}


def _below_the_handler(found: list[Frame]) -> Iterator[Frame]:
    """The frames that ran before the signal handler was called."""
    calls = [at for at, frame in enumerate(found) if _SIGNAL in frame.function]
    return islice(found, calls[-1] + 1 if calls else 0, None)
