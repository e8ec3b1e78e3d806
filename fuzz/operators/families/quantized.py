"""Quantisation: to integers and small floats and back, by tensor, by axis, and products of quantised matrices."""

from __future__ import annotations

from dataclasses import replace

from fuzz.operators import encoding
from fuzz.operators.dtypes import FLOAT, FLOATS, RANGE, UINT8, is_floating
from fuzz.operators.families.linear import matmul_partners_matrix, multiplied
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import Shape, ranks
from fuzz.operators.specification import Operator, Specification, between, everything

_SCALES = (0.125, 4.0)


def _granularity(g: Growth, op: Operator, shape: Shape) -> tuple[Shape, bytes]:
    """The shape of scales and zero points: one for all, or one for each entry or each block along an axis."""
    if not shape or g.random() < 0.6:
        return (), b""
    axis = g.below(2 * len(shape)) - len(shape)
    if op.opset >= 21 and g.random() < 0.3:
        at = axis % len(shape)
        block = g.among([each for each in (1, 2, 3) if shape[at] % each == 0 or g.random() < 0.2])
        entries = (*shape[:at], -(-shape[at] // block), *shape[at + 1 :])
        if entries != (1,):  # which some take for one scale for all
            return entries, encoding.integer("axis", axis) + encoding.integer("block_size", block)
    left_out = axis == 1 and g.random() < 0.5
    return (shape[axis],), b"" if left_out else encoding.integer("axis", axis)


def _quantize(g: Growth, op: Operator) -> None:
    """To the zero point's dtype, which is uint8 without one."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain)
    dtype, shape = g.dtype[x], g.shape[x]
    entries, attributes = _granularity(g, op, shape)
    scale = g.within(dtype, entries, *_SCALES, parameter=True)
    inputs, target = [x, scale], UINT8
    choices = op.others["y"]
    if degree == 2 and op.opset >= 21 and g.random() < 0.5:
        target = g.among(choices.common if g.random() < 0.7 else choices.dtypes)
        attributes += encoding.integer("output_dtype", target)
    if degree == 3:
        target = g.among(choices.common if g.random() < 0.7 else choices.dtypes)
        low, high = RANGE[target]
        zero = (max(low, 0), 0) if is_floating(target) else (max(low, -2), min(high, 3))
        inputs.append(g.within(target, entries, *zero, parameter=True))
    g.node(op, inputs, attributes, target, shape, *RANGE[target])


def _dequantize(g: Growth, op: Operator) -> None:
    """int32 takes no zero point but zero, small floats none."""
    x = g.pick(op.domain)
    dtype, shape = g.dtype[x], g.shape[x]
    entries, attributes = _granularity(g, op, shape)
    most = (max(abs(g.low[x]), abs(g.high[x])) + 4) * _SCALES[1]
    code = g.among([each for each in op.others["scale"].common if most <= RANGE[each][1]] or [FLOAT])
    scale = g.within(code, entries, *_SCALES, parameter=True)
    inputs = [x, scale]
    if g.among(op.degrees) == 3:
        zero = (0, 0) if is_floating(dtype) or dtype == 6 else (max(RANGE[dtype][0], -2), min(RANGE[dtype][1], 3))
        inputs.append(g.within(dtype, entries, *zero, parameter=True))
    g.node(op, inputs, attributes, code, shape, -most, most)


def _dynamic(g: Growth, op: Operator) -> None:
    """Quantised values with the scale and the zero point that were chosen for them."""
    x = g.pick(op.domain)
    shape = g.shape[x]
    most = max(abs(g.low[x]), abs(g.high[x]))
    outputs = ((UINT8, shape, 0, 255), (FLOAT, (), 0, 2 * most / 255 + 1e-3), (UINT8, (), 0, 255))
    g.nodes(op, (x,), b"", outputs)


def _qlinear_matmul(g: Growth, op: Operator) -> None:
    a = g.pick(op.domain, ranks(2), 625)
    dtype, shape = g.dtype[a], g.shape[a]
    fitting = matmul_partners_matrix(g, dtype, shape)
    b = g.matching(dtype, fitting or [(shape[-1], 1 + g.below(5))], *op.domain.bounds[dtype])
    result = multiplied(shape, g.shape[b])
    assert result is not None

    def parameters() -> tuple[int, int]:
        return g.within(FLOAT, (), *_SCALES, parameter=True), g.within(dtype, (), 0, 4, parameter=True)

    inputs = (a, *parameters(), b, *parameters(), *parameters())
    g.node(op, inputs, b"", dtype, result, *RANGE[dtype])


_BYTES = frozenset((UINT8, 3))


def _quantizing(since: int, until: int, results: str) -> Specification:
    """`results`: the type variable of the results, of which opsets have different ones."""
    others = {"y": (results, everything)}
    row = Specification("QuantizeLinear", _quantize, (2, 3), within=between(-1e3, 1e3), only=FLOATS, others=others)
    return replace(row, since=since, until=until)


_NEWEST = 1 << 16
SPECIFICATIONS = (
    # Before opset 19 the reference has none.
    Specification(
        "DequantizeLinear",
        _dequantize,
        (2, 3),
        within=between(-1e5, 1e5),
        others={"scale": ("T2", everything)},
        since=19,
    ),
    Specification("DynamicQuantizeLinear", _dynamic, within=between(-1e3, 1e3), since=11),
    Specification("QLinearMatMul", _qlinear_matmul, (8,), only=_BYTES, since=10),
    _quantizing(13, 22, "T2"),
    _quantizing(23, _NEWEST, "T3"),
)
