"""Half of `opera-coded` (OPERA, section V-B): tests by the novelty of their parameters, operators all alike."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.prioritize.opera_coded import by_seen_values
from fuzz.ranking import diversity
from fuzz.ranking.item import Item


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by parameter novelty."""
    return diversity.order(items, tested, seed, lambda own, known, default: 1.0, by_seen_values)
