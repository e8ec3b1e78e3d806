"""Frames of traces whose lines bear no number: of logging libraries, Valgrind, and other languages. Pure.

Read are glog's and Abseil's ``@ 0x7f… symbol``, Valgrind's ``at 0x4C: f(int) (file.c:12)`` and ``by 0x4D: …``, Java's
``at package.Class.method(File.java:12)``, and Go's two lines, ``package.function(0xc0…)`` and ``/file.go:12 +0x1d``.
"""

from __future__ import annotations

import re

from fuzz.case import Frame

_AT_ADDRESS = re.compile(r"@ +0x[0-9a-fA-F]+ +(?:\d+ +)?(?P<symbol>\S.*)")
_VALGRIND = re.compile(r"(?:at|by) 0x[0-9A-F]+: (?P<symbol>\S.*)")
_JAVA = re.compile(
    r"at (?:[\w.@-]+/)?(?P<function>[\w.$<>]+)"
    r"\((?:(?P<file>[\w.]+\.(?:java|kt|scala|groovy)):(?P<line>\d+)|Native Method)\)$"
)
_GO_PLACE = re.compile(r"(?P<file>\S+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
_GO_CALL = re.compile(r"(?:created by )?(?P<function>[\w./()*~\[\]-]*\.[\w()*.\[\]]+?)(?:\((?:[^()]|\.\.\.)*\))?$")

#: What MLIR prints above the program that a pass left behind.
_PASS = re.compile(r"// -+// IR Dump After (?P<name>\w+) Failed\b")


def symbol(line: str) -> str:
    """What stands behind the address of a frame that glog, Abseil or Valgrind printed, "" in other lines."""
    found = _AT_ADDRESS.match(line) or _VALGRIND.match(line)
    return found["symbol"] if found else ""


def java(line: str) -> Frame | None:
    """A frame of Java or a language beside it; None for other lines."""
    found = _JAVA.match(line)
    return Frame(found["file"] or "", int(found["line"] or 0), found["function"]) if found else None


def go(line: str, before: str) -> Frame | None:
    """A frame of Go from the line of its place and the line before that, which names the call; None for other lines."""
    place = _GO_PLACE.match(line)
    call = _GO_CALL.match(before) if place else None
    if place is None or call is None:
        return None
    return Frame(place["file"], int(place["line"]), re.sub(r"[()*]", "", call["function"]))


def failed_pass(line: str) -> Frame | None:
    """The pass of an MLIR compiler that a line says to have failed, as the method that ran; None for other lines."""
    found = _PASS.match(line)
    return Frame("", 0, f"{found['name']}::runOnOperation") if found else None
