"""Operators along one axis that keep the shape: softmax and its relatives, cumulative sums, reversed sequences."""

from __future__ import annotations

from fuzz.operators import encoding
from fuzz.operators.dtypes import INT32, INT64, Interval
from fuzz.operators.families._attributes import axes
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import ranks
from fuzz.operators.specification import Operator, Specification, Within, between, share


def along(op_type: str, low: float, high: float, within: Within, since: int = 13) -> Specification:
    """An operator along `axis` whose results lie between the bounds."""

    def grow(g: Growth, op: Operator) -> None:
        x = g.pick(op.domain, ranks(1))
        attributes = g.among(op.choices)[1] + g.among(axes(len(g.shape[x])))[1]
        g.node(op, (x,), attributes, g.dtype[x], g.shape[x], low, high)

    choices = {"p": (None, 1, 2)} if op_type == "LpNormalization" else {}
    return Specification(op_type, grow, within=within, since=since, attributes=choices)


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
    along("Softmax", 0, 1, between(-1e4, 1e4)),
    along("LogSoftmax", -3e4, 0, between(-1e4, 1e4)),
    along("Hardmax", 0, 1, between(-1e4, 1e4)),
    along("LpNormalization", 0, 1, between(0.05, 1e2), 1),
    Specification("CumSum", _cumulative, (2,), within=share(625), attributes=_WAYS, since=11),
    Specification("CumProd", _cumulative, (2,), within=between(-1, 1), attributes=_WAYS, since=26),
    Specification("ReverseSequence", _reverse, (2,), since=10),
)
