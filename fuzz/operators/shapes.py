"""Arithmetic of shapes. Shapes are tuples of sizes; what recurs is computed once."""

from __future__ import annotations

import math
from functools import cache

Shape = tuple[int, ...]

#: No tensor of a generated model has more elements: as many as a tensor of five axes of length five.
LARGEST = 3125
#: Results that are remembered; there are more shapes than memory for pairs of them.
_KEPT = 1 << 9
#: Ranks of tensors as sets, by their bounds.
ANY_RANK = frozenset(range(6))


@cache
def ranks(low: int, high: int = 5) -> frozenset[int]:
    """The ranks from `low` to `high`."""
    return frozenset(range(low, high + 1))


class _Row(dict[Shape, Shape | None]):
    """Results of broadcasting one shape with others."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self._shape = shape

    def __missing__(self, other: Shape) -> Shape | None:
        if len(self) >= _KEPT:
            self.clear()
        found = self[other] = _broadcast(self._shape, other)
        return found


class _Broadcast(dict[Shape, _Row]):
    def __missing__(self, shape: Shape) -> _Row:
        if len(self) >= _KEPT:
            self.clear()
        found = self[shape] = _Row(shape)
        return found


def _broadcast(left: Shape, right: Shape) -> Shape | None:
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
    result = []
    for a, b in pairs:
        if a != b and 1 not in (a, b):
            return None
        result.append(b if a == 1 else a)
    return tuple(result) if math.prod(result) <= LARGEST else None


#: `BROADCAST[left][right]`: the shape that both broadcast to (ONNX, Broadcasting); None when they do not, or when it
#: were larger than `LARGEST`.
BROADCAST = _Broadcast()


class _Size(dict[Shape, int]):
    def __missing__(self, shape: Shape) -> int:
        if len(self) >= _KEPT**2:
            self.clear()
        found = self[shape] = math.prod(shape)
        return found


#: The number of elements of a shape.
SIZE = _Size()
