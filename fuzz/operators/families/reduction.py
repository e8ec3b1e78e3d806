"""Reductions, and the position of the largest or smallest element."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations

from fuzz.operators import encoding
from fuzz.operators.dtypes import INT32, INT64, UINT32, UINT64, Interval
from fuzz.operators.families._attributes import axes
from fuzz.operators.families._ranges import ImageOf, magnitude
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import LARGEST, Shape, ranks
from fuzz.operators.specification import Operator, Specification, Within, between, everything, root, share

#: A choice of axes: as they are given (None: not at all), and as a set of non-negative ones.
Axes = tuple[tuple[int, ...] | None, frozenset[int]]


@cache
def subsets(rank: int) -> tuple[Axes, ...]:
    """Every set of axes of a rank, some counted from the end; None is all of them."""
    found: list[Axes] = [(None, frozenset(range(rank)))]
    for count in range(1, rank + 1):
        for chosen in combinations(range(rank), count):
            found.append((chosen, frozenset(chosen)))
            found.append((tuple(axis - rank if axis % 2 else axis for axis in chosen), frozenset(chosen)))
    return tuple(found)


@lru_cache(1 << 12)
def reduced(shape: Shape, gone: frozenset[int], keep: bool) -> tuple[Shape, int]:
    """The shape that is left, and the number of elements that became one."""
    left = tuple([1 if axis in gone else size for axis, size in enumerate(shape) if keep or axis not in gone])
    return left, math.prod([shape[axis] for axis in gone])


_KEEP = (
    (True, b""),
    (True, encoding.integer("keepdims", 1)),
    (False, encoding.integer("keepdims", 0)),
)
_NOOP = encoding.integer("noop_with_empty_axes", 1)


def reduction(
    op_type: str, image: ImageOf, within: Within, since: int = 18, without: frozenset[int] = frozenset()
) -> tuple[Specification, Specification]:
    """Axes are an optional second input, from opset `since` on; before, they are an attribute.

    Without them all are reduced, or none with noop_with_empty_axes=1.
    """

    # The reference cannot take a logarithm of what numpy makes of a scalar.
    allowed = ranks(1 if "Log" in op_type else 0)

    def grow(g: Growth, op: Operator) -> None:
        degree = g.among(op.degrees)
        x = g.pick(op.domain, allowed)
        shape = g.shape[x]
        keep, attributes = g.among(_KEEP)
        if op.opset < since:
            given, gone = g.among(subsets(len(shape)))
            attributes += encoding.attribute("axes", given)
            given = None
        elif degree == 1:
            given, gone = None, frozenset(range(len(shape)))
            if g.random() < 0.1:
                attributes += _NOOP
                gone, keep = frozenset(), True
        else:
            given, gone = g.among(subsets(len(shape)))
        left, count = reduced(shape, gone, keep)
        inputs = (x,) if given is None else (x, g.configuration(given))
        g.node(op, inputs, attributes, g.dtype[x], left, *image(g.low[x], g.high[x], count))

    row = Specification(op_type, grow, within=within, without=without, since=11, until=since - 1)
    return row, replace(row, degrees=(1, 2), since=since, until=1 << 16)


def _position(g: Growth, op: Operator) -> None:
    """ArgMax and ArgMin: axis 0 unless it is given."""
    x = g.pick(op.domain, ranks(1))
    shape = g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    keep, more = g.among(_KEEP)
    at = (axis or 0) % len(shape)
    left, count = reduced(shape, frozenset((at,)), keep)
    g.node(op, (x,), attributes + more + g.among(op.choices)[1], INT64, left, 0, count - 1)


def _magnitudes(low: float, high: float, count: int) -> Interval:
    least, most = magnitude(low, high)
    return least * count, most * count


def _norms(low: float, high: float, count: int) -> Interval:
    least, most = magnitude(low, high)
    return least, most * math.sqrt(count)  # integers are rounded down, so the least is not sharp


def _squares(low: float, high: float, count: int) -> Interval:
    least, most = magnitude(low, high)
    return least**2 * count, most**2 * count


def _one(low: float, high: float, count: int) -> Interval:
    return low, high


def _products(low: float, high: float, count: int) -> Interval:
    most = max(abs(low), abs(high)) ** min(count, LARGEST)
    return (-most if low < 0 else low**count), most


def _log_of_sum(low: float, high: float, count: int) -> Interval:
    return math.log(low * count), math.log(high * count)


#: The reference evaluator cannot take a logarithm into an integer, and sums 32-bit squares into 64 bits.
_WHOLE = frozenset((INT32, INT64, UINT32, UINT64))
_LAST = {"select_last_index": (None, 0, 1)}
SPECIFICATIONS = (
    *reduction("ReduceL1", _magnitudes, share(LARGEST)),
    *reduction("ReduceL2", _norms, root(LARGEST)),
    *reduction("ReduceLogSum", _log_of_sum, between(0.05, 100), without=_WHOLE),
    *reduction("ReduceLogSumExp", lambda low, high, n: (low, high + math.log(n) + 1), between(-8, 8), without=_WHOLE),
    *reduction("ReduceMax", _one, everything),
    *reduction("ReduceMean", _one, share(LARGEST)),
    *reduction("ReduceMin", _one, everything),
    *reduction("ReduceProd", _products, between(-1, 1)),
    *reduction("ReduceSum", lambda low, high, n: (low * n, high * n), share(LARGEST), 13),
    *reduction("ReduceSumSquare", _squares, root(LARGEST), without=frozenset((INT32, UINT32))),
    Specification("ArgMax", _position, attributes=_LAST, since=12),
    Specification("ArgMin", _position, attributes=_LAST, since=12),
)
