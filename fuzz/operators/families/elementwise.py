"""Operators of one tensor that keep its shape: activations, functions, rounding, predicates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fuzz.operators.dtypes import BFLOAT16, BOOL, RANGE, UNSIGNED, Interval, numpy_dtype
from fuzz.operators.families._ranges import (
    Image,
    cosine,
    exponent,
    exponential,
    fixed,
    gain,
    gated,
    half,
    leaky,
    logistic,
    magnitude,
    monotone,
    negatable,
    same,
    signs,
    sine,
)
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import ranks
from fuzz.operators.specification import Operator, Specification, Value, Within, between, everything


def unary(
    op_type: str,
    image: Image,
    within: Within = everything,
    attributes: Mapping[str, Sequence[Value]] | None = None,
    since: int = 1,
    rank: int = 0,
) -> Specification:
    """An operator whose result has its input's dtype and shape; `rank` is the least that it is given."""
    allowed = ranks(rank)

    def grow(g: Growth, op: Operator) -> None:
        x = g.pick(op.domain, allowed)
        choices = op.choices
        attributes = choices[int(g.random() * len(choices))][1] if len(choices) > 1 else choices[0][1]
        g.node(op, (x,), attributes, g.dtype[x], g.shape[x], *image(g.low[x], g.high[x]))

    return Specification(op_type, grow, within=within, attributes=attributes or {}, since=since)


def predicate(op_type: str, attributes: Mapping[str, Sequence[Value]] | None = None) -> Specification:
    """An operator whose result is a truth value for each element."""

    def grow(g: Growth, op: Operator) -> None:
        x = g.pick(op.domain)
        g.node(op, (x,), g.among(op.choices)[1], BOOL, g.shape[x], 0, 1)

    return Specification(op_type, grow, attributes=attributes or {})


def _clip(g: Growth, op: Operator) -> None:
    """Bounds are scalars; either may be missing. min does not exceed max."""
    x = g.pick(op.domain)
    dtype, low, high = g.dtype[x], g.low[x], g.high[x]
    degree = g.among(op.degrees)
    floor, ceiling = RANGE[dtype]
    least = g.within(dtype, (), floor, max(0, floor)) if degree > 1 and g.random() < 0.75 else 0
    capped = degree == 3 or (degree == 2 and not least)
    most = g.within(dtype, (), max(1, g.high[least]), ceiling) if capped else 0
    low, high = (max(low, g.low[least]), max(high, g.high[least])) if least else (low, high)
    low, high = (min(low, g.low[most]), min(high, g.high[most])) if most else (low, high)
    inputs = (x, least, most) if most else (x, least) if least else (x,)
    g.node(op, inputs, b"", dtype, g.shape[x], low, high)


def _bitwise_not(g: Growth, op: Operator) -> None:
    """Of unsigned numbers what is left of the largest one, which for long ones lies beyond what any operator takes."""
    x = g.pick(op.domain)
    dtype = g.dtype[x]
    most = 2 ** (8 * numpy_dtype(dtype).itemsize) - 1 if dtype in UNSIGNED else -1
    g.node(op, (x,), b"", dtype, g.shape[x], most - g.high[x], most - g.low[x])


def _selu(low: float, high: float) -> Interval:
    """x times gamma above zero, and -2 at least below it."""
    return (low if low > 0 else max(2 * low, -2.0)), max(high, 0.0) * 1.125


_GENTLE = (None, 0.1, 0.5, 1.0)
SPECIFICATIONS = (
    unary("Abs", magnitude, lambda low, high: (-high if low < 0 else 0, high)),
    unary("Acos", lambda low, high: (math.acos(high), math.acos(low)), between(-1, 1)),
    unary("Acosh", monotone(math.acosh), between(1, math.inf)),
    unary("Asin", monotone(math.asin), between(-1, 1)),
    unary("Asinh", monotone(math.asinh)),
    unary("Atan", monotone(math.atan)),
    unary("Atanh", monotone(math.atanh), between(-0.9, 0.9)),
    Specification("BitwiseNot", _bitwise_not, since=18),
    unary("Ceil", lambda low, high: (math.ceil(low), math.ceil(high))),
    unary("Celu", exponential(1), attributes={"alpha": (None, 0.5, 2.0)}),
    # Its function body consists of Where, which takes bfloat16 from opset 16 on.
    Specification("Clip", _clip, degrees=(1, 2, 3), since=11, until=15, without=frozenset((BFLOAT16,))),
    Specification("Clip", _clip, degrees=(1, 2, 3), since=16),
    unary("Cos", cosine, between(-1e3, 1e3)),
    unary("Cosh", lambda low, high: (1, math.cosh(max(-low, high))), exponent),
    unary("Elu", exponential(1), attributes={"alpha": (None, 0.5, 2.0)}),
    unary("Erf", monotone(math.erf)),
    unary("Exp", monotone(math.exp), exponent),
    unary("Floor", lambda low, high: (math.floor(low), math.floor(high))),
    unary("Gelu", gated, attributes={"approximate": (None, "none", "tanh")}),
    unary("HardSigmoid", fixed(0, 1), attributes={"alpha": _GENTLE, "beta": (None, 0.25, 0.5)}),
    unary("HardSwish", gated),
    unary("Identity", same),
    unary("LeakyRelu", leaky, attributes={"alpha": (None, 0.01, 0.2, 1.0)}),
    unary("Log", monotone(math.log), between(1e-3, math.inf)),
    unary("Mish", gated, between(-1e3, 1e3)),
    unary("Neg", lambda low, high: (-high, -low), negatable),
    unary("Not", lambda low, high: (1 - high, 1 - low)),
    unary("Reciprocal", lambda low, high: (1 / high, 1 / low), between(0.01, math.inf)),
    unary("Relu", lambda low, high: (max(low, 0), max(high, 0))),
    unary("Round", lambda low, high: (math.floor(low), math.ceil(high))),
    unary("Selu", _selu, half, attributes={"alpha": (None, 0.5, 1.5), "gamma": (None, 1.125)}),
    unary("Shrink", gain(1, 1.0), half, {"lambd": (None, 0.25, 1.0), "bias": (None, 0.0, 0.5)}),
    unary("Sigmoid", logistic),
    unary("Sign", signs),
    unary("Sin", sine, between(-1e3, 1e3)),
    unary("Sinh", monotone(math.sinh), exponent),
    unary("Softplus", lambda low, high: (0.5 if low >= 0 else 0, max(high, 0) + 1), between(-1e3, 1e3)),
    unary("Softsign", monotone(lambda x: x / (1 + abs(x))), half, rank=1),  # the reference evaluator fails for scalars
    unary("Sqrt", monotone(math.sqrt), between(0, math.inf)),
    unary("Swish", gated, between(-1e3, 1e3), {"alpha": (None, 0.5, 1.0, 2.0)}),
    unary("Tan", monotone(math.tan), between(-1.4, 1.4)),
    unary("Tanh", monotone(math.tanh)),
    unary("ThresholdedRelu", lambda low, high: (0, max(high, 0)), attributes={"alpha": (None, 0.0, 0.5, 2.0)}),
    predicate("IsInf", {"detect_negative": (None, 0, 1), "detect_positive": (None, 0, 1)}),
    predicate("IsNaN"),
)
