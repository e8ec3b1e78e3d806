"""Which rule of the standard an invalid model breaks, in the words of `onnx.checker`, short enough for a title."""

from __future__ import annotations

import re

#: What the checker says, as the judge quotes it.
_REJECTED = re.compile(r"rejected by onnx\.checker: (.*)\)", re.DOTALL)
#: What stands before its words: whose they are, and of which operator.
_WHOSE = re.compile(r"^.*(?:\[\w+Error\]|\(op_type:[^)]*\):) *", re.DOTALL)
#: The name of a type's variable in the schema, and of a node, which tell a reader nothing.
_IDLE = re.compile(r" typestr: [\w()]+,| in node \S*?(?=\.?$)|\.$")
#: A longer sentence is left out rather than cut.
LONGEST = 70


def broken_rule(detail: str) -> str:
    """``Invalid value for attribute axis``; "" where the checker has not spoken, or at length."""
    found = _REJECTED.search(detail)
    said = _IDLE.sub("", _WHOSE.sub("", found[1]).strip()) if found else ""
    return said if len(said) <= LONGEST else ""
