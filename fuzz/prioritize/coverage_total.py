"""Tests by the number of elements that each covers, the most first (Rothermel et al. 2001; OPERA, section IV-B).

Covered are parameter subspaces, not the compiler's code (`fuzz.ranking.elements`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from fuzz.ranking.elements import elements
from fuzz.ranking.item import Item


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by `fuzz.ranking.elements`, equal ones shuffled by `seed`."""
    found = list(range(len(items)))
    random.Random(seed).shuffle(found)
    totals = [len(elements(item)) for item in items]
    return sorted(found, key=lambda at: -totals[at])
