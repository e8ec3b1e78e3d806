"""QuantizeLinear under noise: which halves between two integers are open, and which the specification decides."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from fuzz.backends import _rounding as rounding
from fuzz.backends._trials import Trial


def disturbed(trial: Trial, wide: Sequence[Any], dtypes: Sequence[str], axis: int) -> List[Any]:
    """The inputs of QuantizeLinear with ``x`` moved by two units in the last place, but for decided halves.

    "For (x / y_scale), it's rounding to the nearest even" (QuantizeLinear): a quotient that is exactly a half is
    decided where the scale is a power of two, since then no way of dividing loses anything. 0.05 / 0.1 is a half by the
    luck of rounding, in float32 and by the reciprocal alike, but not by the factors of OpenVINO's FakeQuantize.
    """
    x, scale, name = wide[0], wide[1], dtypes[0]
    if not rounding.is_wide(x) or name not in rounding.NARROW:
        return list(wide)
    moved = trial.nudged(trial.nudged(x, name), name)
    steps = _steps(x, scale, axis) if rounding.is_wide(scale) else None
    if steps is not None:
        moved = np.where(_decided(x, steps), x, moved)
    return [moved, *wide[1:]]


def _steps(x: np.ndarray, scale: np.ndarray, axis: int) -> Optional[np.ndarray]:
    """The scale of every element of `x`: one for all, one for each slice along the axis, or one for each block."""
    if scale.size == 1:
        return np.broadcast_to(scale.reshape(()), x.shape)
    if not -x.ndim <= axis < x.ndim:
        return None
    axis %= x.ndim
    if scale.ndim == 1 and scale.size == x.shape[axis]:
        return np.broadcast_to(scale.reshape([-1 if at == axis else 1 for at in range(x.ndim)]), x.shape)
    if scale.ndim != x.ndim or not scale.shape[axis]:
        return None
    size = -(-x.shape[axis] // scale.shape[axis])
    repeated = np.repeat(scale, size, axis=axis).take(range(x.shape[axis]), axis=axis)
    return repeated if repeated.shape == x.shape else None


def _decided(x: np.ndarray, steps: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        quotient = x / steps
        half = (np.rint(2 * quotient) % 2 == 1) & (2 * quotient == np.rint(2 * quotient))
    return np.asarray(half & (np.abs(np.frexp(steps)[0]) == 0.5))
