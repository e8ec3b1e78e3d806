"""How many operators a model has: uniform between the bounds, and spread evenly over the models of a seed."""

from __future__ import annotations

import random
from functools import lru_cache

#: Multiples of it modulo one are spread most evenly (Weyl's sequence with the golden ratio).
_STEP = (5**0.5 - 1) / 2


def size(low: int, high: int, seed: int, index: int) -> int:
    """The number of operators of that model, in [low, high].

    Independent draws are uniform as well, but the mean over 1,000 models of 1 to 200 would stray from 100.5 by 1.8.
    """
    return low + int((_start(seed) + index * _STEP) % 1.0 * (high - low + 1))


@lru_cache(16)
def _start(seed: int) -> float:
    return random.Random(seed).random()
