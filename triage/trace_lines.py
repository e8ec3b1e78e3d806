"""The lines of a raw trace without what a logger, a launcher or a terminal put before each of them. Pure.

Stripped are colours; clock times with severity and process; and whatever else most lines of a trace begin with alike,
numbers aside, if it ends as a prefix does: ``[rank0]: ``, ``worker-1 | ``, ``(pid=12) ``, ``[host:12] ``, the bar of an
exception group.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from triage.scrub import plain

#: A prefix is read this far, and shared by so many lines, which are this part of all.
_LONGEST, _LEAST, _MOST_OF = 80, 3, 0.6
#: Lines of a longer trace that are looked at for a prefix.
_LOOKED_AT = 200

#: What a line begins with that may have a process or a clock time before it.
_MARKED = frozenset("=[012IWEF")
_PROCESS = re.compile(r"==\d+== ?")
_DIGITS = re.compile(r"\d+")
_STAMP = re.compile(
    r"(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (?=\S+:\d+\])"  # glog, Abseil
    r"|\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4})[T -]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? ?"
    r"|\[\d\d:\d\d:\d\d(?:\.\d+)?\] "
    r"|E {2,6}(?=\S)"  # pytest
    r"|\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ [VDIWEF] [^:]*: )"  # Android
)
#: Where a prefix may end, and what cannot be one: the marks of frames.
_END = re.compile(r"(?:[:|\])]|\+-+) ")
_NO_PREFIX = re.compile(r"#|@|\bat\b|\bin\b|File|\[bt\]|\[ ?7\]|^\(?7[):]|0x|!|::|Error|^\w+: |[/\\](?!.*:7\] $)")
#: Lines that begin so are frames, or go on from the line before, unless it is the bar of an exception group.
_MARKS, _BARS = frozenset("#@ \t"), ("| ", "+ ")


def lines(raw: str) -> list[str]:
    """The lines of a trace, bare. Only what stands before them is gone; their indentation is kept."""
    if "\x1b" in raw or "\r" in raw:
        raw = plain(raw)
    found = [_unmarked(line) if line[:1] in _MARKED else line for line in raw.splitlines()]
    prefix = _common(found)
    return [_without(line, prefix) for line in found] if prefix else found


def _unmarked(line: str) -> str:
    """A line without the number of the process, which Valgrind and the sanitizers put before it, or a clock time."""
    if line.startswith("=="):
        return _PROCESS.sub("", line, count=1)
    found = _STAMP.match(line)
    return line[found.end() :] if found else line


def _common(found: Sequence[str]) -> str:
    """What most lines begin with, each number as 7; "" where nothing is common."""
    told = [line for line in found[:_LOOKED_AT] if line and not line.isspace()]
    least = max(_LEAST, _MOST_OF * len(told))
    marked = [line for line in told if line[0] not in _MARKS or line.lstrip(" ").startswith(_BARS)]
    if len(marked) < least or not _begin_alike(told, marked, least):
        return ""
    counts: Counter[str] = Counter()
    for line in marked:
        begun = _levelled(line)
        counts.update({begun[: end.end()] for end in _END.finditer(begun)})
    usual = [prefix for prefix, count in counts.items() if count >= least and not _NO_PREFIX.search(prefix)]
    return max(usual, key=len, default="")


def _begin_alike(told: Sequence[str], marked: Sequence[str], least: float) -> bool:
    """Whether as many lines begin with the two characters of a marked one: quicker seen than what they share."""
    heads = [line[:2] for line in told]
    return any(heads.count(head) >= least for head in {line[:2] for line in marked})


def _levelled(line: str) -> str:
    return _DIGITS.sub("7", line[:_LONGEST])


def _without(line: str, prefix: str) -> str:
    """The line behind the prefix, wherever its numbers end."""
    at = 0
    for sign in prefix:
        if at == len(line):
            return line
        if sign == "7" and line[at].isdigit():
            while at < len(line) and line[at].isdigit():
                at += 1
        elif line[at] == sign:
            at += 1
        else:
            return line
    return line[at:]
