"""Conversions between dtypes, and tensors that are made of attributes or shapes alone."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import lru_cache

import ml_dtypes
import numpy as np

from fuzz.operators import encoding
from fuzz.operators.dtypes import (
    BOOL,
    FLOAT,
    FLOAT4E2M1,
    FLOAT8,
    FLOAT8E8M0,
    INT2,
    INT4,
    INT64,
    RANGE,
    STRING,
    UINT2,
    UINT4,
    Interval,
    fresh_intervals,
    is_floating,
    numpy_dtype,
    raw,
    raw_slice,
)
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import LARGEST, SIZE, ranks
from fuzz.operators.specification import Domain, Operator, Specification, Within

#: The reference converts none of these into another.
_UNCONVERTED = frozenset((FLOAT8E8M0, INT4, UINT4, INT2, UINT2))


def _targets(source: int, low: float, high: float, allowed: tuple[int, ...]) -> list[int]:
    """Dtypes that hold the values. Strings convert to nothing but themselves: words are no numbers."""
    if source == STRING:
        return [STRING]
    if source in _UNCONVERTED:
        allowed = tuple(code for code in allowed if code not in _UNCONVERTED and code != FLOAT4E2M1)
    return [
        code
        for code in allowed
        if code == BOOL or (code != STRING and RANGE[code][0] <= low and high <= RANGE[code][1])
    ]


def _converted(low: float, high: float, source: int, target: int) -> Interval:
    if target == BOOL:
        return 0, 1
    if is_floating(target) or not is_floating(source):
        return low, high
    return truncated(low, high, source, target)


#: By so many rounding steps results may lie beyond what exact arithmetic says of them.
_STEPS = 4


def truncated(low: float, high: float, source: int, target: int) -> Interval:
    """The range of whole numbers that floats of a range become: erf(5) is less than 1, and in single precision 1."""
    least, most = RANGE[target]
    outward = 1 + _STEPS * _resolution(source)
    return max(math.trunc(min(low * outward, low)), least), min(math.trunc(max(high * outward, high)), most)


@lru_cache(64)
def _resolution(code: int) -> float:
    return float(ml_dtypes.finfo(numpy_dtype(code)).eps)


def _rounded(g: Growth, op: Operator, target: int) -> bytes:
    """What becomes of values beyond a small float, of which there are none here, and how powers of two are rounded."""
    if target == FLOAT8E8M0 and op.opset >= 24:
        return g.among((b"", encoding.text("round_mode", g.among(("up", "down", "nearest")))))
    if target in FLOAT8 and op.opset >= 19:
        return g.among((b"", encoding.integer("saturate", 0), encoding.integer("saturate", 1)))
    return b""


def _cast(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain)
    source, low, high = g.dtype[x], g.low[x], g.high[x]
    choices = op.others["to"]
    targets = _targets(source, low, high, choices.common if g.random() < 0.8 else choices.dtypes)
    if not g.shape[x]:  # the reference makes no scalars of powers of two
        targets = [code for code in targets if code != FLOAT8E8M0] or [BOOL]
    target = g.among(targets)
    attributes = encoding.integer("to", target) + _rounded(g, op, target)
    g.node(op, (x,), attributes, target, g.shape[x], *_converted(low, high, source, target))


def _cast_like(g: Growth, op: Operator) -> None:
    """The second input gives its dtype and nothing else."""
    x = g.pick(op.domain)
    source, low, high = g.dtype[x], g.low[x], g.high[x]
    choices = op.others["to"]
    targets = _targets(source, low, high, choices.common if g.random() < 0.8 else choices.dtypes)
    if not g.shape[x]:
        targets = [code for code in targets if code != FLOAT8E8M0]
    target = g.among(targets or [source])
    like = g.pick(_like(op, target))
    attributes = _rounded(g, op, target)
    g.node(op, (x, like), attributes, target, g.shape[x], *_converted(low, high, source, target))


_LIKE: dict[int, Domain] = {}


def _like(op: Operator, code: int) -> Domain:
    """Anything of the dtype."""
    found = _LIKE.get(code)
    if found is None:
        found = _LIKE[code] = Domain((code,))
    return found


def _fills(g: Growth, code: int) -> tuple[bytes, float]:
    """A value of the dtype as raw data, and as a number."""
    low, high = g.among(fresh_intervals(code, *RANGE[code]))
    value = low if g.random() < 0.5 else high
    return raw_slice(code, 1, (value, value), 0.0), value


def _constant_of_shape(g: Growth, op: Operator) -> None:
    """The shape is a constant; without `value` the result is float zeros.

    Not of floats of eight bits, on which ONNX Runtime fails while it loads.
    """
    shape = g.shape_of_rank(ranks(0), LARGEST)
    target = g.configuration(shape)
    if g.random() < 0.25:
        g.node(op, (target,), b"", FLOAT, shape, 0, 0)
        return
    code = _any(g, op.others["value"], _NO_NUMBERS | FLOAT8)
    data, value = _fills(g, code)
    g.node(op, (target,), encoding.tensor_attribute("value", code, (1,), data), code, shape, value, value)


#: A constant of words has attributes of its own; the reference makes none of complex numbers here.
_NO_NUMBERS = frozenset((STRING, 14, 15))


def _any(g: Growth, domain: Domain, without: Collection[int] = _NO_NUMBERS) -> int:
    """A dtype of numbers, common ones more often."""
    if g.random() < 0.8:
        return g.among(domain.common)
    return g.among([code for code in domain.dtypes if code not in without])


def _constant(g: Growth, op: Operator) -> None:
    """A tensor, or a number or a list of numbers by the attributes made for them."""
    way = g.below(6)
    if way == 0:
        number = float(g.below(5) - 2)
        g.node(op, (), encoding.floating("value_float", number), FLOAT, (), number, number)
    elif way == 1:
        whole = g.below(7) - 3
        g.node(op, (), encoding.integer("value_int", whole), INT64, (), whole, whole)
    elif way == 2:
        items = tuple([g.below(7) - 3 for _ in range(1 + g.below(5))])
        g.node(op, (), encoding.integers("value_ints", items), INT64, (len(items),), min(items), max(items))
    elif way == 3:
        numbers = tuple([(g.below(7) - 3) / 2 for _ in range(1 + g.below(5))])
        attribute = encoding.floats("value_floats", numbers)
        g.node(op, (), attribute, FLOAT, (len(numbers),), min(numbers), max(numbers))
    else:
        code = _any(g, op.others["value"])
        shape = g.shape_of_rank(ranks(0), 125)
        interval = g.among(fresh_intervals(code, *RANGE[code]))
        data = raw_slice(code, SIZE[shape], interval, g.below(8) / 8)
        g.node(op, (), encoding.tensor_attribute("value", code, shape, data), code, shape, *interval)


def _range(g: Growth, op: Operator) -> None:
    """Start, limit and delta are constants of one dtype; at least one number results."""
    code = g.among(op.domain.dtypes)
    delta = g.among((1, 2, -1))
    count = 1 + g.below(6)
    start = g.below(7) - 3
    limit = start + delta * count
    inputs = [
        g.constant(code, encoding.tensor_content(code, (), raw(np.array(value).astype(numpy_dtype(code)), code)))
        for value in (start, limit, delta)
    ]
    last = start + delta * (count - 1)
    g.node(op, inputs, b"", code, (count,), min(start, last), max(start, last))


def _eye(g: Growth, op: Operator) -> None:
    """A matrix with one diagonal of ones, of the input's shape, and of its dtype unless another is given."""
    x = g.pick(op.domain, ranks(2, 2))
    shape = g.shape[x]
    given = g.random() < 0.5 or g.dtype[x] not in op.others["dtype"].bounds
    code = g.among(op.others["dtype"].common) if given else g.dtype[x]
    attributes = encoding.integer("dtype", code) if given else b""
    if g.random() < 0.5:
        attributes += encoding.integer("k", g.below(2 * max(shape) + 1) - max(shape))
    g.node(op, (x,), attributes, code, shape, 0, 1)


_ALL: Within = lambda low, high: (low, high)  # noqa: E731
SPECIFICATIONS = (
    Specification("Cast", _cast, others={"to": ("T2", _ALL)}, since=9),
    Specification("CastLike", _cast_like, (2,), others={"to": ("T2", _ALL)}, since=15),
    Specification("Constant", _constant, (0,), others={"value": ("T", _ALL)}, since=12),
    Specification("ConstantOfShape", _constant_of_shape, others={"value": ("T2", _ALL)}, since=9),
    Specification("EyeLike", _eye, others={"dtype": ("T2", _ALL)}, since=9),
    Specification("Range", _range, (3,), since=11),
)
