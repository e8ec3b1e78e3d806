"""A frame of native code as Windows' tools write it: ``module!function`` and what stands around it. Pure.

cdb and WinDbg (``k`` and the STACK_TEXT of ``!analyze``), Breakpad's ``minidump_stackwalk``, Visual Studio.
"""

from __future__ import annotations

import re

from fuzz.case import Frame

_FRAME = re.compile(
    r"(?:\d{1,3} +)?"  # the number of a frame
    r"(?:[0-9a-f]{1,3} )?(?:(?:\(Inline(?: Function)?\) |[0-9a-f`-]{8,17} )[0-9a-f`-]{8,17} +)?"  # stack and return
    r"(?:: (?:[0-9a-f`]{8,17} ){0,5}(?: *: )?)? *"  # arguments
    r"[\w.-]+!(?P<function>[^+\[]+?)"
    r"(?P<told>(?:\+0x[0-9a-fA-F]+)?(?: \[(?P<file>[^\[\]]+?) [@:] (?P<line>\d{1,9})\])?(?: \+ 0x[0-9a-fA-F]+)?"
    r"|(?:\(.*\))? Line (?P<line2>\d{1,9})(?:\s+\S+)?)$"
)
#: A module whose name says that it is one needs nothing behind the function.
_MODULE = re.compile(r"[\w.-]+\.(?:dll|exe|pyd)!")


def windows(text: str) -> Frame | None:
    """The frame that a line shows; None for others."""
    found = _FRAME.match(text)
    if found is None or not (found["told"] or _MODULE.match(text)):
        return None
    file = (found["file"] or "").replace("\\", "/")
    return Frame(file, int(found["line"] or found["line2"] or 0), found["function"].strip())
