"""The trials of the widened evaluation: what is done to a result in each of them."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

import numpy as np

from fuzz.backends import _rounding as rounding


class Trial(NamedTuple):
    """One evaluation under noise.

    `sign` +1 or -1 moves everything by the whole bound one way, 0 by random parts of it. `flush` makes
    zeros of subnormal numbers, `zeros` +1 or -1 gives all computed zeros that sign, `unbounded` lets
    intermediate results leave the range of their dtype, as they do inside fused kernels. `decide` moves nothing:
    where an operator that jumps is given values that the other trials brought near enough to its jump, it goes up (+1)
    or down (-1).
    """

    random: Any
    sign: int = 0
    flush: bool = False
    zeros: int = 0
    unbounded: bool = False
    decide: int = 0

    @property
    def is_random(self) -> bool:
        """Whether it moves every result on its own, and does nothing else."""
        return not (self.sign or self.flush or self.zeros or self.unbounded or self.decide)

    def signed(self, value: np.ndarray) -> np.ndarray:
        """A result with its zeros as the trial has them."""
        return np.where(value == 0, np.copysign(0.0, self.zeros), value) if self.zeros else value

    def parts(self, shape: Any) -> np.ndarray:
        """Which part of its bound each element is moved by."""
        if self.sign or self.decide:
            return np.full(shape, float(self.sign))
        return np.asarray(self.random.uniform(-1.0, 1.0, shape))

    def nudged(self, value: np.ndarray, dtype: str) -> np.ndarray:
        """An input moved by at most one unit in its last place, relative."""
        return np.asarray(value * (1.0 + 2 * rounding.UNITS[dtype] * self.parts(value.shape)))

    def unsolved(self, value: np.ndarray, dtype: str) -> np.ndarray:
        """A matrix moved as far as eliminating in its own dtype moves it: by n units, relative to its largest element.

        The backward error of LU factorisation (Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.3).
        """
        if value.ndim < 2 or not value.size:
            return value
        largest = np.max(np.abs(value), axis=(-2, -1), keepdims=True)
        return np.asarray(value + value.shape[-1] * rounding.UNITS[dtype] * largest * self.parts(value.shape))

    def shaken(self, value: np.ndarray) -> np.ndarray:
        """The same in a value's own narrow dtype."""
        wide = value.astype(np.float64)
        if self.decide:
            return value
        with np.errstate(all="ignore"):
            moved = wide + 2 * rounding.UNITS[value.dtype.name] * np.abs(wide) * self.random.uniform(
                -1.0, 1.0, wide.shape
            )
        return np.asarray(np.where(np.isfinite(wide), moved, wide)).astype(value.dtype)

    def disordered(self, value: np.ndarray, dtype: str) -> np.ndarray:
        """Values of which equal ones are no longer equal, and no others change places."""
        wide = value.astype(np.float64)
        if self.decide:
            return wide
        unit = rounding.UNITS.get(dtype, 2.0**-53) if value.dtype.kind == "f" else 2.0**-53
        tiny = np.spacing(np.abs(wide)) if unit == 2.0**-53 else np.abs(wide) * unit
        least = 0.25 if value.dtype.kind in "iu" else float(np.finfo(np.float32).tiny)
        step = np.where(np.isfinite(wide), np.maximum(tiny, least) if value.dtype.kind in "iu" else tiny + least, 0.0)
        return np.asarray(wide + step * self.random.uniform(-1.0, 1.0, wide.shape))


def trials(most: int, evaluation: Any) -> Iterator[Trial]:
    """Both directions, what the values call for, then random ones; `most` in all."""
    made = [Trial(np.random.default_rng(1), 1), Trial(np.random.default_rng(2), -1)]
    if evaluation.subnormal:
        made.append(Trial(np.random.default_rng(3), flush=True))
    if evaluation.zeros:
        made += [Trial(np.random.default_rng(4), zeros=sign) for sign in (1, -1)]
    if evaluation.overflow:
        made.append(Trial(np.random.default_rng(5), unbounded=True))
    made += [Trial(np.random.default_rng(10 + at)) for at in range(most)]
    yield from made[:most]


def decisions() -> Iterator[Trial]:
    """Both ways to decide what the other trials brought within reach of a jump."""
    for way in (1, -1):
        yield Trial(np.random.default_rng(6), decide=way)


def moved(trial: Trial, value: Any, bound: Optional[np.ndarray], dtype: str) -> Any:
    """One result of an operator as it is in a trial."""
    if bound is None or not rounding.is_wide(value):
        return value
    if trial.flush:
        value = rounding.flushed(value, dtype)
    if bound.shape == value.shape:
        with np.errstate(all="ignore"):
            parts = trial.parts(value.shape)
            shifted = value + np.where(np.isinf(bound), rounding.usual(value, dtype), bound) * parts
            overflows = np.isinf(bound) & (parts > 0) & (not trial.unbounded)
            shifted = np.where(overflows, np.copysign(np.inf, value), shifted)
            value = np.where(np.isnan(bound), np.nan, np.where(np.isfinite(value), shifted, value))
    value = trial.signed(value)
    return np.asarray(value if trial.unbounded else rounding.in_range(value, dtype))
