"""Whether two wrong results are wrong in the same numbers: what is wrong otherwise is another bug. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzz.case import Failure
from fuzz.judge import values
from fuzz.wire import Raw, Value
from triage.literals import Array, as_array

#: How far two numbers may be apart that are called the same: types hold them more or less exactly.
_APART = 1e-2


def numbers_alike(one: Failure, other: Failure) -> bool:
    """Whether both failures give the same numbers, NaN and infinities included; True where they give none."""
    pairs = zip(_arrays(one), _arrays(other), strict=False)
    return all(got.shape == too.shape and bool(np.all(_same(got, too))) for got, too in pairs)


def _arrays(failure: Failure) -> list[Array]:
    found = values(failure.outcome)
    arrays = [as_array(one) for one in found if isinstance(one, np.ndarray | Raw)]
    return [array.astype(np.float64) for array in arrays if array.dtype.kind not in "Oc"]


def _same(one: Array, other: Array) -> Array:
    return np.isclose(one, other, rtol=_APART, atol=0, equal_nan=True)


def given_numbers(failure: Failure) -> set[float]:
    """What a wrong result holds, rounded as a title would."""
    return numbers_of(values(failure.outcome))


def numbers_of(results: Sequence[Value]) -> set[float]:
    """What results hold, rounded as a title would."""
    arrays = [one for one in results if isinstance(one, np.ndarray) and one.dtype.kind in "fiu"]
    return {float(f"{number:.4g}") for array in arrays for number in array.ravel().tolist()}
