"""Operators along one axis that keep the shape: softmax and its relatives, cumulative sums, reversed sequences."""

from __future__ import annotations

import math

from fuzz.operators import encoding
from fuzz.operators.dtypes import FLOAT16, INT32, INT64, RANGE, Interval
from fuzz.operators.families._attributes import axes
from fuzz.operators.families._ranges import ImageOf
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import ranks
from fuzz.operators.specification import Operator, Specification, Within, between, share


def along(op_type: str, image: ImageOf, within: Within, since: int = 13) -> Specification:
    """An operator along `axis`; the range of its results follows from the input's and the length of the axis."""

    def grow(g: Growth, op: Operator) -> None:
        x = g.pick(op.domain, ranks(1))
        shape = g.shape[x]
        axis, attributes = g.among(axes(len(shape)))
        length = shape[-1 if axis is None else axis]
        interval = image(g.low[x], g.high[x], length)
        g.node(op, (x,), attributes + g.among(op.choices)[1], g.dtype[x], shape, *interval)

    choices = {"p": (None, 1, 2)} if op_type == "LpNormalization" else {}
    return Specification(op_type, grow, within=within, since=since, attributes=choices)


def _softmax(low: float, high: float, length: int) -> Interval:
    return math.exp(max(low - high, -60)) / length, 1


def _log_softmax(low: float, high: float, length: int) -> Interval:
    return low - high - math.log(length), 0


def _near(low: float, high: float) -> Interval:
    """Values so near to each other that no share of them underflows, of which the reference takes the logarithm."""
    most = 30.0 if high > _HALF_PRECISION else 6.0
    return -most, most


def _unit(low: float, high: float, length: int) -> Interval:
    return 0, 1


def _cumulative(g: Growth, op: Operator) -> None:
    """The axis is a constant scalar; it may be int32 or int64."""
    x = g.pick(op.domain, ranks(1))
    rank = len(g.shape[x])
    axis = g.below(2 * rank) - rank
    place = _scalar(g, axis)
    low, high = _CUMULATED[op.op_type](g.low[x], g.high[x], g.shape[x][axis])
    g.node(op, (x, place), g.among(op.choices)[1], g.dtype[x], g.shape[x], low, high)


def _scalar(g: Growth, number: int) -> int:
    if g.random() < 0.5:
        return g.configuration((number,), ())
    return g.constant(INT32, encoding.tensor_content(INT32, (), number.to_bytes(4, "little", signed=True)))


def _sums(low: float, high: float, count: int) -> Interval:
    return min(low * count, 0), max(high * count, 0)


def _products(low: float, high: float, count: int) -> Interval:
    most = max(abs(low), abs(high), 1) ** min(count, 5)
    return (-most if low < 0 else 0), most


#: The largest value that a tensor in half precision is given.
_HALF_PRECISION = RANGE[FLOAT16][1]
_CUMULATED = {"CumSum": _sums, "CumProd": _products}
_WAYS = {"exclusive": (None, 0, 1), "reverse": (None, 0, 1)}


def _reverse(g: Growth, op: Operator) -> None:
    """Batch and time are the first two axes, in either order; one length for each batch entry."""
    x = g.pick(op.domain, ranks(2))
    shape = g.shape[x]
    batch = g.below(2)
    count = shape[batch]
    lengths = g.within(INT64, (count,), 1, shape[1 - batch])
    left_out = batch == 1 and g.random() < 0.5
    attributes = b"" if left_out else encoding.integer("batch_axis", batch) + encoding.integer("time_axis", 1 - batch)
    g.node(op, (x, lengths), attributes, g.dtype[x], shape, g.low[x], g.high[x])


SPECIFICATIONS = (
    along("Softmax", _softmax, between(-1e4, 1e4)),
    along("LogSoftmax", _log_softmax, _near),
    along("Hardmax", _unit, between(-1e4, 1e4)),
    along("LpNormalization", _unit, between(0.05, 1e2), 1),
    Specification("CumSum", _cumulative, (2,), within=share(625), attributes=_WAYS, since=11),
    Specification("CumProd", _cumulative, (2,), within=between(-1, 1), attributes=_WAYS, since=26),
    Specification("ReverseSequence", _reverse, (2,), since=10),
)
