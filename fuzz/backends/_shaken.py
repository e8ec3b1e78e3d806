"""Operators without a wide form under noise: rounding decides how many elements they give, or in which order.

Their inputs are moved in the tensors' own dtypes, and only where honest arithmetic has something to round.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence

import numpy as np

from fuzz.backends import _rounding as rounding
from fuzz.backends._trials import Trial


def range_inputs(trial: Trial, inputs: List[Any]) -> List[Any]:
    """start, limit and delta, moved unless the number of elements is a quotient without remainder.

    "number_of_elements = max( ceil( (limit - start) / delta ) , 0 )" (Range)
    """
    if not all(rounding.is_narrow(value) and value.size == 1 for value in inputs):
        return inputs
    start, limit, delta = (float(value.ravel()[0]) for value in inputs)
    if not np.isfinite([start, limit, delta]).all() or delta == 0:
        return inputs
    if np.rint((limit - start) / delta) * delta == limit - start:
        return inputs
    return [trial.shaken(value) for value in inputs]


def suppression_inputs(trial: Trial, inputs: List[Any]) -> List[Any]:
    """Boxes and scores of NonMaxSuppression: which of equal scores comes first is not said, and areas are rounded."""
    boxes, scores, rest = inputs[0], inputs[1], inputs[2:]
    if rounding.is_narrow(scores):
        scores = trial.disordered(scores, scores.dtype.name).astype(np.float64)
    if rounding.is_narrow(boxes) and not _short(boxes):
        boxes = trial.shaken(boxes)
    return [boxes, scores, *rest]


def sampled(trial: Trial, wide: List[Any], names: Sequence[str]) -> List[Any]:
    """The inputs of GridSample, with coordinates moved relative to the image and not to themselves.

    A coordinate of 0 is as inexact as one of 1 once it is ((g + 1) * size - 1) / 2, and the nearest of two pixels may
    be either.
    """
    image, grid = wide[:2]
    if not (rounding.is_wide(grid) and names[1] in rounding.NARROW):
        return wide
    step = 4 * rounding.UNITS[names[1]] * np.maximum(np.abs(grid), 1.0)
    return [trial.nudged(image, names[0]) if rounding.is_wide(image) else image, grid + step * trial.parts(grid.shape)]


def _short(value: np.ndarray) -> bool:
    """Whether products of two differences of such numbers are exact in float32: eleven bits each."""
    with np.errstate(all="ignore"):
        return bool(np.all(value.astype(np.float16).astype(value.dtype) == value))


SHAKEN: Dict[str, Callable[[Trial, List[Any]], List[Any]]] = {
    "NonMaxSuppression": suppression_inputs,
    "Range": range_inputs,
}
