"""Half of `opera-coded` (OPERA, section V-B): operators by their score, the tests of each shuffled."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.prioritize.opera_coded import untested_share
from fuzz.ranking import diversity
from fuzz.ranking.diversity import Setting, Settings
from fuzz.ranking.item import Item


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by the signature score of their operator, those of one operator together."""
    return diversity.order(items, tested, seed, untested_share, _any_order)


def _any_order(settings: Settings, known: Settings, default: Setting, ties: Sequence[float]) -> list[tuple[int, float]]:
    return [(at, 1.0) for at in sorted(range(len(settings)), key=lambda at: ties[at])]
