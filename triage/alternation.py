"""Many patterns as one that is quick to search with. Pure.

Python tries each alternative at each position. Most patterns of paths begin alike, with ``(?:^|/)``: where that does
not match, none of them can, so it is tried once for all.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence


def factored(patterns: Sequence[str]) -> str:
    """One pattern that is found where any of these is. Which alternative matches first is open; none may capture."""
    by_head: defaultdict[str, list[str]] = defaultdict(list)
    for pattern in patterns:
        for branch in branches(pattern):
            head = _head(branch)
            by_head[head].append(branch[len(head) :])
    bare = by_head.pop("", [])
    return "|".join([*bare, *(f"{head}(?:{'|'.join(rest)})" for head, rest in by_head.items())])


def branches(pattern: str) -> list[str]:
    """The alternatives of a pattern."""
    cuts = [-1, *(at for at, depth in _outside_of_classes(pattern) if pattern[at] == "|" and not depth), len(pattern)]
    return [pattern[before + 1 : at] for before, at in itertools.pairwise(cuts)]


def _head(branch: str) -> str:
    """The group that a branch begins with, "" where it begins with none or with one that is repeated."""
    if not branch.startswith("(?:"):
        return ""
    end = group_end(branch, 0)
    return "" if branch[end : end + 1] in ("?", "*", "+", "{") else branch[:end]


def group_end(pattern: str, at: int) -> int:
    """Behind the bracket that closes the group that begins there."""
    inside = _outside_of_classes(pattern[at:])
    return next((at + end + 1 for end, depth in inside if pattern[at + end] == ")" and not depth), len(pattern))


def _outside_of_classes(pattern: str) -> Iterator[tuple[int, int]]:
    """Each unescaped character outside of ``[...]``: its position, and how many groups are open behind it."""
    at = depth = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
            continue
        if pattern[at] == "[":
            at = class_end(pattern, at) - 1
        depth += {"(": 1, ")": -1}.get(pattern[at], 0)
        yield at, depth
        at += 1


def class_end(pattern: str, at: int) -> int:
    """Behind the bracket that closes the class that begins there."""
    at += 2 if pattern[at + 1] == "^" else 1
    at += pattern[at] == "]"
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
