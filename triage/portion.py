"""A part of a large batch that is enough to learn from, the same in whatever order the batch comes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")


def portion(items: Collection[T], most: int, key: Callable[[T], str] = str) -> Collection[T]:
    """About `most` of the items or fewer, chosen by their keys; all where there are no more."""
    parts = len(items) // most + 1
    if parts == 1:
        return items
    return [each for each in items if not crc32(key(each).encode("utf-8", "surrogatepass")) % parts]
