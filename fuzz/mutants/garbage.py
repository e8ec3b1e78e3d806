"""Garbage: nodes whose result is multiplied with a guard's zero, so that it matters to nobody but the compiler.

The five operators of section 4.2.3: Conv, Dense (Gemm of a matrix, MatMul of anything else), Add, Sub, Mul.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fuzz.mutants import shapes
from fuzz.mutants.draft import Draft, Rejected
from fuzz.mutants.guards import Draw
from fuzz.mutants.tensors import LARGEST, Tensor

#: Elements that a weight has at most, so that a thousand mutations stay small beside the model.
MOST_WEIGHTS = 1 << 14
#: Channels that Conv and Dense may make: few, and whole vectors of eight.
_CHANNELS = (1, 3, 8, 16)


def conv(draft: Draft, x: Tensor, draw: Draw) -> Tensor:
    """A convolution of one or three steps along each axis, over all channels or over each for itself."""
    if not 3 <= len(x.shape) <= 5:
        x = draft.node("Reshape", x, draft.integers([1, 1, *shapes.rectangle(math.prod(x.shape))]))
    axes, channels = len(x.shape) - 2, x.shape[1]
    options = [
        (kernel, made, group)
        for kernel in (1, 3)
        for made, group in (*((each, 1) for each in _CHANNELS), (channels, channels))
        if made * (channels // group) * kernel**axes <= MOST_WEIGHTS
    ]
    if not options:
        raise Rejected("too many channels for a small convolution")
    kernel, made, group = options[int(draft.rng.integers(len(options)))]
    fan_in = channels // group * kernel**axes
    weights = draft.drawn((made, channels // group, *[kernel] * axes), fan_in**-0.5)
    bias = draft.drawn((made,), 0.1)
    pads = (kernel // 2,) * (2 * axes)
    return draft.node("Conv", x, weights, bias, kernel_shape=(kernel,) * axes, pads=pads, group=group)


def dense(draft: Draft, x: Tensor, draw: Draw) -> Tensor:
    """A fully connected layer of the last axis."""
    if not x.shape:
        x = draft.node("Reshape", x, draft.integers([1, 1]))
    length = x.shape[-1]
    options = [made for made in _CHANNELS if made * length <= MOST_WEIGHTS]
    if not options:
        raise Rejected("too long a row for a small layer")
    made = options[int(draft.rng.integers(len(options)))]
    weights = draft.drawn((length, made), length**-0.5)
    if len(x.shape) == 2:
        return draft.node("Gemm", x, weights, draft.drawn((made,), 0.1))
    return draft.node("MatMul", x, weights)


def _arithmetic(op: str) -> Callable[[Draft, Tensor, Draw], Tensor]:
    def make(draft: Draft, x: Tensor, draw: Draw) -> Tensor:
        """Two tensors, in either order, or a tensor and a number."""
        turn = draft.rng.random()
        other = draft.scalar(1.0 + draft.rng.random()) if turn < 0.2 else shapes.fit(draft, draw(), x.shape)
        return draft.node(op, *((x, other) if turn < 0.6 else (other, x)))

    return make


OPERATORS: dict[str, Callable[[Draft, Tensor, Draw], Tensor]] = {
    "Conv": conv,
    "Dense": dense,
    "Add": _arithmetic("Add"),
    "Sub": _arithmetic("Sub"),
    "Mul": _arithmetic("Mul"),
}
_NAMES = tuple(OPERATORS)
#: How often a second garbage node follows the first one.
_SECOND = 0.3


def insert(draft: Draft, draw: Draw) -> tuple[Tensor, tuple[str, ...]]:
    """One or two garbage nodes in a row, and their operators. Raises Rejected where the result could overflow."""
    x, chosen = draw(), []
    for _ in range(1 + int(draft.rng.random() < _SECOND)):
        chosen.append(_NAMES[int(draft.rng.integers(len(_NAMES)))])
        x = OPERATORS[chosen[-1]](draft, x, draw)
        if not x.largest <= LARGEST or not x.usable:
            raise Rejected("garbage that grows")
    return x, tuple(chosen)
