"""Shape adaption: a tensor made to fit another's shape, so that both can meet in one node (section 4.2).

All ways keep zeros zero: a guard of zeros is as much a zero of another shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fuzz.mutants.draft import Draft
from fuzz.mutants.tensors import Tensor

Shape = tuple[int, ...]
Way = Callable[[Draft, Tensor, Shape], Tensor]


def fit(draft: Draft, x: Tensor, shape: Shape) -> Tensor:
    """`x` in a shape that broadcasts to `shape`; as it is if it does so already."""
    if _broadcasts(x.shape, shape):
        return x
    ways = [way for applies, way in _WAYS if applies(x.shape, shape)]
    return ways[int(draft.rng.integers(len(ways)))](draft, x, shape)


def _broadcasts(shape: Shape, to: Shape) -> bool:
    if len(shape) > len(to):
        return False
    return all(length in (1, wanted) for length, wanted in zip(reversed(shape), reversed(to), strict=False))


def _transposed(draft: Draft, x: Tensor, shape: Shape) -> Tensor:
    """Axes change places; of equal lengths the first free one is taken."""
    free = list(range(len(shape)))
    perm = []
    for length in shape:
        axis = next(axis for axis in free if x.shape[axis] == length)
        free.remove(axis)
        perm.append(axis)
    return draft.node("Transpose", x, perm=tuple(perm))


def _reshaped(draft: Draft, x: Tensor, shape: Shape) -> Tensor:
    return draft.node("Reshape", x, draft.integers(shape))


def _by_axis(draft: Draft, x: Tensor, shape: Shape) -> Tensor:
    """What is too long is cut, what is too short gets zeros behind it."""
    cut = [axis for axis, (length, wanted) in enumerate(zip(x.shape, shape, strict=True)) if length > wanted]
    if cut:
        starts = [int(draft.rng.integers(x.shape[axis] - shape[axis] + 1)) for axis in cut]
        x = window(draft, x, cut, starts, [shape[axis] for axis in cut])
    missing = [wanted - length for length, wanted in zip(x.shape, shape, strict=True)]
    return draft.node("Pad", x, draft.integers([0] * len(missing) + missing)) if any(missing) else x


def window(draft: Draft, x: Tensor, axes: Sequence[int], starts: Sequence[int], lengths: Sequence[int]) -> Tensor:
    """The elements [start, start + length) of these axes."""
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    return draft.node("Slice", x, draft.integers(starts), draft.integers(ends), draft.integers(axes))


def _flat(draft: Draft, x: Tensor, shape: Shape) -> Tensor:
    """In one row: its beginning, or itself again and again."""
    have, want = math.prod(x.shape), math.prod(shape)
    row = draft.node("Reshape", x, draft.integers([-1]))
    if have < want:
        row = draft.node("Tile", row, draft.integers([-(-want // have)]))
    if math.prod(row.shape) > want:
        row = window(draft, row, [0], [0], [want])
    return row if shape == row.shape else draft.node("Reshape", row, draft.integers(shape))


def _one_number(op: str) -> Way:
    def reduce(draft: Draft, x: Tensor, shape: Shape) -> Tensor:
        return draft.node(op, x, keepdims=int(len(x.shape) <= len(shape)))

    return reduce


#: Each way, and when it can be gone.
_WAYS: tuple[tuple[Callable[[Shape, Shape], bool], Way], ...] = (
    (lambda have, want: sorted(have) == sorted(want), _transposed),
    (lambda have, want: math.prod(have) == math.prod(want), _reshaped),
    (lambda have, want: len(have) == len(want) > 0, _by_axis),
    (lambda have, want: True, _flat),
    (lambda have, want: True, _one_number("ReduceMean")),
    (lambda have, want: True, _one_number("ReduceMax")),
)


def rectangle(size: int) -> tuple[int, int]:
    """Two lengths whose product is `size`, the first the larger one and the second near its root."""
    for width in range(int(np.sqrt(size)), 0, -1):
        if size % width == 0:
            return size // width, width
    return size, 1
