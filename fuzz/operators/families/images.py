"""Resampling: Resize, GridSample, AffineGrid, Col2Im; boxes that survive suppression."""

from __future__ import annotations

import struct

from fuzz.operators import encoding
from fuzz.operators.dtypes import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, STRING, UINT8
from fuzz.operators.encoding import ABSENT
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import SIZE, Shape, ranks
from fuzz.operators.specification import Operator, Specification, everything, share

#: Values that cubic interpolation may overshoot by, for each axis.
_OVERSHOOT = 1.6

_COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
#: ONNX Runtime interpolates no vectors, and no cubes by cubic functions.
_RESIZED = {"linear": ranks(2, 4), "cubic": frozenset((2, 4))}
#: Dtypes between whose values others lie.
_INTERPOLATED = frozenset((FLOAT, DOUBLE))
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _resize(g: Growth, op: Operator) -> None:
    """To scales or to sizes, on all axes or some. Scales are halves and wholes, so that sizes are exact."""
    x = g.pick(op.domain, ranks(1, 4), 80)
    shape = g.shape[x]
    rank = len(shape)
    interpolated = [mode for mode, allowed in _RESIZED.items() if g.dtype[x] in _INTERPOLATED and rank in allowed]
    mode = g.among((*interpolated, "nearest", "nearest"))
    # Interpolation is along the last axes at most; the first ones are batch and channels.
    moving = range(rank) if mode == "nearest" else range(max(0, rank - 2), rank)
    scales = [g.among((1.0, 2.0, 0.5, 1.5)) if axis in moving else 1.0 for axis in range(rank)]
    scales = [scale if (size * scale).is_integer() else 1.0 for size, scale in zip(shape, scales, strict=True)]
    result = tuple([int(size * scale) for size, scale in zip(shape, scales, strict=True)])
    attributes = encoding.text("mode", mode) if mode != "nearest" or g.random() < 0.5 else b""
    inputs, more = _sized(g, op, x, scales, result)
    attributes += more
    if g.random() < 0.7:
        attributes += encoding.text("coordinate_transformation_mode", g.among(_coordinates(op, result)))
    if mode == "nearest" and g.random() < 0.6:
        attributes += encoding.text("nearest_mode", g.among(_NEAREST))
    if mode == "cubic":
        attributes += encoding.attribute("cubic_coeff_a", g.among((None, -0.5, -0.75)))
        attributes += encoding.attribute("exclude_outside", g.among((None, 0, 1)))
    if mode != "nearest" and op.opset >= 18:
        attributes += encoding.attribute("antialias", g.among((None, None, 0, 1)))
    most = max(abs(g.low[x]), abs(g.high[x])) * _OVERSHOOT ** len(moving)
    low, high = (-most, most) if mode == "cubic" else (g.low[x], g.high[x])
    if mode == "linear":  # weights are rounded, so that zero may come out as less
        low, high = low - 1e-5 * most, high + 1e-5 * most
    g.node(op, inputs, attributes, g.dtype[x], result, low, high)


def _sized(g: Growth, op: Operator, x: int, scales: list[float], result: Shape) -> tuple[list[int], bytes]:
    """Inputs that give the scales or the sizes, of all axes or of those that change, and attributes that go with it."""
    axes, attributes = tuple(range(len(scales))), b""
    if op.opset >= 18 and g.random() < 0.3:
        axes = tuple([axis for axis in axes if scales[axis] != 1.0]) or axes
        attributes = encoding.integers("axes", axes)  # the reference counts none from the end
    chosen = [scales[axis] for axis in axes]
    if g.random() < 0.5:
        data = struct.pack(f"<{len(axes)}f", *chosen)
        return [x, ABSENT, g.constant(FLOAT, encoding.tensor_content(FLOAT, (len(axes),), data))], attributes
    if op.opset >= 18 and len(set(chosen)) == 1:  # the policies change nothing where all axes have one scale
        attributes += encoding.attribute("keep_aspect_ratio_policy", g.among((None, "not_larger", "not_smaller")))
    return [x, ABSENT, ABSENT, g.configuration(tuple([result[axis] for axis in axes]))], attributes


def _coordinates(op: Operator, result: Shape) -> list[str]:
    """The modes of the opset. Of one mode the reference has another place than the standard for an only element."""
    known = _COORDINATES if op.opset >= 19 else _COORDINATES[:4]
    return [each for each in known if each != "pytorch_half_pixel" or 1 not in result[-2:]]


def _grid_sample(g: Growth, op: Operator) -> None:
    """Samples at coordinates between -1 and 1, with neighbours beyond the edge by the padding mode."""
    x = g.pick(op.domain, ranks(4, 5), 250)
    dtype, shape = g.dtype[x], g.shape[x]
    spatial = len(shape) - 2
    if min(shape[2:]) == 1:  # the reference divides by the number of rows and columns less one
        shape = (*shape[:2], *[2 + g.below(3) for _ in range(spatial)])
        x = g.exact(op.domain, dtype, shape)
    sizes = tuple([1 + g.below(6 - spatial) for _ in range(spatial)])
    code = FLOAT if dtype not in op.others["grid"].bounds else dtype
    grid = g.within(code, (shape[0], *sizes, spatial), -1, 1)
    # Cubes are not interpolated by cubic functions everywhere.
    values, attributes = g.among([each for each in op.choices if spatial == 2 or each[0][0] != "cubic"])
    most = max(abs(g.low[x]), abs(g.high[x])) * (_OVERSHOOT**2 if values[0] == "cubic" else 1)
    g.node(op, (x, grid), attributes, dtype, (*shape[:2], *sizes), -most, most)


def _affine_grid(g: Growth, op: Operator) -> None:
    """Coordinates of an image (or a volume) under an affine map for each batch entry."""
    n, spatial = 1 + g.below(3), 2 + g.below(2)
    dtype = g.dtype[g.pick(op.domain)]
    theta = g.within(dtype, (n, spatial, spatial + 1), -2, 2)
    sizes = tuple([2 + g.below(3) for _ in range(spatial)])
    inputs = (theta, g.configuration((n, 1 + g.below(3), *sizes)))
    most = 2.0 * (spatial + 1)
    g.node(op, inputs, g.among(op.choices)[1], dtype, (n, *sizes, spatial), -most, most)


def _col2im(g: Growth, op: Operator) -> None:
    """Blocks side by side or overlapping, put back where they were cut out, sums where they overlap."""
    x = g.pick(op.domain)
    dtype = g.dtype[x]
    block = (1 + g.below(2), 1 + g.below(2))
    strides = (1 + g.below(2), 1 + g.below(2))
    counts = (1 + g.below(3), 1 + g.below(3))
    dilations = (1 + g.below(2), 1 + g.below(2)) if g.random() < 0.3 else (1, 1)
    full = [
        (count - 1) * step + (size - 1) * apart + 1
        for count, step, size, apart in zip(counts, strides, block, dilations, strict=True)
    ]
    begins = [g.below(min(2, size)) if g.random() < 0.3 else 0 for size in full]
    ends = [g.below(min(2, size - begin)) if begin else 0 for size, begin in zip(full, begins, strict=True)]
    image = tuple([size - begin - end for size, begin, end in zip(full, begins, ends, strict=True)])
    n, channels = 1 + g.below(2), 1 + g.below(3)
    columns = g.exact(op.domain, dtype, (n, channels * SIZE[block], SIZE[counts]))
    attributes = encoding.integers("strides", strides)
    attributes += encoding.integers("dilations", dilations) if max(dilations) > 1 else b""
    attributes += encoding.integers("pads", (*begins, *ends)) if any(begins) else b""
    inputs = (columns, g.configuration(image), g.configuration(block))
    low, high = min(g.low[columns] * 4, 0), max(g.high[columns] * 4, 0)
    g.node(op, inputs, attributes, dtype, (n, channels, *image), low, high)


def _suppress(g: Growth, op: Operator) -> None:
    """Boxes with room inside, as corners or as a centre and sizes; how many survive depends on the scores."""
    n, boxes, classes = 1 + g.below(2), 1 + g.below(5), 1 + g.below(3)
    numbers = []
    for _ in range(n * boxes):
        y, x, h, w = g.below(8) / 8, g.below(8) / 8, (1 + g.below(8)) / 8, (1 + g.below(8)) / 8
        numbers += [y, x, y + h, x + w]
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    corners = g.constant(FLOAT, encoding.tensor_content(FLOAT, (n, boxes, 4), data))
    scores = g.within(FLOAT, (n, classes, boxes), -1, 1)
    inputs = [corners, scores, g.configuration((1 + g.below(3),), (1,))]
    for threshold in (0.5, 0.25):  # which the reference must be given
        inputs.append(g.constant(FLOAT, encoding.tensor_content(FLOAT, (1,), struct.pack("<f", threshold))))
    g.dynamic(op, inputs, g.among(op.choices)[1], [(INT64, (None, 3))])


_RESIZABLE = _INTERPOLATED | {FLOAT16, INT8, UINT8, INT32, INT64}
_ALIGN = {"align_corners": (None, 0, 1)}
_SAMPLING = {
    "mode": (None, "linear", "nearest", "cubic"),
    "padding_mode": (None, "zeros", "border", "reflection"),
    **_ALIGN,
}
SPECIFICATIONS = (
    # The reference yields float32 whatever it is given.
    Specification("AffineGrid", _affine_grid, (2,), attributes=_ALIGN, only=frozenset((FLOAT,)), since=20),
    Specification("Col2Im", _col2im, (3,), within=share(64), without=frozenset((BOOL, STRING)), since=18),
    Specification(
        "GridSample",
        _grid_sample,
        (2,),
        within=share(8),
        others={"grid": ("T2", everything)},
        attributes=_SAMPLING,
        only=frozenset((FLOAT, DOUBLE)),
        since=20,
    ),
    Specification("NonMaxSuppression", _suppress, (5,), attributes={"center_point_box": (None, 0, 1)}, since=10),
    Specification("Resize", _resize, (2,), within=share(64), only=_RESIZABLE, since=13),
)
