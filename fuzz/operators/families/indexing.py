"""Operators that take or put elements by index: the Gather and Scatter families, OneHot, TopK, and their like."""

from __future__ import annotations

from functools import lru_cache

from fuzz.operators import encoding
from fuzz.operators.dtypes import BFLOAT16, BOOL, FLOAT16, INT64, STRING, is_floating
from fuzz.operators.families._attributes import axes
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import LARGEST, SIZE, Shape, ranks
from fuzz.operators.specification import Operator, Specification, between, everything

_INDEX_RANGE = between(-5, 4)


def _gather(g: Growth, op: Operator) -> None:
    """Indices may count from the end; their shape replaces the axis."""
    x = g.pick(op.domain, ranks(1), 625)
    shape = g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    at = (axis or 0) % len(shape)
    rest = SIZE[shape] // shape[at]
    dtype, indices_shape = _indices(g, op, shape[at], 6 - len(shape), LARGEST // rest)
    indices = g.within(dtype, indices_shape, -shape[at], shape[at] - 1)
    result = (*shape[:at], *g.shape[indices], *shape[at + 1 :])
    g.node(op, (x, indices), attributes, g.dtype[x], result, g.low[x], g.high[x])


def _indices(g: Growth, op: Operator, length: int, rank: int, largest: int) -> tuple[int, Shape]:
    """A dtype for indices, and a shape of at most that rank: one that exists with fitting values, else a new one."""
    dtype = g.among(op.others["indices"].dtypes)
    found = [
        each
        for each in g.pool
        if g.dtype[each] == dtype
        and -length <= g.low[each]
        and g.high[each] < length
        and len(g.shape[each]) <= rank
        and SIZE[g.shape[each]] <= largest
    ]
    if found:
        return dtype, g.shape[g.among(found)]
    return dtype, g.shape_of_rank(range(min(rank, 3) + 1), min(largest, 125))


@lru_cache(1 << 12)
def _longer(shape: Shape, axis: int) -> tuple[Shape, ...]:
    """Shapes of indices for GatherElements: any length along the axis. The reference cannot take fewer elsewhere,
    and no other length along an axis that is counted from the end.
    """
    return (shape, *[(*shape[:axis], length, *shape[axis + 1 :]) for length in (1, 2, 3) if length != shape[axis]])


def _gather_elements(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(1), 64)  # the reference takes no axis longer than 64
    shape = g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    at = (axis or 0) % len(shape)
    dtype = g.among(op.others["indices"].dtypes)
    lengths = _longer(shape, at) if axis is None or axis >= 0 else (shape,)
    indices = g.matching(dtype, lengths, -shape[at], shape[at] - 1)
    g.node(op, (x, indices), attributes, g.dtype[x], g.shape[indices], g.low[x], g.high[x])


def _tuples(g: Growth, dims: Shape, count: int) -> tuple[int, ...]:
    """`count` different index tuples into the dims, one after the other."""
    space = SIZE[dims]
    found: list[int] = []
    step, at = g.among([each for each in range(1, space + 1) if _coprime(each, space)]), g.below(space)
    for _ in range(count):
        flat, item = at, []
        for size in reversed(dims):
            item.append(flat % size)
            flat //= size
        found += [index - size if g.random() < 0.2 else index for index, size in zip(reversed(item), dims, strict=True)]
        at = (at + step) % space
    return tuple(found)


@lru_cache(1 << 12)
def _coprime(number: int, other: int) -> bool:
    while other:
        number, other = other, number % other
    return number == 1


def _gather_nd(g: Growth, op: Operator) -> None:
    """Index tuples into the axes after the batch axes; what they leave is taken whole."""
    x = g.pick(op.domain, ranks(1), 625)
    shape = g.shape[x]
    batch = g.below(min(2, len(shape)))
    depth = 1 + g.below(len(shape) - batch)
    dims = shape[batch : batch + depth]
    rows = 1 + g.below(min(3, SIZE[dims]))
    values: tuple[int, ...] = ()
    for _ in range(SIZE[shape[:batch]]):
        values += _tuples(g, dims, rows)
    indices = g.configuration(values, (*shape[:batch], rows, depth))
    attributes = encoding.integer("batch_dims", batch) if batch or g.random() < 0.3 else b""
    result = (*shape[:batch], rows, *shape[batch + depth :])
    g.node(op, (x, indices), attributes, g.dtype[x], result, g.low[x], g.high[x])


_REDUCTIONS = ("none", "add", "mul", "max", "min")
#: What is no number; and ONNX Runtime takes a model with numbers of 16 bits, but fails when it runs.
_NEVER_JOINED = frozenset((BOOL, STRING, FLOAT16, BFLOAT16))


def _reduction(g: Growth, op: Operator, x: int) -> tuple[bytes, str]:
    """How values that meet are joined. Numbers only; products and sums where the range has room for one more."""
    if op.opset < 16:
        return b"", "none"
    least, most = op.others["joined"].bounds.get(g.dtype[x], (0, -1))
    if not (least <= g.low[x] and g.high[x] <= most) or g.dtype[x] in _NEVER_JOINED or g.random() < 0.4:
        return b"", "none"
    way = g.among(_REDUCTIONS if op.opset >= 18 else _REDUCTIONS[:3])
    return encoding.text("reduction", way), way


def _joined(g: Growth, way: str, x: int, updates: int) -> tuple[float, float]:
    low, high = min(g.low[x], g.low[updates]), max(g.high[x], g.high[updates])
    if way == "add":
        return min(low, g.low[x] + g.low[updates]), max(high, g.high[x] + g.high[updates])
    if way == "mul":
        corners = [a * b for a in (g.low[x], g.high[x]) for b in (g.low[updates], g.high[updates])]
        return min(low, *corners), max(high, *corners)
    return low, high


def _updates(g: Growth, op: Operator, x: int, way: str, shape: Shape) -> int:
    """What is put into x: of its dtype, and small where it is added or multiplied."""
    dtype = g.dtype[x]
    bounds = op.domain.bounds[dtype] if way == "none" else op.others["joined"].bounds[dtype]
    return g.within(dtype, shape, *bounds)


def _scatter_elements(g: Growth, op: Operator) -> None:
    """No element is written twice: which write wins would be open."""
    x = g.pick(op.domain, ranks(1), 125)
    shape = g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    at = (axis or 0) % len(shape)
    window = tuple([1 + g.below(size) for size in shape])
    offset, length = g.below(shape[at]), shape[at]
    values = tuple([(offset + _along(flat, window, at)) % length for flat in range(SIZE[window])])
    indices = g.configuration(values, window, short=g.short())
    more, way = _reduction(g, op, x)
    updates = _updates(g, op, x, way, window)
    g.node(op, (x, indices, updates), attributes + more, g.dtype[x], shape, *_joined(g, way, x, updates))


def _along(flat: int, shape: Shape, axis: int) -> int:
    """The coordinate along the axis of a flat position."""
    return flat // SIZE[shape[axis + 1 :]] % shape[axis]


def _scatter_nd(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(1), 625)
    shape = g.shape[x]
    depth = 1 + g.below(len(shape))
    rows = 1 + g.below(min(3, SIZE[shape[:depth]]))
    indices = g.configuration(_tuples(g, shape[:depth], rows), (rows, depth))
    attributes, way = _reduction(g, op, x)
    updates = _updates(g, op, x, way, (rows, *shape[depth:]))
    g.node(op, (x, indices, updates), attributes, g.dtype[x], shape, *_joined(g, way, x, updates))


def _one_hot(g: Growth, op: Operator) -> None:
    """Depth is a constant (a scalar: the reference takes no other); values are a pair: off, on.

    Indices beyond the depth give rows of off-values.
    """
    x = g.pick(op.domain, ranks(1, 4), 625)
    shape = g.shape[x]
    depth = 1 + g.below(5)
    axis, attributes = g.among(axes(len(shape) + 1))
    at = (-1 if axis is None else axis) % (len(shape) + 1)
    values = g.pick(op.others["values"], ranks(1, 1), 2)
    if g.shape[values] != (2,):
        code = g.dtype[values]
        values = g.exact(op.others["values"], code, (2,))
    result = (*shape[:at], depth, *shape[at:])
    constant = g.configuration((depth,), (), short=g.short())
    g.node(op, (x, constant, values), attributes, g.dtype[values], result, g.low[values], g.high[values])


def _top_k(g: Growth, op: Operator) -> None:
    """The number of elements is a constant. Ties are the oracle's business: the specification leaves none open."""
    x = g.pick(op.domain, ranks(1))
    shape = g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    at = (-1 if axis is None else axis) % len(shape)
    count = 1 + g.below(shape[at])
    result = (*shape[:at], count, *shape[at + 1 :])
    values = (g.dtype[x], result, g.low[x], g.high[x])
    positions = (INT64, result, 0, shape[at] - 1)
    inputs = (x, g.configuration((count,)))
    g.nodes(op, inputs, attributes + g.among(op.choices)[1], (values, positions))


def _non_zero(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(1))
    x = g.unspoilt(x, op.domain) if is_floating(g.dtype[x]) else x
    g.dynamic(op, (x,), b"", [(INT64, (len(g.shape[x]), None))])


def _unique(g: Growth, op: Operator) -> None:
    """Values, and by the number of outputs first positions, the way back, counts. The reference fails for sorted=0."""
    x = g.pick(op.domain, ranks(1))
    x = g.unspoilt(x, op.domain) if is_floating(g.dtype[x]) else x
    shape = g.shape[x]
    flat = g.random() < 0.5
    axis = g.below(len(shape))
    attributes = g.among(op.choices)[1] + (b"" if flat else encoding.integer("axis", axis))
    left: tuple[int | None, ...] = (None,) if flat else (*shape[:axis], None, *shape[axis + 1 :])
    outputs = [(g.dtype[x], left), *[(INT64, (None,))] * g.below(4)]
    g.dynamic(op, (x,), attributes, outputs)


def _tensor_scatter(g: Growth, op: Operator) -> None:
    """Writes a stretch into a cache along the axis, at a position for every batch entry."""
    x = g.pick(op.domain, ranks(3, 5), 625)
    shape = g.shape[x]
    rank = len(shape)
    at = rank - 2 if g.random() < 0.5 else 1 + g.below(rank - 1)
    length = 1 + g.below(shape[at])
    update = g.exact(op.domain, g.dtype[x], (*shape[:at], length, *shape[at + 1 :]))
    attributes = (
        b"" if at == rank - 2 and g.random() < 0.5 else encoding.integer("axis", at - rank if g.random() < 0.5 else at)
    )
    inputs = [x, update]
    if g.among(op.degrees) == 3:
        inputs.append(g.within(INT64, (shape[0],), 0, shape[at] - length))
    if g.random() < 0.5:
        attributes += encoding.text("mode", g.among(("linear", "circular")))
    low, high = min(g.low[x], g.low[update]), max(g.high[x], g.high[update])
    g.node(op, inputs, attributes, g.dtype[x], shape, low, high)


_INDICES = {"indices": ("Tind", _INDEX_RANGE)}
#: The reference evaluator multiplies the values of OneHot, and cannot sort words along an axis.
_NUMBERS = {"values": ("T3", everything, frozenset((BOOL, STRING)))}
_JOINED = {"joined": ("T", between(-8, 8))}
SPECIFICATIONS = (
    Specification("Gather", _gather, (2,), others=_INDICES, since=11),
    Specification("GatherElements", _gather_elements, (2,), others=_INDICES, since=11),
    Specification("GatherND", _gather_nd, (2,), since=12),
    Specification("NonZero", _non_zero),
    Specification("OneHot", _one_hot, (3,), within=between(-6, 6), others=_NUMBERS, since=11),
    Specification("ScatterElements", _scatter_elements, (3,), others=_JOINED, since=11),
    Specification("ScatterND", _scatter_nd, (3,), others=_JOINED, since=11),
    Specification("TensorScatter", _tensor_scatter, (2, 3), since=24),
    Specification("TopK", _top_k, (2,), attributes={"largest": (None, 0, 1), "sorted": (None, 1)}, since=11),
    Specification("Unique", _unique, without=frozenset((STRING,)), attributes={"sorted": (None, 1)}, since=11),
)
