"""Guards: conditions that are exactly zero when the model runs, whatever honest compiler it runs on (section 4.2).

A guard must not depend on how a compiler rounds:

- ``square``: Relu(-(d * d)) with d = i - j. d is one tensor that both sides of the product read, so the product is at
  least zero in IEEE arithmetic whatever d is, an infinity included; Relu of what is not positive is zero. The expanded
  form i*i - 2*i*j + j*j of the paper may round to less than zero, and a fused multiply-add makes it do so.
- ``trigonometric``: Relu(sin(x^3) - ln(sin(x)^2 / (2 + cos(x)) + cos(x)^3 + 10)). Its argument is at most
  1 - ln(9) = -1.197: no rounding reaches zero. Only small x, for which every implementation of sine is at home.
- ``profiled``: Relu(|n - c| - margin), where c is what n is at the profiled input. n - c itself is zero only where
  n is summed up in the reference's order. The margin is wider than any honest rounding of n (`margin`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fuzz.mutants import shapes
from fuzz.mutants.draft import Draft, Rejected
from fuzz.mutants.tensors import Tensor

#: The margin in multiples of the distance between the reference and float64, and of the largest element: where sums
#: are ordered otherwise, multiplied in pieces (Winograd) or in bfloat16, results move by far less than a quarter.
OF_ERROR, OF_LARGEST, LEAST = 64.0, 0.25, 2.0**-10
#: Elements that a profiled constant has at most.
MOST_PROFILED = 1 << 14
#: The largest argument of sines.
MOST_ANGLE = 8.0


@dataclass(frozen=True)
class Seen:
    """A tensor that equals one of the seed: `root` is that one, `error` its distance from float64."""

    tensor: Tensor
    root: Tensor
    error: float


#: Draws a tensor that is there before the place of the mutation; raises Rejected where there is none.
Draw = Callable[[], Tensor]


def square(draft: Draft, draw: Draw) -> Tensor:
    """Relu(-(i - j)^2) of two tensors."""
    i = draw()
    difference = draft.node("Sub", i, shapes.fit(draft, draw(), i.shape))
    return draft.node("Relu", draft.node("Neg", draft.node("Mul", difference, difference)))


def trigonometric(draft: Draft, draw: Draw) -> Tensor:
    """The trigonometric condition of section 4.2.2 on a tensor of small values."""
    x = draw()
    if x.largest > MOST_ANGLE or x.factors > 1:
        raise Rejected("no tensor of small values")
    sine, cosine = draft.node("Sin", x), draft.node("Cos", x)
    quotient = draft.node("Div", draft.node("Mul", sine, sine), draft.node("Add", cosine, draft.scalar(2.0)))
    cube = draft.node("Mul", draft.node("Mul", cosine, cosine), cosine)
    inside = draft.node("Add", draft.node("Add", quotient, cube), draft.scalar(10.0))
    wave = draft.node("Sin", draft.node("Mul", draft.node("Mul", x, x), x))
    return draft.node("Relu", draft.node("Sub", wave, draft.node("Log", inside)))


def profiled(draft: Draft, seen: Seen) -> Tensor:
    """Relu(|n - c| - margin) of a tensor that equals one of the seed, or of a window of it."""
    starts, lengths = _window(seen.root.shape, draft.rng)
    cut = [axis for axis, length in enumerate(lengths) if length < seen.root.shape[axis]]
    n = seen.tensor
    if cut:
        n = shapes.window(draft, n, cut, [starts[axis] for axis in cut], [lengths[axis] for axis in cut])
    constant = draft.profiled(seen.root, starts, lengths)
    distance = draft.node("Abs", draft.node("Sub", n, constant))
    return draft.node("Relu", draft.node("Sub", distance, draft.scalar(margin(seen))))


def margin(seen: Seen) -> float:
    """How far n may be from c before the guard opens. Raises Rejected where rounding has no bound."""
    if not math.isfinite(seen.error):
        raise Rejected("float64 is infinitely far away")
    return max(OF_ERROR * seen.error, OF_LARGEST * seen.root.largest, LEAST)


def _window(shape: tuple[int, ...], rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Starts and lengths of a window of at most `MOST_PROFILED` elements, cut along the first axes."""
    lengths = list(shape)
    for axis in range(len(shape)):
        rest = math.prod(lengths) // lengths[axis]
        lengths[axis] = max(1, min(lengths[axis], MOST_PROFILED // rest))
    starts = [int(rng.integers(whole - length + 1)) for whole, length in zip(shape, lengths, strict=True)]
    return starts, lengths
