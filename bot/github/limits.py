"""Texts that fit GitHub's limits, cut at a clean place. Pure."""

from __future__ import annotations

import re

#: Characters of an issue's or comment's text, and of a check run's summary and text each.
BODY, CHECK = 65_536, 65_535
#: Characters of an issue's title; annotations in one request; characters of an annotation's title and message.
TITLE, ANNOTATIONS, ANNOTATION_TITLE, MESSAGE = 256, 50, 255, 64_000
#: A check run's buttons: how many, and the characters of their parts.
ACTIONS, LABEL, DESCRIPTION, IDENTIFIER = 3, 20, 40, 20

NOTE = "\n\n*(The text was longer than GitHub takes; the rest was left out.)*"
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)


def length(text: str) -> int:
    """The length as the strictest counts it: UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fit(text: str, most: int, end: str = "") -> str:
    """`text` + `end`, no longer than `most`: whole lines, with what the cut left open closed, and a note.

    `end` is kept whole. Raises ValueError if it does not fit by itself.
    """
    if length(text) + length(end) <= most:
        return text + end
    room = most - length(end) - length(NOTE)
    if room < 0:
        raise ValueError(f"{most} characters are too few for what must stand at the end")
    while True:
        kept = _head(text, room)
        closed = kept + _closing(kept)
        over = length(closed) + length(NOTE) + length(end) - most
        if over <= 0 or not kept:
            return (closed if kept else "") + NOTE + end
        room -= over


def short(text: str, most: int) -> str:
    """One line, no longer than `most`; an ellipsis stands for the rest."""
    line = " ".join(text.split())
    return line if length(line) <= most else _units(line, most - 1).rstrip() + "…"


def _head(text: str, room: int) -> str:
    """The longest beginning within `room` that ends with a line; within a very long line, anywhere."""
    cut = _units(text, max(room, 0))
    line = cut.rfind("\n")
    return (cut[:line] if line > len(cut) // 2 else cut).rstrip()


def _units(text: str, most: int) -> str:
    """The first `most` UTF-16 code units, no character halved."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * most].decode("utf-16-le", "ignore")


def _closing(text: str) -> str:
    """What closes the code block and the folded parts that are open at the end of a text."""
    fence = ""
    for found in _FENCE.findall(text):
        if not fence:
            fence = found
        elif found[0] == fence[0] and len(found) >= len(fence):
            fence = ""
    outside = _unfenced(text)
    opened = sum(-1 if slash else 1 for slash in _DETAILS.findall(outside))
    return (f"\n{fence}" if fence else "") + "\n\n</details>" * max(opened, 0)


def _unfenced(text: str) -> str:
    """The lines outside code blocks."""
    kept, fence = [], ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1][0] == fence[0] and len(found[1]) >= len(fence):
            fence = ""
        elif not fence:
            kept.append(line)
    return "\n".join(kept)
