"""The structural distance of a mutant from its seed: which operators feed which others that did not before.

Section 7 of MT-DLComp leaves the metric open. Here: for every pair of operators (from, to), the logarithm of one plus
the number of edges that mutations have added. A new pair counts more than the hundredth edge of a common one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

Edge = tuple[str, str]


class Distance:
    """Added edges, and what further ones would add to the distance."""

    def __init__(self) -> None:
        self._added: Counter[Edge] = Counter()
        self.total = 0.0

    def gain(self, edges: Iterable[Edge]) -> float:
        """By how much the distance grows with these edges."""
        return sum(
            math.log1p(self._added[edge] + number) - math.log1p(self._added[edge])
            for edge, number in Counter(edges).items()
        )

    def add(self, edges: Iterable[Edge]) -> None:
        """These edges are part of the mutant now."""
        edges = list(edges)
        self.total += self.gain(edges)
        self._added.update(edges)
