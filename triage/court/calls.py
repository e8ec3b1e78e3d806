"""Which elements of the results of an operator instance the specification leaves open.

Most rules tell it themselves. How a function orders NaN is found out by trying: what hangs on the NaN is another value
once the library is given a number in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fuzz import instance as instances
from fuzz.case import Case, Status, Target
from fuzz.instance import Tensor
from fuzz.judge import values
from fuzz.oracles import ties, undefined
from fuzz.oracles._site import is_float
from fuzz.runner import Runner
from triage.passes._instances import parsed, with_instance
from triage.passes.instance_values import scalars

#: What stands in the place of NaN, one after the other: the ordinary and the extreme.
_NUMBERS = (0.0, 3.0, np.inf, -np.inf)


def open_masks(
    runner: Runner, reference: Target, case: Case, expected: Sequence[np.ndarray]
) -> tuple[np.ndarray, ...] | None:
    """By output: true where it is open; None where that cannot be told. `expected` are the library's own results."""
    if ties.in_order(case.model, expected, expected) is not None:
        return tuple(np.zeros(value.shape, bool) for value in expected)  # nothing but an order is open
    if undefined.hangs_on_nan(case.model):
        return _moved_by_nan(runner, reference, case, expected)
    mask = undefined.open_elements_of_call(case.model, expected[0].shape) if len(expected) == 1 else None
    return None if mask is None else (mask,)


def _moved_by_nan(
    runner: Runner, reference: Target, case: Case, expected: Sequence[np.ndarray]
) -> tuple[np.ndarray, ...] | None:
    changed = [np.zeros(value.shape, bool) for value in expected]
    for number in _NUMBERS:
        outcome = runner.run(_with_number(case, number), reference)
        found = [value for value in values(outcome) if isinstance(value, np.ndarray)]
        if outcome.status is not Status.OK or [one.shape for one in found] != [one.shape for one in expected]:
            return None
        changed = [seen | _unequal(one, want) for seen, one, want in zip(changed, found, expected, strict=True)]
    return tuple(changed)


def _with_number(case: Case, number: float) -> Case:
    """The call with a number in the place of every NaN."""
    instance = parsed(case)
    arrays = instances.tensors(instance)
    tensors = tuple(_replaced(tensor, value, number) for tensor, value in zip(instance.tensors, arrays, strict=True))
    return with_instance(case, replace(instance, tensors=tensors))


def _replaced(tensor: Tensor, value: object, number: float) -> Tensor:
    if not isinstance(value, np.ndarray) or not is_float(value):
        return tensor
    wide = value.astype(np.float64)
    if not np.isnan(wide).any():
        return tensor
    given = scalars(np.where(np.isnan(wide), number, wide).astype(value.dtype))
    return replace(tensor, values=given, low=None, high=None)


def _unequal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray((one != other) & ~((one != one) & (other != other)))  # NaN alone is not itself
