"""Whether the errors of a result's elements are one and the same error: a constant factor, or a constant offset.

Rounding errors of elements that are computed apart from each other are independent, those of a wrong formula are
not. What elements share by their computation (one sum that divides all of them) shows in the trials under noise:
there their moves are as coherent as the error is. Numpy and the standard library only.
"""

from __future__ import annotations

from typing import Dict, List, Tuple

import numpy as np

#: Fewer elements than this prove nothing.
LEAST = 8
#: Elements smaller than this part of the largest have no meaningful ratio.
SMALL = 0.05
#: Elements that are equal to so many digits count as one.
_DIGITS = 7


def coherence(error: np.ndarray, value: np.ndarray) -> Tuple[float, float]:
    """(factor, offset): |mean| / root of the mean square of error / value and of error, from 0 to 1.

    Elements that are not finite do not count, and of equal ones only the first: what is computed twice from the same
    numbers is rounded alike. 0 where too few are left, or none has an error.
    """
    finite = np.isfinite(error) & np.isfinite(value)
    moves, sizes = error[finite], value[finite]
    if moves.size < LEAST:
        return 0.0, 0.0
    largest = float(np.max(np.abs(sizes)))
    first = np.unique(np.round(sizes / (largest or 1.0), _DIGITS), return_index=True)[1]
    moves, sizes = moves[first], sizes[first]
    if moves.size < LEAST:
        return 0.0, 0.0
    large = np.abs(sizes) > SMALL * largest
    ratios = moves[large] / sizes[large]
    return (_coherent(ratios) if ratios.size >= LEAST else 0.0), _coherent(moves)


def _coherent(numbers: np.ndarray) -> float:
    power = float(np.sqrt(np.mean(numbers**2)))
    return abs(float(np.mean(numbers))) / power if power else 0.0


class Coherence:
    """The coherence of the moves of every output, trial by trial."""

    def __init__(self) -> None:
        self._seen: Dict[int, List[Tuple[float, float]]] = {}

    def see(self, clean: List[object], trial: List[object]) -> None:
        """One random trial's outputs beside the clean ones."""
        for at, (one, other) in enumerate(zip(clean, trial)):
            if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray) or one.dtype.kind != "f":
                continue
            if one.shape == other.shape:
                with np.errstate(all="ignore"):
                    self._seen.setdefault(at, []).append(coherence(other.astype(np.float64) - one, one))

    def usual(self) -> Dict[str, List[float]]:
        """By the output's position, as text: the medians of both over the trials, of which there must be four."""
        return {
            str(at): [float(np.median([pair[which] for pair in pairs])) for which in (0, 1)]
            for at, pairs in self._seen.items()
            if len(pairs) >= 4
        }
