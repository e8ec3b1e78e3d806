"""Greedy cover by a heap: again and again the set that adds the most weight to what is covered.

A set's gain only shrinks as others are taken, so a heap with stale entries gives the exact greedy order: what comes
up with an outdated gain goes back. Every element is covered once and then told to the sets that hold it, so the
whole takes time in proportion to the size of all sets, times the logarithm of their number.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence


class Cover:
    """Sets of numbered elements. `costs` divide gains; among equal ones the lowest of `ties` comes first."""

    def __init__(
        self,
        sets: Sequence[Sequence[int]],
        weights: Sequence[float],
        ties: Sequence[float],
        costs: Sequence[float] | None = None,
    ) -> None:
        self._sets, self._weights, self._ties = sets, weights, ties
        self._costs = costs or [1.0] * len(sets)
        self.restart(range(len(sets)))

    def restart(self, left: Sequence[int]) -> None:
        """Forget what is covered; only the sets `left` can still be taken."""
        self._holders: dict[int, list[int]] = {}
        self.gains = [0.0] * len(self._sets)
        for at in left:
            for element in self._sets[at]:
                self._holders.setdefault(element, []).append(at)
            self.gains[at] = sum(self._weights[element] for element in self._sets[at])
        self._heap = [self._entry(at) for at in left]
        heapq.heapify(self._heap)

    def useful(self) -> Iterator[int]:
        """Sets by greedy gain as long as one adds something."""
        return (at for at, _ in self.gaining())

    def gaining(self) -> Iterator[tuple[int, float]]:
        """The same with the gain of each."""
        while self._heap:
            self._settle()
            loss, _, at = self._heap[0]
            if loss >= 0:
                return
            heapq.heappop(self._heap)
            self.take(at)
            yield at, -loss

    def _settle(self) -> None:
        """Bring the set with the largest gain to the top."""
        while (fresh := self._entry(self._heap[0][2]))[0] > self._heap[0][0]:
            heapq.heapreplace(self._heap, fresh)

    def take(self, at: int) -> None:
        """Cover the elements of a set."""
        for element in self._sets[at]:
            weight = self._weights[element]
            for holder in self._holders.pop(element, ()):
                self.gains[holder] -= weight

    def _entry(self, at: int) -> tuple[float, float, int]:
        # Rounded: sums and differences of weights must not order what is equal.
        return (-round(self.gains[at] / self._costs[at], 9), self._ties[at], at)
