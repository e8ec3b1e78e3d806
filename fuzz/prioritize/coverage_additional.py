"""Tests by what each covers beyond those before it (Rothermel et al. 2001; OPERA, section IV-B).

Covered are parameter subspaces, not the compiler's code (`fuzz.ranking.elements`). What is new is counted anew after
every pick. Once everything is covered it begins again with the tests that are left.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from fuzz.ranking.cover import Cover
from fuzz.ranking.elements import numbered
from fuzz.ranking.item import Item

#: How often the covering begins again; what is left then covers nothing new for the twentieth time.
ROUNDS = 20


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by greedy additional coverage of `fuzz.ranking.elements`, equal ones shuffled by `seed`."""
    rng = random.Random(seed)
    shuffled = rng.sample(range(len(items)), len(items))
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for at, numbers in zip(shuffled, numbered([items[at] for at in shuffled]), strict=True):
        alike[tuple(sorted(numbers))].append(at)
    sets, waiting = list(alike), list(alike.values())
    cover = Cover(sets, _ones(sets), range(len(sets)))
    found: list[int] = []
    for _ in range(ROUNDS):
        found += [waiting[at].pop() for at in cover.useful()]
        cover.restart([at for at, items_left in enumerate(waiting) if items_left])
    left = [(-len(sets[at]), item) for at, items_left in enumerate(waiting) for item in items_left]
    return found + [item for _, item in sorted(left, key=lambda pair: pair[0])]


def _ones(sets: Sequence[Sequence[int]]) -> list[float]:
    return [1.0] * (1 + max((number for each in sets for number in each), default=0))
