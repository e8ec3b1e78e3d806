"""Seeds for recorded tensors: a drawn tensor may stand for a recorded one that shows nothing but randomness.

What a tensor shows is its character: whether it is sorted, symmetric, triangular, normalised, of low rank, a
permutation, mostly one value, and in what range it lies. A tensor with any such property keeps its recorded values,
and so do tensors that are related to one another. Whether the library accepts what is drawn instead, and gives a
result of the same kind, is for `fuzz.instance_check` to find out. Standard library and numpy only.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fuzz.instance import Instance, Tensor
from fuzz.instance_values import DECIMALS, integer_limits

#: A tensor of no more elements keeps them: they may have been chosen.
MOST_KEPT = 12
#: What is asked of random values: so many distinct ones of all, and no value more often than that.
_DISTINCT, _COMMON = 0.8, 0.2
#: How much of the recorded range, at least, is drawn from.
_OF_RANGE = 0.5
#: The narrowest range of floats that the rounding of drawn values leaves as it is.
_NARROWEST = 0.1
#: The largest side of a matrix whose rank is looked at.
_MOST_SIDE = 64
#: Operators that ask more of a matrix than its values show.
_MATRICES = re.compile(
    r"torch\.linalg\.|.*\.(cholesky|geqrf|householder_product|inverse|ldl|lobpcg|logdet|lstsq|lu_|matrix_exp|matrix_power"
    r"|orgqr|ormqr|pinverse|slogdet|svd|triangular_solve|(det|lu|qr)$)"
)


def drawn(instance: Instance) -> Instance | None:
    """The instance with seeds instead of recorded values where these look random; None where none do.

    The seed of a tensor is its position, and ranges are round numbers, so that instances that differ in what was
    drawn for them alone become equal.
    """
    if _MATRICES.match(instance.api):
        return None
    related = _related(instance.tensors)
    found = [tensor if at in related else _seeded(tensor, at) or tensor for at, tensor in enumerate(instance.tensors)]
    return replace(instance, tensors=tuple(found)) if tuple(found) != instance.tensors else None


def _seeded(tensor: Tensor, seed: int) -> Tensor | None:
    if tensor.values is None or len(tensor.values) <= MOST_KEPT:
        return None
    array = _array(tensor)
    if tensor.dtype == "bool":
        return replace(tensor, values=None, seed=seed) if _even(array) and not _patterned(array) else None
    bounds = _integer_bounds(array) if integer_limits(tensor.dtype) is not None else _float_bounds(array)
    if bounds is None or _patterned(array):
        return None
    return replace(tensor, values=None, seed=seed, low=bounds[0], high=bounds[1])


def _array(tensor: Tensor) -> Any:
    """The values, complex ones as pairs of reals in a last axis."""
    kind = np.int64 if tensor.dtype.startswith(("int", "uint", "bool")) else np.float64
    if tensor.dtype.startswith("complex"):
        wide = np.array(tensor.values, dtype=np.complex128).reshape(tensor.shape)
        return np.stack([wide.real, wide.imag], axis=-1)
    if tensor.dtype == "uint64":
        kind = np.float64
    return np.array(tensor.values, dtype=kind).reshape(tensor.shape)


# ---------------------------------------------------------------- ranges


def _integer_bounds(array: Any) -> tuple[float, float] | None:
    low, high = int(array.min()), int(array.max())
    values, counts = np.unique(array, return_counts=True)
    is_permutation = len(values) == array.size and high - low == array.size - 1
    if low == high or is_permutation or counts.max() > max(2, array.size * 0.7) or max(-low, high) > 2**53:
        return None
    return low, high + 1


def _float_bounds(array: Any) -> tuple[float, float] | None:
    """A range of round numbers inside the recorded one, or None where the values are no random ones."""
    if not np.isfinite(array).all() or (array == np.round(array)).all():
        return None
    _, counts = np.unique(array, return_counts=True)
    if len(counts) < _DISTINCT * array.size or counts.max() > max(1, _COMMON * array.size):
        return None
    low, high = float(array.min()), float(array.max())
    if high - low < _NARROWEST or max(-low, high) > 1e6:
        return None
    for digits in (1, 2, 3):
        inside = _rounded(low, digits, math.ceil), _rounded(high, digits, math.floor)
        if inside[1] - inside[0] >= _OF_RANGE * (high - low):
            return inside
    return None


def _rounded(value: float, digits: int, towards: Any) -> float:
    """Rounded inwards to so many significant digits, and to no more decimals than drawn values have."""
    if value == 0:
        return 0.0
    decimals = min(DECIMALS, digits - 1 - math.floor(math.log10(abs(value))))
    return float(round(towards(round(value * 10.0**decimals, 6)) / 10.0**decimals, DECIMALS))


# ---------------------------------------------------------------- patterns


def _even(array: Any) -> bool:
    return bool(0.2 <= array.mean() <= 0.8)


def _patterned(array: Any) -> bool:
    return _ordered(array) or _regular_matrix(array) or _normalised(array)


def _ordered(array: Any) -> bool:
    """Sorted along an axis that is long enough for that to be no accident."""
    for axis in range(array.ndim):
        if array.shape[axis] * math.prod(array.shape[:axis] + array.shape[axis + 1 :]) <= 4 or array.shape[axis] < 2:
            continue
        steps = np.diff(array, axis=axis)
        if steps.size > 3 and ((steps >= 0).all() or (steps <= 0).all()):
            return True
    return False


def _regular_matrix(array: Any) -> bool:
    """Symmetric, triangular or singular in the last two axes."""
    if array.ndim < 2 or min(array.shape[-2:]) < 2:
        return False
    rows, columns = array.shape[-2:]
    if not np.triu(array, 1).any() or not np.tril(array, -1).any():
        return True
    if rows == columns and (array == np.swapaxes(array, -1, -2)).all():
        return True
    if array.dtype.kind != "f" or max(rows, columns) > _MOST_SIDE:
        return False
    return bool((np.linalg.matrix_rank(array) < min(rows, columns)).all())


def _normalised(array: Any) -> bool:
    """Sums or Euclidean norms of 1 along an axis."""
    if array.dtype.kind != "f":
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return any(
            array.shape[axis] > 1 and np.allclose(total, 1, atol=1e-3)
            for axis in range(array.ndim)
            for total in (array.sum(axis=axis), np.sqrt((array**2).sum(axis=axis)))
        )


def _related(tensors: tuple[Tensor, ...]) -> set[int]:
    """Tensors of one shape that share many values, or lie on one side of each other throughout."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for at, tensor in enumerate(tensors):
        if tensor.values is not None and len(tensor.values) > MOST_KEPT and not tensor.dtype.startswith("complex"):
            alike.setdefault(tensor.shape, []).append(at)
    found = set()
    for group in alike.values():
        arrays = {at: _array(tensors[at]) for at in group} if len(group) > 1 else {}
        for one, other in combinations(arrays, 2):
            a, b = arrays[one], arrays[other]
            is_float = a.dtype.kind == b.dtype.kind == "f"
            if (is_float and (a == b).mean() > _COMMON) or (a == b).all() or (a <= b).all() or (a >= b).all():
                found |= {one, other}
    return found
