"""Convolutions and pools whose padding is solved so that results have the shape of inputs (equations 9 to 13).

The largest count of windows with kernel f, dilation d and stride s is (i + P - d(f - 1) - 1) / s + 1, rounded down, P
being the padding on both sides. It equals i for P = (i - 1)(s - 1) + d(f - 1), and a side takes at most f (of a pool,
whose windows must not lie in the padding alone, at most f - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from fuzz.operators import encoding
from fuzz.operators.dtypes import Interval
from fuzz.operators.families import _ranges
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import SIZE, Shape, ranks
from fuzz.operators.specification import Operator

#: Filter lengths, and the largest stride and dilation.
_FILTERS, _MOST_STRIDE, _MOST_DILATION = (1, 2, 3, 5), 2, 2
_RANKS = ranks(3, 5)
#: Output channels of a convolution that are not its input channels, and the most elements of its input.
_CHANNELS, _LARGEST = 4, 625
#: Products that are added up for one element, at most: what the table's row of Conv leaves room for.
_TERMS = 700


@dataclass(frozen=True)
class Side:
    """One axis of a window: filter length, stride, dilation, and the padding before and behind the axis."""

    length: int = 1
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0

    @property
    def moves(self) -> bool:
        """Whether it is more than a filter that slides by one element over neighbours."""
        return self.stride > 1 or self.dilation > 1


@lru_cache(1 << 10)
def solutions(space: int, *, pool: bool) -> tuple[Side, ...]:
    """Every window over an axis of `space` elements that leaves as many."""
    found = []
    for length, stride, dilation in product(_FILTERS, range(1, _MOST_STRIDE + 1), range(1, _MOST_DILATION + 1)):
        padding = (space - 1) * (stride - 1) + dilation * (length - 1)
        most = length - 1 if pool else length
        for begin in range(max(0, padding - most), min(most, padding) + 1):
            side = Side(length, stride, dilation, begin, padding - begin)
            if (length > 1 or dilation == 1) and not (pool and _beside(side, space)):
                found.append(side)
    return tuple(found)


def _beside(side: Side, space: int) -> bool:
    """Whether some place of the window has nothing but padding."""
    starts = (at * side.stride - side.begin for at in range(space))
    return any(all(not 0 <= start + tap * side.dilation < space for tap in range(side.length)) for start in starts)


def _attributes(sides: list[Side], *, dilated: bool) -> bytes:
    attributes = encoding.integers("kernel_shape", tuple([side.length for side in sides]))
    attributes += encoding.integers("pads", tuple([side.begin for side in sides] + [side.end for side in sides]))
    attributes += encoding.integers("strides", tuple([side.stride for side in sides]))
    if dilated and any(side.dilation > 1 for side in sides):
        attributes += encoding.integers("dilations", tuple([side.dilation for side in sides]))
    return attributes


def conv(g: Growth, op: Operator) -> None:
    """A convolution whose result has the input's spatial shape."""
    x = g.pick(op.domain, _RANKS, _LARGEST)
    dtype, shape = g.dtype[x], g.shape[x]
    sides = [g.among(solutions(space, pool=False)) for space in shape[2:]]
    channels = shape[1]
    group = channels if channels > 1 and g.random() < 0.25 else 1  # depthwise, or plain
    while channels // group * SIZE[tuple([side.length for side in sides])] > _TERMS:
        sides[sides.index(max(sides, key=lambda side: side.length))] = Side()
    plain = channels <= 2 * _CHANNELS and g.random() < 0.5
    outs = channels if group > 1 or plain else 1 + g.below(_CHANNELS)
    kernel: Shape = (outs, channels // group, *[side.length for side in sides])
    low, high = op.domain.bounds[dtype]
    w = g.within(dtype, kernel, low, high, parameter=True)
    inputs = [x, w]
    terms = SIZE[kernel[1:]]
    least, most = _ranges.product(g.low[x], g.high[x], g.low[w], g.high[w])
    least, most = min(least * terms, 0), max(most * terms, 0)
    if g.random() < 0.5:
        b = g.within(dtype, (outs,), low, high, parameter=True)
        inputs.append(b)
        least, most = least + g.low[b], most + g.high[b]
    attributes = _attributes(sides, dilated=True) + (encoding.integer("group", group) if group > 1 else b"")
    g.node(op, inputs, attributes, dtype, (shape[0], outs, *shape[2:]), least, most)


def pool(g: Growth, op: Operator) -> None:
    """A pool (MaxPool, AveragePool, LpPool) whose result has the input's shape."""
    x = g.pick(op.domain, _RANKS)
    shape = g.shape[x]
    dilated = op.op_type == "MaxPool"
    choices = [solutions(space, pool=True) for space in shape[2:]]
    sides = [g.among([side for side in each if dilated or side.dilation == 1]) for each in choices]
    if dilated and not any(side.moves for side in sides):  # the reference pads those with NaN
        sides[-1] = g.among([side for side in choices[-1] if side.moves])
    attributes = _attributes(sides, dilated=dilated) + g.among(op.choices)[1]
    count = SIZE[tuple([side.length for side in sides])]
    g.node(op, (x,), attributes, g.dtype[x], shape, *_pooled(op.op_type, g.low[x], g.high[x], count))


def _pooled(op_type: str, low: float, high: float, count: int) -> Interval:
    if op_type == "MaxPool":
        return low, high
    if op_type == "AveragePool":  # padding may count as zeros
        return min(low, 0), max(high, 0)
    return 0, max(abs(low), abs(high)) * count


#: How the operators with padding grow when nothing mutates their parameters.
EQUAL_SHAPES = {"Conv": conv, "AveragePool": pool, "LpPool": pool, "MaxPool": pool}
