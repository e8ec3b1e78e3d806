"""Operators that move, repeat, cut or pad elements: shapes change, values do not."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from itertools import pairwise, permutations

from fuzz.operators import encoding
from fuzz.operators.dtypes import BOOL, INT64, RANGE
from fuzz.operators.encoding import ABSENT
from fuzz.operators.families._attributes import axes
from fuzz.operators.families.reduction import subsets
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import BROADCAST, LARGEST, SIZE, Shape, ranks
from fuzz.operators.specification import Operator, Specification


def _copy(g: Growth, op: Operator, inputs: tuple[int, ...], attributes: bytes, shape: Shape) -> None:
    """A node whose result consists of elements of its first input."""
    x = inputs[0]
    g.node(op, inputs, attributes, g.dtype[x], shape, g.low[x], g.high[x])


@cache
def _permutations(rank: int) -> tuple[tuple[tuple[int, ...], bytes], ...]:
    given = [(order, encoding.integers("perm", order)) for order in permutations(range(rank)) if rank]
    return ((tuple(range(rank))[::-1], b""), *given)


def _transpose(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain)
    shape = g.shape[x]
    order, attributes = g.among(_permutations(len(shape)))
    _copy(g, op, (x,), attributes, tuple([shape[axis] for axis in order]))


def _flatten(g: Growth, op: Operator) -> None:
    """Axis 1 unless it is given, so a scalar must have it given."""
    x = g.pick(op.domain)
    shape = g.shape[x]
    rank = len(shape)
    axis = g.below(2 * rank + 1) - rank
    left_out = axis == 1 and g.random() < 0.5
    split = axis % rank if axis < 0 else axis
    left = math.prod(shape[:split])
    attributes = b"" if left_out else encoding.integer("axis", axis)
    _copy(g, op, (x,), attributes, (left, SIZE[shape] // left))


@lru_cache(1 << 12)
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(each for each in range(1, number + 1) if number % each == 0)


def _reshape(g: Growth, op: Operator) -> None:
    """Some sizes stand for themselves, one may be inferred (-1), one may be copied (0)."""
    x = g.pick(op.domain)
    shape = g.shape[x]
    size = SIZE[shape]
    result: list[int] = []
    left = size
    for _ in range(g.below(5)):
        result.append(g.among(_divisors(left)))
        left //= result[-1]
    if left > 1 or g.random() < 0.5:
        result.insert(g.below(len(result) + 1), left)
    target, turn = list(result), g.random()
    if result and turn < 0.3:
        target[g.below(len(target))] = -1
    elif turn < 0.6:
        same = [axis for axis, pair in enumerate(zip(result, shape, strict=False)) if pair[0] == pair[1]]
        if same:
            target[g.among(same)] = 0
    attributes = encoding.integer("allowzero", 1) if op.opset >= 14 and 0 not in target and g.random() < 0.2 else b""
    _copy(g, op, (x, g.configuration(tuple(target))), attributes, tuple(result))


def _squeeze(g: Growth, op: Operator) -> None:
    """Axes of length one, or all of them without axes. What an empty list of axes means, the standard leaves open."""
    x = g.pick(op.domain)
    shape = g.shape[x]
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    if g.among(op.degrees) == 1 or not ones:
        _copy(g, op, (x,), b"", tuple([size for size in shape if size != 1]))
        return
    gone = [axis for axis in ones if g.random() < 0.6] or ones[:1]
    left = tuple([size for axis, size in enumerate(shape) if axis not in gone])
    given = tuple([axis - len(shape) if g.random() < 0.3 else axis for axis in gone])
    _copy(g, op, (x, g.configuration(given)), b"", left)


def _unsqueeze(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(0, 4))
    shape = g.shape[x]
    rank = len(shape) + 1 + g.below(5 - len(shape))
    chosen: set[int] = set()
    while len(chosen) < rank - len(shape):
        chosen.add(g.below(rank))
    sizes = iter(shape)
    result = tuple([1 if axis in chosen else next(sizes) for axis in range(rank)])
    given = tuple([axis - rank if g.random() < 0.3 else axis for axis in sorted(chosen)])
    _copy(g, op, (x, g.configuration(given)), b"", result)


def _expand(g: Growth, op: Operator) -> None:
    """The target broadcasts with the input, both ways."""
    x = g.pick(op.domain, largest=625)
    shape = g.shape[x]
    target = [size if size > 1 and g.random() < 0.7 else 1 if size > 1 else 1 + g.below(4) for size in shape]
    if g.random() < 0.5:
        target = target[g.below(len(target) + 1) :]
    elif len(target) < 5:
        target.insert(0, 1 + g.below(3))
    result = BROADCAST[shape][tuple(target)]
    if result is None:  # too large: the input's own shape does not grow
        target, result = list(shape), shape
    _copy(g, op, (x, g.configuration(tuple(target))), b"", result)


def _tile(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, largest=625)
    shape, left = g.shape[x], LARGEST // SIZE[g.shape[x]]
    repeats = []
    for _ in shape:
        repeats.append(1 + g.below(min(3, left)))
        left //= repeats[-1]
    result = tuple([size * count for size, count in zip(shape, repeats, strict=True)])
    _copy(g, op, (x, g.configuration(tuple(repeats))), b"", result)


def _concat(g: Growth, op: Operator) -> None:
    """Inputs agree in all sizes but one. As many as fit are joined, and never fewer than one."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, ranks(1), LARGEST // degree)
    dtype, shape = g.dtype[x], g.shape[x]
    rank = len(shape)
    axis = g.below(2 * rank) - rank
    at = axis % rank
    low, high = op.domain.bounds[dtype]
    longest = max(5, shape[at]) if LARGEST // degree >= SIZE[shape] // shape[at] * max(5, shape[at]) else shape[at]
    fitting = [
        other
        for other in g.shapes_of(dtype)
        if len(other) == rank
        and other[at] <= longest
        and other[:at] == shape[:at]
        and other[at + 1 :] == shape[at + 1 :]
    ] or [shape]
    inputs = [x, *[g.matching(dtype, fitting, low, high) for _ in range(degree - 1)]]
    if g.random() < 0.5:
        inputs.reverse()
    length = sum([g.shape[each][at] for each in inputs])
    bounds = min([g.low[each] for each in inputs]), max([g.high[each] for each in inputs])
    g.node(op, inputs, encoding.integer("axis", axis), dtype, (*shape[:at], length, *shape[at + 1 :]), *bounds)


def _split(g: Growth, op: Operator) -> None:
    """Sizes are given, or follow from the number of outputs: equal, the last one smaller.

    Before opset 18 that number is no attribute, and sizes that are not given are equal.
    """
    x = g.pick(op.domain, ranks(1))
    shape = g.shape[x]
    axis, attributes = g.among(axes(len(shape)))
    at = (axis or 0) % len(shape)
    length = shape[at]
    parts = 1 + g.below(min(4, length))
    inputs: tuple[int, ...] = (x,)
    if g.among(op.degrees) == 1:
        if op.opset < 18:
            parts = g.among([count for count in range(1, parts + 1) if length % count == 0])
        each = -(-length // parts)
        parts = -(-length // each)
        sizes = [each] * (parts - 1) + [length - each * (parts - 1)]
        attributes += encoding.integer("num_outputs", parts) if op.opset >= 18 else b""
    else:
        cuts = sorted({0, length, *[g.below(length) for _ in range(parts - 1)]})
        sizes = [end - start for start, end in pairwise(cuts)]
        inputs = (x, g.configuration(tuple(sizes)))
    dtype, low, high = g.dtype[x], g.low[x], g.high[x]
    outputs = [(dtype, (*shape[:at], size, *shape[at + 1 :]), low, high) for size in sizes]
    g.nodes(op, inputs, attributes, outputs)


def _slice(g: Growth, op: Operator) -> None:
    """A start, an end and a step on some axes; nothing is left empty. Ends may lie far outside."""
    x = g.pick(op.domain, ranks(1))
    shape = g.shape[x]
    degree = g.among(op.degrees)
    given, chosen = g.among(subsets(len(shape))[1:])
    if degree == 3:
        given, chosen = tuple(range(len(chosen))), frozenset(range(len(chosen)))
    assert given is not None
    starts, ends, steps, result = [], [], [], list(shape)
    for axis in given:
        size = shape[axis]
        step = 1 if degree < 5 else g.among((1, 1, 2, 3, -1, -2))
        count = 1 + g.below(-(-size // abs(step)))
        first = g.below(size - (count - 1) * abs(step))
        if step < 0:
            first = size - 1 - first
        last = first + step * (count - 1)
        end = last + (1 if step > 0 else -1)
        if not 0 <= end < size:
            end = g.among((size, 2**31 - 1)) if step > 0 else g.among((-size - 1, -(2**31)))
        starts.append(first - size if g.random() < 0.3 else first)
        ends.append(end - size if 0 <= end < size and g.random() < 0.3 else end)
        steps.append(step)
        result[axis] = _length(first, end, step, size)
    lists, short = (starts, ends, given, steps), g.short()
    inputs = [x, *[g.configuration(tuple(each), short=short) for each in lists[: degree - 1]]]
    _copy(g, op, tuple(inputs), b"", tuple(result))


def _length(first: int, end: int, step: int, size: int) -> int:
    return len(range(first, max(min(end, size), -1), step))


_MODES = {mode: encoding.text("mode", mode) for mode in ("constant", "reflect", "edge", "wrap")}


def _pad(g: Growth, op: Operator) -> None:
    """Reflecting takes pads shorter than the axis, wrapping none longer than it.

    The reference cannot pad by less than nothing.
    """
    x = g.pick(op.domain, ranks(1), 40)
    shape, dtype = g.shape[x], g.dtype[x]
    mode = g.among(
        ("constant", "constant", "reflect", "edge", "wrap") if op.opset >= 19 else ("constant", "reflect", "edge")
    )
    degree = g.among(op.degrees)
    given = None if degree < 4 else g.among(subsets(len(shape))[1:])[0]
    order = tuple(range(len(shape))) if given is None else tuple([axis % len(shape) for axis in given])
    begins, ends, result = [], [], list(shape)
    for axis in order:
        size = shape[axis]
        most = {"constant": 2, "edge": 2, "reflect": min(2, size - 1), "wrap": min(2, size)}[mode]
        begin, end = g.below(most + 1), g.below(most + 1)
        begins.append(begin)
        ends.append(end)
        result[axis] = size + begin + end
    low, high = g.low[x], g.high[x]
    inputs = [x, g.configuration((*begins, *ends))]
    if mode == "constant" and (degree > 2 or RANGE[dtype][0] > 0):  # powers of two have no zero
        value = g.within(dtype, (), *op.domain.bounds[dtype])
        inputs.append(value)
        low, high = min(low, g.low[value]), max(high, g.high[value])
    elif mode == "constant":
        low, high = min(low, 0), max(high, 0)
    if degree == 4:
        inputs += [ABSENT] * (3 - len(inputs))
        assert given is not None
        inputs.append(g.configuration(given))
    attributes = b"" if mode == "constant" and g.random() < 0.5 else _MODES[mode]
    g.node(op, inputs, attributes, dtype, tuple(result), low, high)


def _blocks(g: Growth, op: Operator) -> None:
    """DepthToSpace and SpaceToDepth need sizes that the block divides: a tensor that has them, or a new one."""
    deep = op.op_type == "DepthToSpace"
    dtype = g.dtype[g.pick(op.domain)]
    choices = [(shape, size) for shape in g.shapes_of(dtype) for size in _block_sizes(shape, deep)]
    shape, size = g.among(choices) if choices else _block_shape(g, deep)
    x = g.exact(op.domain, dtype, shape)
    n, c, h, w = shape
    result = (n, c // size**2, h * size, w * size) if deep else (n, c * size**2, h // size, w // size)
    attributes = encoding.integer("blocksize", size)
    if deep:
        attributes += g.among((b"", encoding.text("mode", "DCR"), encoding.text("mode", "CRD")))
    _copy(g, op, (x,), attributes, result)


@lru_cache(1 << 12)
def _block_sizes(shape: Shape, deep: bool) -> tuple[int, ...]:
    """The block sizes from 1 to 3 that the shape allows."""
    if len(shape) != 4:
        return ()
    if deep:
        return tuple(size for size in (1, 2, 3) if shape[1] % size**2 == 0)
    return tuple(size for size in (1, 2, 3) if shape[2] % size == 0 and shape[3] % size == 0)


def _block_shape(g: Growth, deep: bool) -> tuple[Shape, int]:
    """A new shape, and a block size that it allows."""
    size = 1 + g.below(3)
    n, c, h, w = (1 + g.below(3) for _ in range(4))
    return ((n, c * size**2, h, w) if deep else (n, c, h * size, w * size)), size


def _trilu(g: Growth, op: Operator) -> None:
    """One triangle of each matrix, the rest zero; the diagonal may lie outside."""
    x = g.pick(op.domain, ranks(2))
    inputs = [x]
    if g.among(op.degrees) == 2:
        inputs.append(g.configuration((g.below(11) - 5,), ()))
    low, high = min(g.low[x], 0), max(g.high[x], 0)
    g.node(op, inputs, g.among(op.choices)[1], g.dtype[x], g.shape[x], low, high)


def _center(g: Growth, op: Operator) -> None:
    """Crops or pads (with zeros) around the middle."""
    x = g.pick(op.domain, ranks(1), 125)
    shape = g.shape[x]
    given, _ = g.among(subsets(len(shape)))
    order = range(len(shape)) if given is None else [axis % len(shape) for axis in given]
    result = list(shape)
    for axis in order:
        result[axis] = max(1, shape[axis] + g.below(5) - 2)
    attributes = b"" if given is None else encoding.integers("axes", given)
    target = g.configuration(tuple([result[axis] for axis in order]))
    low, high = min(g.low[x], 0), max(g.high[x], 0)
    g.node(op, (x, target), attributes, g.dtype[x], tuple(result), low, high)


def _shape(g: Growth, op: Operator) -> None:
    """All sizes, or a stretch of them that is not empty. A scalar's are: no other node is given those."""
    x = g.pick(op.domain)
    shape = g.shape[x]
    rank = len(shape)
    if not rank:
        g.dynamic(op, (x,), b"", [(INT64, (0,))])
        return
    start = g.below(rank) if op.opset >= 15 and g.random() < 0.4 else None
    end = -g.below(rank - (start or 0)) if op.opset >= 15 and g.random() < 0.4 else None
    part = shape[start or 0 : end or None]
    attributes = encoding.attribute("start", start) + encoding.attribute("end", end or None)
    g.node(op, (x,), attributes, INT64, (len(part),), min(part), max(part))


def _size(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain)
    count = SIZE[g.shape[x]]
    g.node(op, (x,), b"", INT64, (), count, count)


def _compress(g: Growth, op: Operator) -> None:
    """The condition is a constant with at least one truth; without an axis the input counts as flat."""
    x = g.pick(op.domain, ranks(1))
    shape = g.shape[x]
    flat = g.random() < 0.4
    axis = 0 if flat else g.below(2 * len(shape)) - len(shape)
    length = SIZE[shape] if flat else shape[axis]
    kept = [g.random() < 0.5 for _ in range(1 + g.below(length))]
    kept[0] = kept[0] or not any(kept)
    condition = g.constant(BOOL, encoding.tensor_content(BOOL, (len(kept),), bytes(kept)))
    result = [sum(kept)] if flat else list(shape)
    result[0 if flat else axis] = sum(kept)
    attributes = b"" if flat else encoding.integer("axis", axis)
    _copy(g, op, (x, condition), attributes, tuple(result))


_SIGNS = {"upper": (None, 0, 1)}
SPECIFICATIONS = (
    Specification("CenterCropPad", _center, (2,), since=18),
    Specification("Compress", _compress, (2,), since=11),
    Specification("Concat", _concat, (1, 2, 3, 4, 5), since=4),
    Specification("DepthToSpace", _blocks, since=11),
    Specification("Expand", _expand, (2,), since=8),
    Specification("Flatten", _flatten, since=11),
    Specification("Pad", _pad, (2, 3), since=11, until=17),
    Specification("Pad", _pad, (2, 3, 4), since=18),
    Specification("Reshape", _reshape, (2,), since=5),
    Specification("Shape", _shape),
    Specification("Size", _size),
    Specification("Slice", _slice, (3, 4, 5), since=10),
    Specification("SpaceToDepth", _blocks),
    Specification("Split", _split, (1, 2), since=13),
    Specification("Squeeze", _squeeze, (1, 2), since=13),
    Specification("Tile", _tile, (2,), since=6),
    Specification("Transpose", _transpose),
    Specification("Trilu", _trilu, (1, 2), attributes=_SIGNS, since=14),
    Specification("Unsqueeze", _unsqueeze, (2,), since=13),
)
