"""How soon plain delta debugging would find what is planted somewhere in a list of nodes.

A search that weighs hypotheses by anything else is slower than delta debugging wherever that is lucky: at the front
of the list, and with operators that are everywhere. A share of the weight by this measure bounds the difference
(Kraft's inequality: what has a weight of 2**-n can be found in about n runs).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Where an occurrence lies across the middle, delta debugging needs about so many runs for each halving to come.
_ACROSS = 3.0


def soon(found: Sequence[Sequence[int]], owners: np.ndarray, count: int) -> np.ndarray:
    """2 ** -(the runs that halving a list of `count` nodes needs), for each owner of the occurrences `found`.

    Occurrences have the same number of nodes each; `owners` (int[occurrences]) count from zero, and any occurrence of
    an owner will do. Halves are asked about from the front, and a half that holds an occurrence is halved again: one
    run for a front half, two for a back half.
    """
    if not found:
        return np.zeros(0)
    nodes = np.array(found)
    first, last, size = nodes.min(axis=1), nodes.max(axis=1), int(owners.max()) + 1
    low, high, runs = np.zeros(size, int), np.full(size, count), np.zeros(size)
    going = np.ones(size, bool)
    while going.any():
        middle = (low + high) // 2
        inside = (first >= low[owners]) & (last < high[owners]) & going[owners]
        front, back = np.zeros(size, bool), np.zeros(size, bool)
        front[owners[inside & (last < middle[owners])]] = True
        back[owners[inside & (first >= middle[owners])]] = True
        back &= ~front
        high, low = np.where(front, middle, high), np.where(back, middle, low)
        runs += front + 2.0 * back
        going = (front | back) & (high - low > 1)
    return np.asarray(2.0 ** -(runs + _ACROSS * np.log2(np.maximum(1.0, (high - low) / 2))))
