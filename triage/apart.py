"""Whether two sets of observations come from different sources: counts of words, and ranges of lines. Pure."""

from __future__ import annotations

import math
from collections import Counter

#: Normal quantile of the one-sided level 0.005.
_QUANTILE = 2.58
#: Sources that share more than this part of their observations are taken for one.
_SHARED = 0.35


def apart(one: Counter[str], other: Counter[str]) -> bool:
    """Whether two counters hardly overlap, and too often for it to be chance (G-test, 0.5 %).

    Two observations that differ show nothing; three alike against three others do.
    """
    total_one, total_other = one.total(), other.total()
    if not total_one or not total_other:
        return False
    shared = sum(min(count / total_one, other[word] / total_other) for word, count in one.items() if word in other)
    if shared > _SHARED:
        return False
    return _surprise(one, other, total_one, total_other) > _QUANTILE


def _surprise(one: Counter[str], other: Counter[str], total_one: int, total_other: int) -> float:
    """The G statistic of the 2 x n table as a normal quantile (Wilson and Hilferty's cube root)."""
    words = one.keys() | other.keys()
    freedom = len(words) - 1
    if not freedom:
        return 0.0
    total = total_one + total_other
    statistic = 0.0
    for counter, size in ((one, total_one), (other, total_other)):
        for word, count in counter.items():
            expected = size * (one[word] + other[word]) / total
            statistic += 2 * count * math.log(count / expected)
    spread = 2 / (9 * freedom)
    return (math.cbrt(statistic / freedom) - (1 - spread)) / math.sqrt(spread)


def ranges_apart(one: list[int], other: list[int], drift: int) -> bool:
    """Whether two sorted lists of line numbers lie further apart than lines move (`drift`), and than each is wide.

    Of long lists the outermost twentieth at either end does not count.
    """
    if not one or not other:
        return False
    (low_one, high_one), (low_other, high_other) = _range(one), _range(other)
    gap = max(low_one - high_other, low_other - high_one)
    return gap > max(drift, high_one - low_one, high_other - low_other)


def _range(ordered: list[int]) -> tuple[int, int]:
    trimmed = len(ordered) // 20
    return ordered[trimmed], ordered[-1 - trimmed]
