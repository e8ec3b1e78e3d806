"""Tests in a random order: OPERA's baseline without prioritisation (section IV-B)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fuzz.ranking.item import Item


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items shuffled by `seed`."""
    found = list(range(len(items)))
    random.Random(seed).shuffle(found)
    return found
