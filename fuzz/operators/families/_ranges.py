"""Ranges of values: what operators make of them (interval arithmetic), and what some may be given.

All are sound: no result lies outside, apart from rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fuzz.operators.dtypes import Interval

#: The range of results from the range of an operator's input.
Image = Callable[[float, float], Interval]


def same(low: float, high: float) -> Interval:
    """What a copy, or a projection onto a part of the range that holds it, yields."""
    return low, high


def monotone(function: Callable[[float], float]) -> Image:
    """The image under a function that never falls."""
    return lambda low, high: (function(low), function(high))


def fixed(least: float, most: float) -> Image:
    """A function with bounded values."""
    return lambda low, high: (least, most)


def with_zero(low: float, high: float) -> Interval:
    """At most the input's magnitude, with its sign or zero (a leaky or gated unit without gain)."""
    return min(low, 0.0), max(high, 0.0)


def gain(factor: float, offset: float = 0.0) -> Image:
    """At most so many times the input's magnitude, plus an offset."""

    def image(low: float, high: float) -> Interval:
        most = max(abs(low), abs(high)) * factor + offset
        return -most, most

    return image


def magnitude(low: float, high: float) -> Interval:
    """|x|."""
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


def half(low: float, high: float) -> Interval:
    """Values that may be doubled."""
    return (0 if low >= 0 else low / 2), high / 2


def exponent(low: float, high: float) -> Interval:
    most = math.floor(math.log(high)) - 1
    return -most, most


def negatable(low: float, high: float) -> Interval | None:
    """No negation of an unsigned number, and none of the least integer."""
    return None if low >= 0 else (-high, high)


def signs(low: float, high: float) -> Interval:
    return (-1 if low < 0 else 0 if low == 0 else 1), (1 if high > 0 else 0 if high == 0 else -1)


def product(low: float, high: float, other_low: float, other_high: float) -> Interval:
    """Of two factors."""
    corners = (low * other_low, low * other_high, high * other_low, high * other_high)
    return min(corners), max(corners)
