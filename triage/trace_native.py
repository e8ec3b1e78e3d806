"""One frame of native code as tools write it, with or without a number before it. Pure.

gdb, lldb, the sanitizers, PyTorch, TVM and Rust (``0x7f… in ns::f (x=1) at file.cc:12``); glibc's
``library(symbol+0x1a) [0x7f...]``; those of Windows (`trace_windows`).
"""

from __future__ import annotations

import re

from fuzz.case import Frame
from triage import trace_shapes
from triage.trace_windows import windows

#: A numbered frame: the number is in the first group that matched of four, the frame in the fifth.
NUMBERED = re.compile(r"(?:\* )?(?:frame )?(?:#(\d+):?|\[bt\] \((\d+)\)|(\d+):|\[(\d+)\])\s+(\S.*)")

_ADDRESS = re.compile(r"^0x[0-9a-fA-F]+ (?:in |- )?")
#: Where only an address, or a library and an offset, is known of a frame.
_NOWHERE = re.compile(r"0x[0-9a-fA-F]+|\([^()]*\+0x[0-9a-fA-F]+\)(?: \[0x[0-9a-fA-F]+\])?|\(unknown\)")
#: Where a library and an offset are known and no symbol.
_STRIPPED = re.compile(
    r"\(?(?P<library>[^\s()\[\]]+\.(?:so(?:\.\d+)*|dylib|dll|pyd))\(?(?P<offset>\+0x[0-9a-fA-F]+)\)?"
    r"(?: ?\[0x[0-9a-fA-F]+\])?(?: \(BuildId: \w+\))?$"
    r"|pc (?P<offset2>[0-9a-f]{6,16}) +(?P<library2>\S+\.so)(?: \(BuildId: \w+\))?$"
)
_PLACE = re.compile(
    r"[(\[]?(?P<file>[^\s()\[\]:]+\.[A-Za-z]{1,5}|[A-Za-z]:[^\s()\[\]:]+):(?P<line>\d+)(?::\d+)?[)\]]?$"
)
_BEFORE_PLACE = re.compile(r" (?:at|in)$")
_LIBRARY = re.compile(
    r" from \S+$| [^\s()]*/[^\s()]+\+0x[0-9a-f]+$"
    r"| \((?:0x[0-9a-f]+ in )?[^()]*(?:\+0x[0-9a-f]+|\.so[.\d]*)\)(?: \(BuildId: \w+\))?$"
)
_OFFSET = re.compile(r" \+ (?:0x[0-9a-f]+|\d+)(?: \(.*)?$")
_GLIBC = re.compile(
    r"(?P<library>[^\s()\[\]]+)\((?P<symbol>[^()\s]*?)(?:\+0x[0-9a-fA-F]+)?\)(?: ?\[0x[0-9a-fA-F]+\])?$"
)
#: The same with the symbol demangled, arguments and all, as older versions of TVM and MXNet print it.
_DEMANGLED = re.compile(
    r"(?P<library>[^\s()]+\.so[\d.]*)\((?P<symbol>\S.*)\+0x[0-9a-fA-F]+\)(?: ?\[0x[0-9a-fA-F]+\])?$"
)
#: What lldb puts before a function.
_MODULE = re.compile(r"^[^\s`]+`")


def stripped(text: str) -> Frame | None:
    """A frame of which no more than the offset in its library is known, which is its function; None for others."""
    found = _STRIPPED.match(text) if "+0x" in text or text.startswith("pc ") else None
    if found is None:
        return None
    offset = found["offset"] or f"+0x{found['offset2'].lstrip('0')}"
    return Frame(found["library"] or found["library2"], 0, offset)


def native(text: str) -> Frame:
    """One native frame without its number."""
    if text.startswith("pc ") and (frame := stripped(text) or trace_shapes.frame(text)):
        return frame  # Android
    if text.startswith("0x"):
        text = _ADDRESS.sub("", text).lstrip()
    if frame := stripped(text):
        return frame
    if "`" in text:
        text = _MODULE.sub("", text)
    if _NOWHERE.fullmatch(text):
        return Frame("", 0, "")
    before, _, last = text.rpartition(" ")
    place = _PLACE.match(last) if before else None
    if place:
        text = _BEFORE_PLACE.sub("", before)
    elif text.endswith(")") or " from " in text or "+0x" in last:
        text = _LIBRARY.sub("", text)
    if " + " in text:
        text = _OFFSET.sub("", text)
    glibc = (_GLIBC.match(text) or _DEMANGLED.match(text)) if text.endswith((")", "]")) and "+0x" in text else None
    if glibc:
        text = glibc["symbol"]
    elif " (" in text and not text.startswith("(") and "(anonymous" not in text:
        text = text.partition(" (")[0]  # gdb: the values of the arguments
    return Frame(place["file"], int(place["line"][:9]), text) if place else Frame("", 0, text)


def unnumbered(line: str) -> Frame | None:
    """A frame as glibc or Windows writes it without any mark; None where a line is none."""
    if (
        line.endswith((")", "]"))
        and ("+0x" in line or "[0x" in line)
        and (found := _GLIBC.match(line) or _DEMANGLED.match(line))
    ):
        return stripped(line) or Frame(found["library"], 0, found["symbol"])
    return windows(line) if "!" in line else None
