"""Exceptions that were raised while others were handled: which traceback of the chain tells where it began. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fuzz.case import Frame

#: How a traceback follows from the one printed before it.
DIRECT, DURING = "direct", "during"
#: A traceback that begins before the one above it came to its end, which native code prints within Python's.
WITHIN = "within"
_LINKS = (
    (re.compile(r"The above exception was the direct cause of the following"), DIRECT),
    (re.compile(r"During handling of the above exception, another exception"), DURING),
)


def link(line: str) -> str:
    """How the next traceback follows, if the line says so, else ""."""
    if not line.startswith(("The above", "During")):
        return ""
    return next((kind for pattern, kind in _LINKS if pattern.match(line)), "")


def ordered(sections: Sequence[Sequence[Frame]], links: Sequence[str]) -> list[Frame]:
    """The frames of a chain, innermost first: those of the first cause, then of what was made of it.

    `sections` are as printed, outermost frame first; `links` tell how each follows from the one before. What was
    raised in a handler is a new name for the first cause if the very function that caught it raised it; if it was
    raised further in, the handler itself failed, and what it handled is no part of that.
    """
    chain: list[Frame] = []
    for section, kind in zip(sections, links, strict=True):
        inner = list(reversed(section))
        if kind == WITHIN:
            chain = [*inner, *chain]
            continue
        chain = [*chain, *inner] if kind and _renamed(chain, inner, kind) else inner
    return chain


def _renamed(cause: Sequence[Frame], inner: Sequence[Frame], kind: str) -> bool:
    """Whether the exception at the head of `inner` only renames that of `cause` (innermost first both)."""
    if not cause:
        return False
    if kind == DIRECT or not inner:
        return True
    catching, raising = cause[-1], inner[0]
    return (catching.file, catching.function) == (raising.file, raising.function)
