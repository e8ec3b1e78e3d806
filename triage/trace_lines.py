"""The lines of a raw trace without what a logger, a launcher or a terminal put before each of them. Pure.

Stripped are colours; the indentation and the quoting that all lines have; clock times with severity and process; and
whatever else most lines of a trace begin with alike, numbers aside, if it ends as a prefix does: ``[rank0]: ``,
``worker-1 | ``, ``(pid=12) ``, ``[host:12] ``, the bar of an exception group. Lines that a terminal broke are put
together, boxes and links taken away.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from triage.scrub import plain

#: A prefix is read this far, and shared by so many lines, which are this part of all.
_LONGEST, _LEAST, _MOST_OF = 80, 3, 0.6
#: So many lines are quoted where some are.
_QUOTED = 0.4
#: Lines of a longer trace that are looked at for a prefix.
_LOOKED_AT = 200

#: What a line begins with that may have a process or a clock time before it.
_MARKED = frozenset("=[#012IWEF")
_PROCESS = re.compile(r"==\d+== ?")
_DIGITS = re.compile(r"\d+")
#: What pytest puts before the words of an exception.
_ASSERTED = re.compile(r"E {2,12}(?=\S)|E {0,12}$")
_STAMP = re.compile(
    r"(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (?=\S+:\d+\])"  # glog, Abseil
    r"|\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4})[T -]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? ?"
    r"(?:(?:ERROR|CRITICAL|FATAL) (?=[ \tA-Za-z#@]))?"
    r"(?:std(?:out|err) [FP] )?"  # containers
    r"|#\d+ \d+\.\d{1,3} "  # the steps of a build
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? "
    rf"|{_ASSERTED.pattern}"
    r"|\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ [VDIWEF] [^:]*: )"  # Android
)
#: What glog writes that is no error keeps its level, by which it is told.
_LOGGED = re.compile(r"[IW]\d{4} \d\d:\d\d:\d\d\.")
#: A place that a notebook made a link of.
_LINK = re.compile(r"\[(?P<place>[^\[\]\n]+:\d+)\]\(https?://[^()\n]*\)")
#: The box that Rich draws around a traceback, and the program's lines in it.
_BOX = re.compile(r"^[ \t]*[│┃] ?|[ \t]*[│┃][ \t]*$", re.MULTILINE)
_DRAWN = re.compile(r"^[ \t]*[╭╰┏┗][─━][^\n]*(?:\n|\Z)|^[ \t]*(?:❱ *)?\d+ [│┃][^\n]*(?:\n|\Z)", re.MULTILINE)
#: Where a prefix may end, and what cannot be one: the marks of frames.
_END = re.compile(r"(?:[:|\])]|\+-+) ")
_NO_PREFIX = re.compile(
    r"#|@|\bat\b|\bin\b|File|\[bt\]|(?<!\w)\[ ?7\]|^\(?7[):]|0x|!|::|Error|^\w+: |[/\\](?!.*:7\] $)"
)
#: What all lines may begin with, the same number included: quoting, the number of a test, a name in brackets.
_SAME = re.compile(r"(?:[>|:]|\d+:|\[[^\[\]]{1,40}\]:?|[\w.-]{1,40} *\|) ")
#: A text of which each line is indented may be a list of frames, which are; and what begins a line of its own.
_OF_FRAMES = re.compile(r"[@#]|at |by |\d+:? |File \"")
_BEGINS = re.compile(r"\s*(?:[@#]\S|at |by |\d+: |\[bt\]|File \"|Traceback|$)")
#: Terminals are so many columns wide at least, and nearly all in tens.
_NARROWEST, _WIDTHS = 60, (72, 132)
#: Lines that begin so are frames, or go on from the line before, unless it is the bar of an exception group.
_MARKS, _BARS = frozenset("#@ \t"), ("| ", "+ ")


def lines(raw: str) -> list[str]:
    """The lines of a trace, bare. Only what stands before them is gone; their indentation is kept."""
    if "\x1b" in raw or "\r" in raw:
        raw = plain(raw)
    if "](http" in raw:
        raw = _LINK.sub(r"\g<place>", raw)
    if "│" in raw or "┃" in raw:
        raw = _DRAWN.sub("", _BOX.sub("", raw))
    found = [_unmarked(line) if line[:1] in _MARKED else line for line in _unquoted(_answered(raw.splitlines()))]
    prefix = _common(found)
    return _unbroken([_unmarked(_without(line, prefix)) for line in found] if prefix else found)


def _answered(found: list[str]) -> list[str]:
    """Lines without the sign of quoting that many of them have, whoever wrote the others."""
    if sum(line.startswith("> ") for line in found) < max(_LEAST, _QUOTED * len(found)):
        return found
    return [line[2:] if line.startswith("> ") else line for line in found]


def _unquoted(found: list[str]) -> list[str]:
    """Lines without the indentation and the quoting that all of them have, but for blank ones."""
    if len(found) < _LEAST or (found[0] and found[-1] and found[0][0] != found[-1][0]):
        return found  # quickly seen
    told = [line for line in found if line and not line.isspace()]
    if len(told) < _LEAST:
        return found
    first, last = min(told), max(told)
    common = first[
        : next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    ]
    at = 0
    while part := _SAME.match(common, at):
        if _NO_PREFIX.search(part[0]) and not part[0][0].isdigit():
            break
        at = part.end()
    indented = len(common) - len(common[at:].lstrip(" \t"))
    if indented > at and not _OF_FRAMES.match(told[0], indented):
        at = indented
    return [line[at:] for line in found] if at else found


def _unbroken(found: list[str]) -> list[str]:
    """Lines with those put together that a terminal broke at its last column."""
    width = max(map(len, found), default=0)
    if width < _NARROWEST or (width % 10 and width not in _WIDTHS):
        return found
    if len({line for line in found if len(line) == width}) < 2:
        return found
    whole: list[str] = []
    broken = False
    for line in found:
        if broken and not _BEGINS.match(line):
            whole[-1] += line
        else:
            whole.append(line)
        broken = len(line) == width
    return whole


def _unmarked(line: str) -> str:
    """A line without the number of the process, which Valgrind and the sanitizers put before it, or a clock time."""
    if line.startswith("=="):
        return _PROCESS.sub("", line, count=1)
    found = _STAMP.match(line)
    if found is None or _LOGGED.match(line):
        return line
    rest = line[found.end() :]
    asserted = _ASSERTED.match(rest) if rest[:1] == "E" else None  # a stamped line of pytest's
    return rest[asserted.end() :] if asserted else rest


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
    """The line behind the prefix, wherever its numbers end; nothing of one that is no more than the prefix."""
    at = 0
    for number, sign in enumerate(prefix):
        if at == len(line):
            return line if prefix[number:].strip() else ""
        if sign == "7" and line[at].isdigit():
            while at < len(line) and line[at].isdigit():
                at += 1
        elif line[at] == sign:
            at += 1
        else:
            return line
    return line[at:]
