"""Operators take turns, one random test each: breadth without a notion of parameters."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest

from fuzz.ranking.item import Item


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items in turns over operators; operators and the tests of each are shuffled by `seed`."""
    rng = random.Random(seed)
    groups: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        groups[item.operator].append(at)
    turns = list(groups.values())
    rng.shuffle(turns)
    for group in turns:
        rng.shuffle(group)
    return [at for turn in zip_longest(*turns) for at in turn if at is not None]
