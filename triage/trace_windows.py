"""A frame of native code as Windows' tools write it: ``module!function`` and what stands around it. Pure.

cdb and WinDbg (``k`` and the STACK_TEXT of ``!analyze``), Breakpad's ``minidump_stackwalk``, Visual Studio.
"""

from __future__ import annotations

import re

from fuzz.case import Frame

_FRAME = re.compile(
    r">?[ \t]{0,8}(?:\[Inline Frame\] )?(?:\d{1,3} {1,8})?"  # where the program stands, the number of a frame
    r"(?:[0-9a-f]{1,3} )?(?:(?:\(Inline(?: Function)?\) |[0-9a-f`-]{8,17} )[0-9a-f`-]{8,17} {1,8})?"  # stack and return
    r"(?:: (?:[0-9a-f`]{8,17} ){0,5}(?: {0,8}: )?)? {0,8}"  # arguments
    r"(?P<module>[\w.-]+)!(?!=)(?P<function>(?:[^+\[]|operator(?:\[\]|\+[+=]?)|\[\d*\])+?)"
    r"(?:(?P<offset>\+0x[0-9a-fA-F]+)|(?P<language>\s+(?:Unknown|C\+\+|C#|C)))?"
    r"(?: \[(?P<file>[^\[\]]+?) (?P<sign>[@:]) (?P<line>\d{1,9})(?: \+ 0x[0-9a-fA-F]+)?\])?"
    r"(?: Line (?P<line2>\d{1,9}))?(?: \+ 0x[0-9a-fA-F]+(?: bytes)?)?(?:\s+(?:Unknown|C\+\+|C#|C))?$"
)
#: A module whose name says that it is one.
_NAMED = re.compile(r"\.(?:dll|exe|pyd|so[\d.]*)$")
_BRACKETS = re.compile(r"\([^()]*\)|<[^<>]*>|`[^`']*'")
_ADDRESS = re.compile(r"[0-9a-f`]{8,}(?:\(\))?")


def windows(text: str) -> Frame | None:
    """The frame that a line shows; None for others, and for one of which no more than an address is known."""
    found = _FRAME.match(text)
    if found is None or not (found["offset"] or found["sign"] == "@" or _NAMED.search(found["module"])):
        return None
    function = found["function"].strip()
    if _ADDRESS.fullmatch(function) or not _is_name(function):
        return None
    file = (found["file"] or "").replace("\\", "/")
    return Frame(file, int(found["line"] or found["line2"] or 0), function)


def _is_name(function: str) -> bool:
    """Whether it is one word, but for what stands in brackets and what an operator is called."""
    while (bare := _BRACKETS.sub("", function)) != function:
        function = bare
    return " " not in function.partition("operator")[0].strip()
