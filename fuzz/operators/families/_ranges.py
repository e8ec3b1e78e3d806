"""Ranges of values: what operators make of them (interval arithmetic), and what some may be given.

All are sound: no result lies outside, apart from rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fuzz.operators.dtypes import Interval

#: The range of results from the range of an operator's input.
Image = Callable[[float, float], Interval]
#: The same, with the number of elements that one result is made of.
ImageOf = Callable[[float, float, int], Interval]


def same(low: float, high: float) -> Interval:
    """What a copy, or a projection onto a part of the range that holds it, yields."""
    return low, high


def monotone(function: Callable[[float], float]) -> Image:
    """The image under a function that never falls."""
    return lambda low, high: (function(low), function(high))


def fixed(least: float, most: float) -> Image:
    """A function with bounded values."""
    return lambda low, high: (least, most)


def gated(low: float, high: float) -> Interval:
    """x times a gate between 0 and 1, at least one half for positive x (Gelu, Swish ...)."""
    return (low / 2 if low > 0 else low), max(high, 0.0)


def leaky(low: float, high: float) -> Interval:
    """x, or below zero at most x in magnitude."""
    return low, (high if high > 0 else 0.0)


def exponential(scale: float) -> Image:
    """At most so many times x above zero, and -2 at least below it (Elu and its relatives)."""

    def image(low: float, high: float) -> Interval:
        return (low if low > 0 else max(2 * low, -2.0)), max(high, 0.0) * scale

    return image


def sine(low: float, high: float) -> Interval:
    """sin x, exact where it rises over the whole range."""
    quarter = math.pi / 2
    return (math.sin(low), math.sin(high)) if -quarter <= low and high <= quarter else (-1, 1)


def cosine(low: float, high: float) -> Interval:
    """cos x, exact within half a turn either way."""
    if low < -math.pi or high > math.pi:
        return -1, 1
    ends = math.cos(low), math.cos(high)
    return min(ends), 1 if low <= 0 <= high else max(ends)


def logistic(low: float, high: float) -> Interval:
    """1 / (1 + exp(-x))."""
    return _logistic(low), _logistic(high)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -40 else 0.0


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
