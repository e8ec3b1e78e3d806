"""The telling part of a stack trace and of native output, for a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuzz.case import Frame
from triage.scrub import plain

MOST_FRAMES = 8

#: Frames of the machinery that runs the compiler, and of Python's own import system.
_NOT_TELLING = re.compile(
    r"(^|/)fuzz/(worker|jobs|instance_torch|backends/\w+)\.py$|<frozen importlib|(^|/)(contextlib|functools|runpy)\.py$"
)
#: Clock times and process numbers at the start of a native log line; they differ from run to run.
_STAMP = re.compile(r"^(?:\[?\d{4}-\d\d-\d\d[T ])?\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s*|\b[pt]id[ =:]*\d+")
#: Lines of a native stack dump that tell of the harness, not of the compiler.
_HARNESS = re.compile(r'File ".*fuzz/(backends/)?\w+\.py"|^Extension modules:')
#: What stands above Python's frames when it dies; alone where those were the worker's.
_HEADING = re.compile(r"(?:Stack|(?:Current t|T)hread .*) \(most recent call first\):")
#: A warning of Python's, and the line of code below it: they come with calls that succeed as well.
_WARNING = re.compile(r"^\S*\.py:\d+: \w*Warning: .*\n(?:[ \t]+\S.*(?:\n|\Z))?", re.MULTILINE)

#: Frames of the harness in a message, each with its line of code, and the heading under which nothing else stands.
_OWN_FILE = r"(?:[^\"\n]*/fuzz/(?:worker|jobs|instance_torch|backends/\w+)|instance_torch)\.py"
_OWN_FRAME = rf'[ \t]*File "{_OWN_FILE}", line \d+[^\n]*(?:\n[ \t]+(?!File ")\S[^\n]*)?(?:\n|\Z)'
_QUOTED = re.compile(
    rf"^(?:(?:Original traceback|from user code|Traceback \(most recent call last\)):?[ \t]*\n\s*(?:{_OWN_FRAME})+"
    rf'(?![ \t]*File ")|{_OWN_FRAME})',
    re.MULTILINE,
)


def telling_frames(frames: tuple[Frame, ...], most: int = MOST_FRAMES) -> list[str]:
    """The innermost frames of the compiler, as ``file:line in function``, repeats folded."""
    lines: list[str] = []
    for frame in frames:
        if not _NOT_TELLING.search(frame.file):
            lines.append(f"{frame.file}:{frame.line} in {frame.function}")
    folded = [f"{line}  (repeated {times} times)" if times > 1 else line for line, times in _runs(lines)]
    hidden = len(folded) - most
    return [f"... {hidden} outer frames", *folded[-most:]] if hidden > 0 else folded


def _runs(lines: list[str]) -> Iterator[tuple[str, int]]:
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at] != lines[start]:
            yield lines[start], at - start
            start = at


def native_lines(stderr: str) -> list[str]:
    """Native output without clock times, blank lines, Python's warnings and the worker's own frames."""
    told = _WARNING.sub("", plain(stderr))
    lines = (_STAMP.sub("", line).rstrip()[:300] for line in told.splitlines())
    kept = [line for line in lines if line.strip() and not _HARNESS.search(line)]
    return kept[:-1] if kept and _HEADING.fullmatch(kept[-1]) else kept


def without_harness(message: str) -> str:
    """A message without frames of what ran the compiler: the script that shows the bug has none of these files."""
    return _QUOTED.sub("", message)
