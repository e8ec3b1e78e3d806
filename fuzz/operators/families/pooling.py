"""Pools over windows, over everything, and over regions; LRN, and the way back from a maximum."""

from __future__ import annotations

from fuzz.operators import encoding
from fuzz.operators.dtypes import DOUBLE, FLOAT, INT64, Interval, is_floating
from fuzz.operators.families._ranges import magnitude
from fuzz.operators.families._windows import window
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import SIZE, ranks
from fuzz.operators.specification import Operator, Specification, between, share

_RANKS, _IMAGES = ranks(3, 5), ranks(4, 4)


def _pool(g: Growth, op: Operator) -> None:
    """MaxPool (without its positions), AveragePool and LpPool."""
    x = g.pick(op.domain, _RANKS)
    shape = g.shape[x]
    dilated = op.op_type == "MaxPool" or op.opset >= (18 if op.op_type == "LpPool" else 19)
    ceil = op.op_type != "LpPool" and op.opset >= 22  # before, the last window could lie in the padding alone
    uneven = op.op_type == "MaxPool"
    whole = not is_floating(g.dtype[x])
    # The reference pads with NaN where no stride is given, even if by nothing. With auto_pad it fails for three axes.
    auto = not whole and (not uneven or len(shape) == 4)
    found = window(g, shape[2:], dilated=dilated, auto=auto, pool=True, ceil=ceil, uneven=uneven, stepped=whole)
    attributes = encoding.integers("kernel_shape", found.kernel) + found.attributes + g.among(op.choices)[1]
    low, high = _pooled(op.op_type, g.low[x], g.high[x], SIZE[found.kernel])
    g.node(op, (x,), attributes, g.dtype[x], (*shape[:2], *found.result), low, high)


def _pooled(op_type: str, low: float, high: float, count: int) -> Interval:
    if op_type == "MaxPool":
        return low, high
    if op_type == "AveragePool":  # padding may count as zeros, but one element at least is none
        return min(low, low / count), max(high, high / count)
    return magnitude(low, high)[0], max(abs(low), abs(high)) * count


def _global(g: Growth, op: Operator) -> None:
    """Over all spatial axes, which become one. The reference takes the maximum of two axes only."""
    x = g.pick(op.domain, _RANKS if op.op_type == "GlobalAveragePool" else _IMAGES)
    shape = g.shape[x]
    result = (*shape[:2], *[1] * (len(shape) - 2))
    g.node(op, (x,), b"", g.dtype[x], result, g.low[x], g.high[x])


def _lrn(g: Growth, op: Operator) -> None:
    """Divides by a sum over neighbouring channels that the bias keeps away from zero. The reference takes images only,
    and counts channels by the batch.
    """
    dtype = g.dtype[g.pick(op.domain, _IMAGES)]
    fitting = [shape for shape in g.shapes_of(dtype) if len(shape) == 4 and shape[0] == shape[1]]
    batch = 1 + g.below(4)
    x = g.matching(dtype, fitting or [(batch, batch, 1 + g.below(4), 1 + g.below(4))], *op.domain.bounds[dtype])
    attributes = encoding.integer("size", 1 + 2 * g.below(3)) + g.among(op.choices)[1]
    low, high = g.low[x], g.high[x]
    divisor = 2 + 0.25 * max(low * low, high * high)  # the largest bias and alpha
    g.node(op, (x,), attributes, dtype, g.shape[x], min(low, low / divisor), max(high, high / divisor))


def _unpool(g: Growth, op: Operator) -> None:
    """Positions are constants: increasing, and so different, flat positions in the result."""
    x = g.pick(op.domain, ranks(3, 4), 125)
    shape = g.shape[x]
    kernel = tuple([1 + g.below(3) for _ in shape[2:]])
    result = (*shape[:2], *[(size - 1) * each + each for size, each in zip(shape[2:], kernel, strict=True)])
    count, space = SIZE[shape], SIZE[result]
    step = space // count
    positions = tuple([each * step + g.below(step) for each in range(count)])
    inputs = (x, g.configuration(positions, shape))
    attributes = encoding.integers("kernel_shape", kernel) + encoding.integers("strides", kernel)
    g.node(op, inputs, attributes, g.dtype[x], result, min(g.low[x], 0), max(g.high[x], 0))


def _roi_align(g: Growth, op: Operator) -> None:
    """Boxes (x1, y1, x2, y2) with room inside; each belongs to an image of the batch."""
    x = g.pick(op.domain, ranks(4, 4), 625)
    dtype, shape = g.dtype[x], g.shape[x]
    count = 1 + g.below(3)
    rois = _boxes(g, dtype, count)
    batch = g.within(INT64, (count,), 0, shape[0] - 1)
    height, width = 1 + g.below(3), 1 + g.below(3)
    attributes = (
        encoding.integer("output_height", height) + encoding.integer("output_width", width) + g.among(op.choices)[1]
    )
    low, high = min(g.low[x], 0), max(g.high[x], 0)
    g.node(op, (x, rois, batch), attributes, dtype, (count, shape[1], height, width), low, high)


def _boxes(g: Growth, dtype: int, count: int) -> int:
    """A constant of corners, in eighths."""
    import numpy as np

    corners = np.array([(g.below(8), g.below(8)) for _ in range(count)], np.float64) / 8
    sizes = np.array([(4 + g.below(12), 4 + g.below(12)) for _ in range(count)], np.float64) / 8
    boxes = np.concatenate([corners, corners + sizes], 1).astype({FLOAT: "<f4", DOUBLE: "<f8"}.get(dtype, "<f2"))
    return g.constant(dtype, encoding.tensor_content(dtype, (count, 4), boxes.tobytes()))


_NORMS = {"p": (None, 1, 2, 3)}
_AVERAGE = {"count_include_pad": (None, 0, 1)}
_NEIGHBOURS = {"alpha": (None, 0.001, 0.25), "beta": (None, 0.5), "bias": (None, 1.0, 2.0)}
_ALIGNED = {
    "mode": (None, "avg", "max"),
    "sampling_ratio": (1, 2),
    "coordinate_transformation_mode": (None, "half_pixel", "output_half_pixel"),
    "spatial_scale": (None, 0.5, 1.0),
}
SPECIFICATIONS = (
    Specification("AveragePool", _pool, attributes=_AVERAGE, within=share(625), since=10),
    Specification("GlobalAveragePool", _global, within=share(625)),
    Specification("GlobalMaxPool", _global),
    Specification("LRN", _lrn, attributes=_NEIGHBOURS, within=between(-30, 30)),
    Specification("LpPool", _pool, attributes=_NORMS, within=between(-8, 8), since=11),
    Specification("MaxPool", _pool, attributes={"storage_order": (None, 0, 1)}, since=10),
    Specification("MaxUnpool", _unpool, (2,), since=9),
    Specification("RoiAlign", _roi_align, (3,), attributes=_ALIGNED, only=frozenset((FLOAT, DOUBLE)), since=16),
)
