"""Cutting a list into parts, as delta debugging does (Zeller and Hildebrandt, TSE 28(2), 2002)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator


def granularities(count: int) -> Iterator[list[range]]:
    """Partitions of ``range(count)`` into 2, 4, 8 … and at last `count` parts; one part when count is 1."""
    parts = min(2, count)
    while parts:
        bounds = [count * at // parts for at in range(parts + 1)]
        yield [range(start, stop) for start, stop in itertools.pairwise(bounds)]
        parts = 0 if parts == count else min(parts * 2, count)


def chunks(count: int) -> Iterator[range]:
    """All of ``range(count)``, then its halves, quarters … and at last the single positions."""
    if count > 1:
        yield range(count)
    for parts in granularities(count):
        yield from parts
