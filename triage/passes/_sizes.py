"""Which sizes to try for which axes: the same plan for ONNX models and operator instances."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Shape = tuple[int, ...]
#: Sizes up to this are small enough for a person.
HUMAN = 3
#: A tensor with more elements than this is too long to read, however small its sizes are.
_READABLE = 12


@dataclass(frozen=True)
class Plan:
    """New shapes by tensor, and the sizes that changed: numbers that mean a size may follow them."""

    shapes: dict[str, Shape]
    sizes: dict[int, int]


def plans(shapes: Mapping[str, Shape], together: frozenset[str]) -> Iterator[Plan]:
    """Smaller shapes, big steps first; `together` names the tensors whose equal sizes shrink as one.

    Sizes up to `HUMAN` stay: a witness of shape [2, 3] shows more than one of shape [1, 1]. First all sizes
    to different small ones, to 2, to half and to 1; then every distinct size, the largest first, alone and
    with its multiples; then single axes.
    """
    joint = {name: shape for name, shape in shapes.items() if name in together}
    present = {size for shape in joint.values() for size in shape}
    extents = sorted((size for size in present if size > HUMAN), reverse=True)
    if len(extents) > 1:
        distinct = _distinct(extents, present)
        for smaller in (lambda size: distinct[size], lambda size: 2, lambda size: size // 2, lambda size: 1):
            yield from _resized(joint, {size: smaller(size) for size in extents})
    if any(math.prod(shape) > _READABLE for shape in joint.values()):
        yield from _resized(joint, {HUMAN: 2})
        yield from _thinner(joint)
    for extent in extents:
        for target in _targets(extent):
            yield from _resized(joint, {extent: target})
            multiples = {size: size // extent * target for size in sorted(present) if size % extent == 0 and size}
            if len(multiples) > 1:  # gates of a recurrent cell, channels of groups
                yield from _resized(joint, multiples)
    for name, shape in shapes.items():
        for axis, size in enumerate(shape):
            for target in _targets(size):
                yield Plan({name: (*shape[:axis], target, *shape[axis + 1 :])}, {})


def _thinner(shapes: Mapping[str, Shape]) -> Iterator[Plan]:
    """All sizes of one axis 1, for the axes of tensors that have many elements."""
    rank = max(len(shape) for shape in shapes.values())
    long = {name: shape for name, shape in shapes.items() if math.prod(shape) > _READABLE}
    for axis in range(rank):
        thin = {n: (*s[:axis], 1, *s[axis + 1 :]) for n, s in shapes.items() if axis < len(s) and s[axis] > 1}
        if thin:
            yield Plan(thin, {})
        for name in long.keys() & thin.keys():
            yield Plan({name: thin[name]}, {})


def _distinct(extents: list[int], present: set[int]) -> dict[int, int]:
    """A small size for each extent, different ones as long as there are some that nothing else has."""
    free = [size for size in (3, 2) if size not in present]
    return {extent: free[at] if at < len(free) else 2 for at, extent in enumerate(extents)}


def _targets(size: int) -> list[int]:
    return [target for target in dict.fromkeys((2, 3, size // 2, size - 1, 1)) if 0 < target < size > HUMAN]


def _resized(shapes: Mapping[str, Shape], sizes: dict[int, int]) -> Iterator[Plan]:
    changed = {}
    for name, shape in shapes.items():
        resized = tuple(sizes.get(size, size) for size in shape)
        if resized != shape:
            changed[name] = resized
    if changed:
        yield Plan(changed, {old: new for old, new in sizes.items() if old != new})
