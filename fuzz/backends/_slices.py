"""Bounds of rounding for each element by what goes into that element: a huge row excuses no other row.

What adds up is looked at along the axes that it adds up; of all else an element depends on what it changes with. Part
of the rounding model (`fuzz.backends._rounding`, decision 004). Runs in workers: numpy and the standard library only.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

#: Inputs larger than these parts of the largest are left out, one level after the other, to see who depends on them.
_LEVELS = (2.0**-3, 2.0**-7, 2.0**-12, 2.0**-18, 2.0**-26)
#: Exponentials this far below the largest are nothing beside it in any dtype.
_NOTHING = 110.0

Axes = Optional[Tuple[int, ...]]
Evaluate = Callable[[Sequence[Any]], Any]


def reduced_axes(node: Any, inputs: Sequence[Any]) -> Axes:
    """The axes that a reduction of ONNX adds up; None for all of them."""
    given = inputs[1] if len(inputs) > 1 else getattr(node, "axes", None)
    axes = [] if given is None else np.asarray(given).ravel().tolist()
    rank = inputs[0].ndim
    return tuple(sorted({int(axis) % rank for axis in axes})) if axes and rank else None


def rows(x: np.ndarray, axes: Axes) -> np.ndarray:
    """What is added up for each element of a reduction's output, along the last axis; the others as they were."""
    if axes is None:
        return x.reshape(1, -1)
    kept = [at for at in range(x.ndim) if at not in axes]
    moved = np.transpose(x, [*kept, *axes])
    return moved.reshape([*(x.shape[at] for at in kept), -1])


def softmax_spread(x: np.ndarray, axis: int) -> np.ndarray:
    """The largest number, along the axes from `axis` on, of those whose exponentials count.

    Masked elements, far below the largest, are nothing beside it. Older versions take all axes from `axis` on together.
    """
    axes = tuple(range(axis % x.ndim, x.ndim))
    finite = np.where(np.isfinite(x), x, -np.inf)
    counts = finite >= np.max(finite, axis=axes, keepdims=True) - _NOTHING
    return np.asarray(np.max(np.where(counts & np.isfinite(x), np.abs(x), 0.0), axis=axes, keepdims=True))


def largest(inputs: Sequence[Any], output: np.ndarray, evaluate: Evaluate) -> np.ndarray:
    """For each element the largest element of the output as it is without the inputs that it does not depend on.

    An element that stays the same to the bit when all numbers beyond a limit become zero has nothing to do with these.
    """
    size = np.where(np.isfinite(output), np.abs(output), 0.0)
    found = np.full(output.shape, float(size.max(initial=0.0)))
    most = max([0.0, *(float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)) for x in inputs if is_wide(x))])
    for level in _LEVELS if most > 0 and output.size > 1 else ():
        other = _without(inputs, level * most, evaluate)
        if other is None or other.shape != output.shape:
            break
        same = (other == output) & np.isfinite(output)
        if not same.any():
            break
        left = np.where(np.isfinite(other), np.abs(other), 0.0)
        found = np.where(same, np.minimum(found, float(left.max(initial=0.0))), found)
    return found


def _without(inputs: Sequence[Any], limit: float, evaluate: Evaluate) -> Optional[np.ndarray]:
    """The output with zeros in the place of all larger numbers, NaN and infinities; None where there is none."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(evaluate([np.where(np.abs(x) <= limit, x, 0.0) if is_wide(x) else x for x in inputs]))
    except Exception:  # noqa: BLE001  the operators' code is foreign
        return None


def is_wide(value: Any) -> bool:
    """Whether a value is an array of float64."""
    return isinstance(value, np.ndarray) and value.dtype == np.float64
