"""Which sizes to try for which axes: the same plan for ONNX models and operator instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """New shapes by tensor, and the sizes that changed: numbers that mean a size may follow them."""

    shapes: dict[str, Shape]
    sizes: dict[int, int]


def plans(shapes: Mapping[str, Shape], together: frozenset[str]) -> Iterator[Plan]:
    """Smaller shapes, big steps first; `together` names the tensors whose equal sizes shrink as one.

    All sizes to 1, to 2 and to half; then every distinct size, the largest first, alone
    and with its multiples; then single axes.
    """
    joint = {name: shape for name, shape in shapes.items() if name in together}
    extents = sorted({size for shape in joint.values() for size in shape if size > 1}, reverse=True)
    if len(extents) > 1:
        for smaller in (lambda size: 1, lambda size: 2, lambda size: size // 2):
            yield from _resized(joint, {size: min(size, smaller(size)) for size in extents})
    for extent in extents:
        for target in _targets(extent):
            yield from _resized(joint, {extent: target})
            multiples = {size: size // extent * target for size in extents if size % extent == 0}
            if len(multiples) > 1:  # gates of a recurrent cell, channels of groups
                yield from _resized(joint, multiples)
    for name, shape in shapes.items():
        for axis, size in enumerate(shape):
            for target in _targets(size):
                yield Plan({name: (*shape[:axis], target, *shape[axis + 1 :])}, {})


def _targets(size: int) -> list[int]:
    return [target for target in dict.fromkeys((1, 2, size // 2, size - 1)) if 0 < target < size]


def _resized(shapes: Mapping[str, Shape], sizes: dict[int, int]) -> Iterator[Plan]:
    changed = {}
    for name, shape in shapes.items():
        resized = tuple(sizes.get(size, size) for size in shape)
        if resized != shape:
            changed[name] = resized
    if changed:
        yield Plan(changed, {old: new for old, new in sizes.items() if old != new})
