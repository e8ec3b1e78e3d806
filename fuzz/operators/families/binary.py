"""Operators of two or more tensors that are broadcast to one shape."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.operators import encoding
from fuzz.operators.dtypes import BOOL, FLOATS, UNSIGNED, Interval, is_floating
from fuzz.operators.families._ranges import product
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import BROADCAST
from fuzz.operators.specification import (
    Operator,
    Specification,
    Within,
    between,
    everything,
    root,
    share,
)

#: The range of results from the ranges of both inputs.
Image2 = Callable[[float, float, float, float], Interval]


def binary(op_type: str, image: Image2, within: Within = everything, since: int = 7) -> Specification:
    """Both inputs have one dtype and the same domain, and so has the result its dtype."""

    def grow(g: Growth, op: Operator) -> None:
        x = g.pick(op.domain)
        y = g.broadcasting(op.domain, g.dtype[x], g.shape[x])
        if g.random() < 0.5:
            x, y = y, x
        shape = BROADCAST[g.shape[x]][g.shape[y]]
        assert shape is not None
        g.node(op, (x, y), b"", g.dtype[x], shape, *image(g.low[x], g.high[x], g.low[y], g.high[y]))

    return Specification(op_type, grow, (2,), within=within, since=since)


def comparison(op_type: str, since: int = 9) -> Specification:
    """Both inputs have one dtype; the result is a truth value for each pair."""

    def grow(g: Growth, op: Operator) -> None:
        x = g.pick(op.domain)
        y = g.broadcasting(op.domain, g.dtype[x], g.shape[x])
        if g.random() < 0.5:
            x, y = y, x
        shape = BROADCAST[g.shape[x]][g.shape[y]]
        assert shape is not None
        g.node(op, (x, y), b"", BOOL, shape, 0, 1)

    return Specification(op_type, grow, (2,), since=since)


#: The ends of a result's range, each from those of all inputs.
_Ends = Callable[[list[float]], float]


def variadic(op_type: str, end: _Ends, within: Within, one_way: bool = False) -> Specification:
    """One to five inputs of one dtype; the ends of the result's range follow from those of the inputs.

    `one_way`: the others broadcast to the first, not the other way round.
    """

    def grow(g: Growth, op: Operator) -> None:
        degree = g.among(op.degrees)
        x = g.pick(op.domain)
        dtype, shape = g.dtype[x], g.shape[x]
        inputs = [x]
        for _ in range(degree - 1):
            if one_way:
                y = g.one_way(dtype, shape, *op.domain.bounds[dtype])
            else:
                y = g.broadcasting(op.domain, dtype, shape)
            joined = BROADCAST[shape][g.shape[y]]
            assert joined is not None
            shape = joined
            inputs.append(y)
        low, high = end([g.low[each] for each in inputs]), end([g.high[each] for each in inputs])
        g.node(op, inputs, b"", dtype, shape, low, high)

    return Specification(op_type, grow, (1, 2, 3, 4, 5), within=within, since=8)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _bits(low: float, high: float, other_low: float, other_high: float) -> Interval:
    """All numbers with as many bits as the longest among the inputs."""
    most = 1
    while most <= max(high, other_high, -low, -other_low):
        most *= 2
    return (-most if min(low, other_low) < 0 else 0), most - 1


def _subtract(g: Growth, op: Operator) -> None:
    """An unsigned difference must not fall below zero."""
    x = g.pick(op.domain)
    dtype, shape = g.dtype[x], g.shape[x]
    if dtype in UNSIGNED:
        y = g.one_way(dtype, shape, 0, g.low[x])
    else:
        y = g.broadcasting(op.domain, dtype, shape)
        if g.random() < 0.5:
            x, y = y, x
    joined = BROADCAST[g.shape[x]][g.shape[y]]
    assert joined is not None
    g.node(op, (x, y), b"", dtype, joined, g.low[x] - g.high[y], g.high[x] - g.low[y])


def _divisor(g: Growth, op: Operator, x: int) -> int:
    """A tensor away from zero. Negative floats, too; integers divide by positive ones."""
    side = "negative" if is_floating(g.dtype[x]) and g.random() < 0.3 else "positive"
    return g.broadcasting(op.others[side], g.dtype[x], g.shape[x])


def _divide(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain)
    y = _divisor(g, op, x)
    joined = BROADCAST[g.shape[x]][g.shape[y]]
    assert joined is not None
    low, high = product(g.low[x], g.high[x], 1 / g.high[y], 1 / g.low[y])
    if not is_floating(g.dtype[x]):
        low, high = int(low), int(high)
    g.node(op, (x, y), b"", g.dtype[x], joined, low, high)


_MODULO = {True: (encoding.integer("fmod", 1),), False: (b"", encoding.integer("fmod", 0), encoding.integer("fmod", 1))}


def _modulo(g: Growth, op: Operator) -> None:
    """Floats need fmod=1."""
    x = g.pick(op.domain)
    y = _divisor(g, op, x)
    joined = BROADCAST[g.shape[x]][g.shape[y]]
    assert joined is not None
    most = max(abs(g.low[y]), abs(g.high[y]))
    attributes = g.among(_MODULO[is_floating(g.dtype[x])])
    g.node(op, (x, y), attributes, g.dtype[x], joined, -most if g.low[x] < 0 else 0, most)


def _power(g: Growth, op: Operator) -> None:
    """The exponent has a dtype of its own where the base is a float; an integer to a fraction is left out."""
    x = g.pick(op.domain)
    dtype = g.dtype[x]
    exponents = op.others["exponent"]
    codes: tuple[int, ...] = (dtype,)
    if dtype in FLOATS:
        codes = exponents.common if g.random() < 0.8 else exponents.dtypes
    y = g.broadcasting(
        exponents, dtype if dtype in exponents.bounds and g.random() < 0.5 else g.among(codes), g.shape[x]
    )
    joined = BROADCAST[g.shape[x]][g.shape[y]]
    assert joined is not None
    g.node(op, (x, y), b"", dtype, joined, 0, max(1, g.high[x]) ** g.high[y])


def _prelu(g: Growth, op: Operator) -> None:
    """The slope broadcasts to X's shape, not the other way round."""
    x = g.pick(op.domain)
    dtype, shape = g.dtype[x], g.shape[x]
    y = g.one_way(dtype, shape, *op.others["slope"].bounds[dtype])
    negative = product(min(g.low[x], 0), 0, g.low[y], g.high[y])
    g.node(op, (x, y), b"", dtype, shape, min(g.low[x], *negative), max(g.high[x], *negative))


def _shift(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain)
    y = g.broadcasting(op.others["by"], g.dtype[x], g.shape[x])
    joined = BROADCAST[g.shape[x]][g.shape[y]]
    assert joined is not None
    g.node(op, (x, y), g.among(op.choices)[1], g.dtype[x], joined, 0, g.high[x] * 8)


def _where(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain)
    dtype = g.dtype[x]
    y = g.broadcasting(op.domain, dtype, g.shape[x])
    shape = BROADCAST[g.shape[x]][g.shape[y]]
    assert shape is not None
    condition = g.broadcasting(op.others["condition"], BOOL, shape)
    joined = BROADCAST[shape][g.shape[condition]]
    assert joined is not None
    low, high = min(g.low[x], g.low[y]), max(g.high[x], g.high[y])
    g.node(op, (condition, x, y), b"", dtype, joined, low, high)


_POSITIVE, _NEGATIVE = between(0.25, 1e4), between(-1e4, -0.25)
_DIVISORS = {"positive": ("T", _POSITIVE), "negative": ("T", _NEGATIVE)}
SPECIFICATIONS = (
    binary("Add", lambda a, b, c, d: (a + c, b + d), share(2)),
    binary("And", lambda a, b, c, d: (0, 1)),
    binary("BitwiseAnd", _bits, since=18),
    binary("BitwiseOr", _bits, since=18),
    binary("BitwiseXor", _bits, since=18),
    binary("Mul", product, root()),
    binary("Or", lambda a, b, c, d: (0, 1)),
    binary("Xor", lambda a, b, c, d: (0, 1)),
    Specification(
        "BitShift",
        _shift,
        (2,),
        within=share(8),
        others={"by": ("T", between(0, 3))},
        attributes={"direction": ("LEFT", "RIGHT")},
        since=11,
    ),
    Specification("Div", _divide, (2,), within=share(4), others=_DIVISORS, since=7),
    Specification("Mod", _modulo, (2,), others=_DIVISORS, since=10),
    Specification("Pow", _power, (2,), within=between(0, 3), others={"exponent": ("T1", between(0, 3))}, since=12),
    Specification("PRelu", _prelu, (2,), within=share(2), others={"slope": ("T", between(-2, 2))}, since=9),
    Specification("Sub", _subtract, (2,), within=share(2), since=7),
    Specification("Where", _where, (3,), first="T", others={"condition": ("B", everything)}, since=9),
    comparison("Equal", 7),
    comparison("Greater"),
    comparison("GreaterOrEqual", 12),
    comparison("Less"),
    comparison("LessOrEqual", 12),
    variadic("Max", max, everything),
    variadic("Min", min, everything),
    variadic("Mean", _mean, share(5), one_way=True),  # the reference adds to the first in place
    variadic("Sum", sum, share(5)),
)
