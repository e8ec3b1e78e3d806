"""Greedy order where every pick lowers the scores of others: a heap whose entries are brought up to date when they
come up.

Exact as long as scores never rise: an outdated score is an upper bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence


def descending(
    left: Sequence[int], score: Callable[[int], float], taken: Callable[[int], None], ties: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """(position, score) of `left` by current score; those that score 0 are left out.

    `taken` is told of each pick before the next; among equal scores the lowest of `ties` comes first.
    """

    def entry(at: int) -> tuple[float, float, int]:
        return (-round(score(at), 12), ties[at], at)

    heap = [entry(at) for at in left]
    heapq.heapify(heap)
    while heap:
        old = heap[0]
        fresh = entry(old[2])
        if fresh[0] > old[0]:
            heapq.heapreplace(heap, fresh)
            continue
        heapq.heappop(heap)
        if fresh[0] >= 0:
            return
        taken(fresh[2])
        yield fresh[2], -fresh[0]
