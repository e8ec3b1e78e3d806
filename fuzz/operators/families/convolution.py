"""Convolutions, in floats and in integers."""

from __future__ import annotations

from fuzz.operators import encoding
from fuzz.operators.dtypes import FLOAT, INT32, Interval
from fuzz.operators.families._ranges import product
from fuzz.operators.families._windows import Window, window
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import SIZE, Shape, ranks
from fuzz.operators.specification import Operator, Specification, everything, root

#: Products that are added up for one element, at most: channels and a kernel of three by three by three.
_TERMS = 700
_RANKS = ranks(3, 5)


def _groups(g: Growth, channels: int) -> int:
    return g.among([each for each in range(1, channels + 1) if channels % each == 0])


def _weights(g: Growth, dtype: int, low: float, high: float, shape: Shape, group: int) -> tuple[int, Window]:
    """A kernel (M x C/group x k1 x ...) and its window: one that exists and fits, else a new one."""
    channels, spatial = shape[1], shape[2:]
    fitting = [
        other
        for other in g.shapes_of(dtype)
        if len(other) == len(shape)
        and other[1] * group == channels
        and other[0] % group == 0
        and other[0] <= 6
        and all(size <= space for size, space in zip(other[2:], spatial, strict=True))
    ]
    if fitting and g.random() < 0.8:
        w = g.matching(dtype, fitting, low, high)
        return w, window(g, spatial, kernel=g.shape[w][2:])
    found = window(g, spatial)
    made = (group * (1 + g.below(max(1, 4 // group))), channels // group, *found.kernel)
    return g.within(dtype, made, low, high, parameter=True), found


def _conv(g: Growth, op: Operator) -> None:
    degree = g.among(op.degrees)
    x = g.pick(op.domain, _RANKS, 625)
    dtype, shape = g.dtype[x], g.shape[x]
    low, high = op.domain.bounds[dtype]
    group = _groups(g, shape[1])
    w, found = _weights(g, dtype, low, high, shape, group)
    outs = g.shape[w][0]
    inputs = [x, w]
    least, most = _sums(g, x, w, SIZE[g.shape[w][1:]])
    if degree == 3:
        b = g.within(dtype, (outs,), low, high, parameter=True)
        inputs.append(b)
        least, most = least + g.low[b], most + g.high[b]
    g.node(op, inputs, _attributes(g, found, group), dtype, (shape[0], outs, *found.result), least, most)


def _attributes(g: Growth, found: Window, group: int) -> bytes:
    attributes = found.attributes
    if group > 1 or g.random() < 0.2:
        attributes += encoding.integer("group", group)
    if g.random() < 0.5:  # it follows from the weights
        attributes += encoding.integers("kernel_shape", found.kernel)
    return attributes


def _sums(g: Growth, x: int, w: int, terms: int) -> Interval:
    """Of products, some of which fall into the padding."""
    low, high = product(g.low[x], g.high[x], g.low[w], g.high[w])
    return min(low * terms, 0), max(high * terms, 0)


def _conv_transpose(g: Growth, op: Operator) -> None:
    """Sizes follow from strides, pads and output_padding. The reference takes groups of one channel without a bias."""
    x = g.pick(op.domain, _RANKS, 250)
    dtype, shape = g.dtype[x], g.shape[x]
    low, high = op.domain.bounds[dtype]
    group = _groups(g, shape[1])
    spatial = shape[2:]
    kernel = tuple([1 + g.below(3) for _ in spatial])
    strides = tuple([1 + g.below(2) for _ in spatial])
    dilations = tuple([1 + (g.random() < 0.2) for _ in spatial])
    if g.random() < 0.5:
        group = 1
    group = shape[1] if group > 1 else 1
    per_group = 1 if group > 1 else 1 + g.below(3)
    degree = 2 if group > 1 else g.among(op.degrees)
    w = g.within(dtype, (shape[1], per_group, *kernel), low, high, parameter=True)
    # The reference cannot add output_padding to groups.
    attributes, result = _transposed(g, spatial, kernel, strides, dilations, group == 1)
    if SIZE[(shape[0], per_group * group, *result)] > 3125:  # windows side by side, which grow the least
        kernel = strides = dilations = tuple([1] * len(spatial))
        w = g.within(dtype, (shape[1], per_group, *kernel), low, high, parameter=True)
        attributes, result = b"", spatial
    inputs = [x, w]
    least, most = _sums(g, x, w, SIZE[g.shape[w]])
    if degree == 3:
        b = g.within(dtype, (per_group * group,), low, high, parameter=True)
        inputs.append(b)
        least, most = least + g.low[b], most + g.high[b]
    attributes += encoding.integer("group", group) if group > 1 else b""
    if g.random() < 0.5:  # it follows from the weights
        attributes += encoding.integers("kernel_shape", kernel)
    g.node(op, inputs, attributes, dtype, (shape[0], per_group * group, *result), least, most)


def _transposed(
    g: Growth, spatial: Shape, kernel: Shape, strides: Shape, dilations: Shape, padded: bool
) -> tuple[bytes, Shape]:
    begins, ends, more, result = [], [], [], []
    for space, size, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True):
        full = (space - 1) * stride + (size - 1) * dilation + 1
        begin = g.below(min(2, full))
        end = g.below(min(2, full - begin))
        extra = g.below(stride) if stride > 1 and padded else 0
        begins.append(begin)
        ends.append(end)
        more.append(extra)
        result.append(full - begin - end + extra)
    attributes = encoding.integers("pads", (*begins, *ends)) if any(begins + ends) else b""
    attributes += encoding.integers("output_padding", tuple(more)) if any(more) else b""
    attributes += encoding.integers("strides", strides) if any(stride > 1 for stride in strides) else b""
    attributes += encoding.integers("dilations", dilations) if any(each > 1 for each in dilations) else b""
    return attributes, tuple(result)


def _zero_point(g: Growth, dtype: int, shape: Shape = ()) -> int:
    return g.within(dtype, shape, 0, 4, parameter=True)


def _conv_integer(g: Growth, op: Operator) -> None:
    """Zero points are scalars; that of the weights may be one for each output channel."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, _RANKS, 625)
    shape = g.shape[x]
    group = _groups(g, shape[1])
    code = g.among(op.others["w"].dtypes)
    w, found = _weights(g, code, *op.others["w"].bounds[code], shape, group)
    outs = g.shape[w][0]
    inputs = [x, w]
    if degree > 2:
        inputs.append(_zero_point(g, g.dtype[x]))
    if degree > 3:
        inputs.append(_zero_point(g, code))
    most = 300 * 300 * SIZE[g.shape[w][1:]]
    g.node(op, inputs, _attributes(g, found, group), INT32, (shape[0], outs, *found.result), -most, most)


def _qlinear_conv(g: Growth, op: Operator) -> None:
    """Scales and zero points of x, w and y; the bias is int32."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, _RANKS, 625)
    shape, dtype = g.shape[x], g.dtype[x]
    group = _groups(g, shape[1])
    w, found = _weights(g, dtype, *op.domain.bounds[dtype], shape, group)
    outs = g.shape[w][0]
    inputs = [
        x,
        _scale(g),
        _zero_point(g, dtype),
        w,
        _scale(g),
        _zero_point(g, dtype),
        _scale(g),
        _zero_point(g, dtype),
    ]
    if degree == 9:
        inputs.append(g.within(INT32, (outs,), -100, 100, parameter=True))
    low, high = (0, 255) if op.domain.bounds[dtype][0] >= 0 else (-128, 127)
    g.node(op, inputs, _attributes(g, found, group), dtype, (shape[0], outs, *found.result), low, high)


def _scale(g: Growth) -> int:
    return g.within(FLOAT, (), 0.125, 4.0, parameter=True)


def _deform(g: Growth, op: Operator) -> None:
    """Offsets move every sample of the kernel, between elements and beyond the edge; a mask weighs them."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, ranks(4, 4), 250)
    dtype, shape = g.dtype[x], g.shape[x]
    if min(shape[2:]) == 1:  # the reference interpolates between two rows and two columns
        shape = (*shape[:2], 2 + g.below(3), 2 + g.below(3))
        x = g.exact(op.domain, dtype, shape)
    n, channels = shape[:2]
    low, high = op.domain.bounds[dtype]
    group = _groups(g, channels)
    offset_group = _groups(g, channels)
    found = window(g, shape[2:], auto=False)
    outs = group * (1 + g.below(2))
    w = g.within(dtype, (outs, channels // group, *found.kernel), low, high, parameter=True)
    places = SIZE[found.kernel] * offset_group
    offset = g.within(dtype, (n, 2 * places, *found.result), -2, 2)
    inputs = [x, w, offset]
    least, most = _sums(g, x, w, SIZE[g.shape[w][1:]])
    if degree > 3:
        b = g.within(dtype, (outs,), low, high, parameter=True)
        inputs.append(b)
        least, most = least + g.low[b], most + g.high[b]
    if degree > 4:
        inputs.append(g.within(dtype, (n, places, *found.result), 0, 1))
    attributes = _attributes(g, found, group)
    attributes += encoding.integer("offset_group", offset_group) if offset_group > 1 else b""
    g.node(op, inputs, attributes, dtype, (n, outs, *found.result), least, most)


_WEIGHTS = {"w": ("T2", everything)}
SPECIFICATIONS = (
    Specification("Conv", _conv, (2, 3), within=root(_TERMS)),
    Specification("ConvInteger", _conv_integer, (2, 3, 4), others=_WEIGHTS, since=10),
    Specification("ConvTranspose", _conv_transpose, (2, 3), within=root(_TERMS)),
    Specification("DeformConv", _deform, (3, 4, 5), within=root(_TERMS), since=19),
    Specification("QLinearConv", _qlinear_conv, (8, 9), since=10),
)
