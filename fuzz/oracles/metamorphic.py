"""Oracle 3 of MT-DLComp (section 3.2.3): a mutant must give on a compiler what its original gives on the same compiler.

The same label and scores that differ by less than delta. What compilers do to both may round otherwise, so a deviation
counts as *numeric* while it stays within what rounding can make of the two graphs: the noise that float64 runs of
both give (`fuzz.backends._widened`). Only beyond that it is a logic error. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.oracles import differential
from fuzz.wire import Value, dtype_name

#: The largest difference of two scores; the paper saw honest ones around 1e-6.
DELTA = 1e-4


@dataclass(frozen=True)
class Deviation:
    """Where original and mutant part. `symptom` is ``wrong:count|dtype|shape|values|nan|inf|label|score``.

    `distance` is the largest difference of two elements of that output, infinity where they cannot be compared.
    """

    output: int
    symptom: str
    detail: str
    distance: float


def compare(mutant: Sequence[Value], original: Sequence[Value], delta: float = DELTA) -> Deviation | None:
    """The first deviation of two lists of outputs, or None where they agree."""
    if len(mutant) != len(original):
        return Deviation(0, differential.COUNT, f"{len(mutant)} outputs instead of {len(original)}", float("inf"))
    for position, (got, want) in enumerate(zip(mutant, original, strict=True)):
        found = _compared(got, want, position, delta)
        if found:
            return found
    return None


def distance(one: Sequence[Value], other: Sequence[Value]) -> float:
    """The largest difference of two elements of any output; infinity where outputs cannot be compared."""
    if len(one) != len(other):
        return float("inf")
    return max((_apart(got, want) for got, want in zip(one, other, strict=True)), default=0.0)


def _apart(got: Value, want: Value) -> float:
    found = _compared(got, want, 0, 0.0)
    return found.distance if found else 0.0


def is_numeric(
    mutant: Sequence[Value], original: Sequence[Value], noises: Sequence[Sequence[Value]], delta: float = DELTA
) -> bool:
    """Whether rounding may be all that parts two results: no element is beyond the sum of the `noises`.

    Each of `noises` is what rounding may do to every element of one of the two graphs, absolute, by output.
    """
    if len(mutant) != len(original):
        return False
    for position, (got, want) in enumerate(zip(mutant, original, strict=True)):
        found = _compared(got, want, position, delta)
        if found and not _explained(got, want, [each[position] for each in noises if len(each) > position], noises):
            return False
    return True


def _compared(got: Value, want: Value, position: int, delta: float) -> Deviation | None:
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray):
        return None if _same(got, want) else Deviation(position, differential.DTYPE, "other values", float("inf"))
    if dtype_name(got) != dtype_name(want):
        detail = f"dtype {dtype_name(got)} instead of {dtype_name(want)}"
        return Deviation(position, differential.DTYPE, detail, float("inf"))
    if got.shape != want.shape:
        return Deviation(position, differential.SHAPE, f"shape {got.shape} instead of {want.shape}", float("inf"))
    if got.dtype.kind not in "fV":
        different = int(np.count_nonzero(got != want))
        detail = f"{different} of {got.size} elements differ"
        return Deviation(position, "wrong:values", detail, float("inf")) if different else None
    return _scores(got.astype(np.float64), want.astype(np.float64), position, delta)


def _same(got: Value, want: Value) -> bool:
    if isinstance(got, list) and isinstance(want, list):
        return compare(got, want) is None
    return got is None and want is None


def _scores(got: np.ndarray, want: np.ndarray, position: int, delta: float) -> Deviation | None:
    distance = _distance(got, want)
    largest = float(np.max(distance, initial=0.0))
    worst = int(np.argmax(distance)) if distance.size else 0
    if not np.isfinite(largest):
        detail = f"{got.flat[worst]} instead of {want.flat[worst]} at flat index {worst}"
        symptom = "wrong:nan" if np.isnan(got.flat[worst]) or np.isnan(want.flat[worst]) else "wrong:inf"
        return Deviation(position, symptom, detail, largest)
    labels = _labels(got) != _labels(want)
    if labels.any():
        detail = f"{int(labels.sum())} of {labels.size} labels differ; scores by {largest:.4g} at most"
        return Deviation(position, "wrong:label", detail, largest)
    if largest < delta:
        return None
    detail = f"scores differ by {largest:.4g} at most: {got.flat[worst]:.7g} instead of {want.flat[worst]:.7g}"
    return Deviation(position, "wrong:score", detail, largest)


def _distance(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """By element; 0 between equal infinities or NaNs, infinity where only one is finite."""
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        found = np.where(same, 0.0, np.abs(got - want))
    return np.where(np.isnan(found), np.inf, found)


def _labels(scores: np.ndarray) -> np.ndarray:
    """The place of the highest score along the last axis; NaN is the lowest."""
    if not scores.ndim or not scores.size:
        return np.zeros((), np.int64)
    return np.asarray(np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=-1))


def _explained(got: Value, want: Value, noise: Sequence[Value], noises: Sequence[object]) -> bool:
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or len(noise) != len(noises):
        return False
    if got.shape != want.shape or dtype_name(got) != dtype_name(want) or got.dtype.kind not in "fV":
        return False
    if not all(isinstance(each, np.ndarray) and each.shape == got.shape for each in noise):
        return False
    allowed = np.sum([np.asarray(each, np.float64) for each in noise], axis=0)
    return bool(np.all(_distance(got.astype(np.float64), want.astype(np.float64)) <= allowed))
