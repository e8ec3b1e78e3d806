"""Comparisons and other operators that jump, under noise: which way they go where rounding reaches the jump.

A trial moves every result within its bound, so two sums that are equal but for rounding are equal in no trial, and
a value just below a step crosses it in few. What the trials did to the operands is therefore remembered, and two
more evaluations take every decision within reach the one way and the other. Numpy only.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from fuzz.backends import _rounding as rounding
from fuzz.backends._trials import Trial


class Jump:
    """One call of an operator that jumps: its operands in float64 and how far the trials moved them."""

    def __init__(self, operands: Sequence[np.ndarray]) -> None:
        self._clean = list(operands)
        self._moves: List[Optional[np.ndarray]] = [np.zeros(each.shape) for each in operands]

    @property
    def is_moved(self) -> bool:
        """Whether any trial moved any operand."""
        return any(each is not None and bool(np.any(each > 0)) for each in self._moves)

    def learn(self, operands: Sequence[np.ndarray]) -> None:
        """The operands of one trial."""
        if len(operands) == len(self._clean):
            rounding.cover(self._moves, list(self._clean), list(operands))

    def decided(self, wide: Sequence[Any], trial: Optional[Trial]) -> List[Any]:
        """The inputs with the operands moved as far as rounding may: the first up or down, the second the other way."""
        if trial is None or not trial.decide or not self._fits(wide):
            return list(wide)
        found, sign = list(wide), trial.decide
        for at in range(len(self._clean)):
            found[at] = wide[at] + (sign if at == 0 else -sign) * self._reach(at)
        return found

    def tossed(self, result: Any, trial: Optional[Trial]) -> Any:
        """The result of Equal, or of a cast to booleans: true for all that may be either, or false for all of it."""
        if trial is None or not trial.decide:
            return result
        reach = np.asarray(sum(self._reach(at) for at in range(len(self._clean))))
        apart = self._clean[0] - self._clean[1] if len(self._clean) > 1 else self._clean[0]
        if reach.shape != np.shape(result):
            return result
        return np.where((reach > 0) & (np.abs(apart) <= reach), trial.decide > 0, result)

    @property
    def crosses_zero(self) -> bool:
        """Whether rounding may make a zero, or the other sign, of what is none in the last operand, a divisor."""
        return bool(np.any(self._at_zero()))

    def divided(self, quotient: Any, trial: Optional[Trial]) -> Any:
        """The quotient: an infinity of either sign where rounding may make a zero of the divisor."""
        mask = self._at_zero()
        if trial is None or not trial.decide or not rounding.is_wide(quotient):
            return quotient
        try:
            reached = np.broadcast_to(mask, quotient.shape)
        except ValueError:
            return quotient
        return np.where(reached, trial.decide * np.inf, quotient)

    def _at_zero(self) -> np.ndarray:
        divisor = self._clean[-1]
        return np.asarray((divisor != 0) & (np.abs(divisor) <= self._reach(-1)))

    def _fits(self, wide: Sequence[Any]) -> bool:
        return len(wide) >= len(self._clean) and all(
            rounding.is_wide(value) and value.shape == clean.shape for value, clean in zip(wide, self._clean)
        )

    def _reach(self, at: int) -> np.ndarray:
        """How far rounding may move an operand; what it may make anything of is left to the other trials."""
        moves = self._moves[at]
        factor = float(rounding.model()["spread"])
        return np.zeros(self._clean[at].shape) if moves is None else np.where(np.isfinite(moves), factor * moves, 0.0)
