"""Whether a result of ArgMax, TopK, Hardmax or MaxPool is right for *some* order of equal values. Pure numpy.

Every rule takes the values picked from, how far rounding may move each of them, the operator's results by their
position and its attributes. With a noise of zero only equal values may change places; with noise, near ones, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzz.wire import Value

#: Values that differ by less, relatively, may be of one place; whether they are right is not asked here.
CLOSE = 1e-5
Rule = Callable[[np.ndarray, np.ndarray, Mapping[int, Value], Mapping[str, Any]], bool]


def _noise(noise: np.ndarray, axis: int) -> np.ndarray:
    """The noise in lines; where there is none whole zeros, so that large integers stay exact."""
    return _lines(noise if noise.any() else np.zeros(noise.shape, np.int64), axis)


def _lines(value: np.ndarray, axis: int) -> np.ndarray:
    """(lines, length): the axis last, the others flattened."""
    return np.moveaxis(value, axis, -1).reshape(-1, value.shape[axis])


def _axis(value: np.ndarray, given: Mapping[str, Any], default: int) -> int | None:
    axis = given.get("axis", default)
    return axis % value.ndim if isinstance(axis, int) and value.ndim and -value.ndim <= axis < value.ndim else None


def _one_of_the_first(smallest: bool) -> Rule:
    def rule(x: np.ndarray, noise: np.ndarray, results: Mapping[int, Value], given: Mapping[str, Any]) -> bool:
        axis, found = _axis(x, given, 0), results.get(0)
        if axis is None or not isinstance(found, np.ndarray):
            return False
        lines, moved = _signed(x, smallest, axis), _noise(noise, axis)
        places = found.reshape(-1)
        if places.size != len(lines) or not _inside(places, lines.shape[1]):
            return False
        at = np.arange(len(lines))
        return bool(np.all(lines[at, places] + moved[at, places] >= (lines - moved).max(axis=1)))

    return rule


def _signed(x: np.ndarray, smallest: bool, axis: int) -> np.ndarray:
    """The values as float64 or Python's integers, so that the largest comes first."""
    wide = x.astype(object) if x.dtype.kind in "iu" else x.astype(np.float64)
    return _lines(-wide if smallest else wide, axis)


def _inside(places: np.ndarray, length: int) -> bool:
    return bool(places.dtype.kind in "iu" and np.all((places >= 0) & (places < length)))


def _top(x: np.ndarray, noise: np.ndarray, results: Mapping[int, Value], given: Mapping[str, Any]) -> bool:
    """Places that differ from each other, of values that no left-out one exceeds, in their order."""
    axis, values, places = _axis(x, given, -1), results.get(0), results.get(1)
    if axis is None or not isinstance(places, np.ndarray) or places.ndim != x.ndim:
        return False  # values alone are the same in every order
    smallest = given.get("largest", 1) == 0
    lines, moved, at = _signed(x, smallest, axis), _noise(noise, axis), _lines(places, axis)
    if len(at) != len(lines) or not _inside(at, lines.shape[1]):
        return False
    if any(len(set(row)) < row.size for row in at):
        return False
    if isinstance(values, np.ndarray) and not _same(
        _signed(values, smallest, axis), _take(lines, at), _take(moved, at)
    ):
        return False
    low, high = _take(lines - moved, at), _take(lines + moved, at)
    in_order = given.get("sorted", 1) == 0 or bool(np.all(high[:, :-1] >= low[:, 1:]))
    rest = (lines - moved).copy()
    np.put_along_axis(rest, at, -np.inf if rest.dtype == np.float64 else -(1 << 70), axis=1)
    return in_order and bool(np.all(high.min(axis=1, initial=np.inf) >= rest.max(axis=1, initial=-np.inf)))


#: So many comparisons of values with those picked are made, and so many equal values tried, at most.
_MOST_COMPARED, _MOST_EQUAL = 10_000_000, 512


def alternatives(operator: str, x: np.ndarray, places: np.ndarray, given: Mapping[str, Any]) -> list[np.ndarray]:
    """What the places of ArgMax, ArgMin or TopK may be instead where values are equal: each of these in turn.

    Every array has another equal value's place in all elements that have one. None at all where no values are equal, or
    too many.
    """
    axis = _axis(x, given, -1 if operator == "TopK" else 0)
    if operator not in ("ArgMax", "ArgMin", "TopK") or axis is None or not places.size:
        return []
    lines = _lines(x, axis)
    at = places.reshape(-1, 1) if operator != "TopK" else _lines(places, axis)
    if len(at) != len(lines) or lines.size * at.shape[1] > _MOST_COMPARED or not _inside(at, lines.shape[1]):
        return []
    equal = lines[:, None, :] == _take(lines, at)[:, :, None]
    count = equal.sum(axis=-1)
    if not 1 < count.max(initial=0) <= _MOST_EQUAL:
        return []
    first = np.argsort(~equal, axis=-1, kind="stable")
    turns = (np.where(count > 0, turn % np.maximum(count, 1), 0) for turn in range(int(count.max())))
    found = (np.take_along_axis(first, turn[..., None], axis=-1)[..., 0] for turn in turns)
    return [_placed(np.where(count > 0, each, at), places, axis, operator) for each in found]


def _placed(at: np.ndarray, places: np.ndarray, axis: int, operator: str) -> np.ndarray:
    """Places in lines in the form that the operator's result has."""
    if operator != "TopK":
        return at.reshape(places.shape).astype(places.dtype)
    moved = np.moveaxis(places, axis, -1).shape
    return np.ascontiguousarray(np.moveaxis(at.reshape(moved), -1, axis)).astype(places.dtype)


def _take(lines: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.asarray(np.take_along_axis(lines, at.astype(np.int64), axis=1))


def _same(values: np.ndarray, picked: np.ndarray, moved: np.ndarray | float) -> bool:
    """Whether they are those that stand at the places; a compiler may have computed them in fewer bits."""
    near = 0 if values.dtype == object else CLOSE * np.abs(picked)
    with np.errstate(all="ignore"):
        return bool(np.all((values == picked) | (np.abs(values - picked) <= moved + near)))


def _one_first(x: np.ndarray, noise: np.ndarray, results: Mapping[int, Value], given: Mapping[str, Any]) -> bool:
    """Hardmax: one single 1 in every line."""
    axis, found = _axis(x, given, -1), results.get(0)
    if axis is None or not isinstance(found, np.ndarray) or found.shape != x.shape:
        return False
    lines = _lines(found.astype(np.float64), axis)
    if not np.all((lines == 0) | (lines == 1)) or not np.all(lines.sum(axis=1) == 1):
        return False
    return _one_of_the_first(False)(x, noise, {0: lines.argmax(axis=1)}, {"axis": axis})


def _same_maximum(x: np.ndarray, noise: np.ndarray, results: Mapping[int, Value], given: Mapping[str, Any]) -> bool:
    """MaxPool: indices into the flat data (storage_order 0) at which the pooled values stand."""
    pooled, places = results.get(0), results.get(1)
    if not isinstance(pooled, np.ndarray) or not isinstance(places, np.ndarray) or given.get("storage_order", 0):
        return False
    if not _inside(places.ravel(), x.size):
        return False
    at = places.ravel().astype(np.int64)
    picked = x.ravel()[at].astype(np.float64)[None]
    return _same(pooled.ravel().astype(np.float64)[None], picked, noise.ravel()[at][None])


def as_large(pooled: Value | None, maxima: Value | None, noise: np.ndarray) -> bool:
    """MaxPool: whether its values are the largest, whichever of several equal ones was taken; True where unknown, as
    of NaN."""
    if not isinstance(pooled, np.ndarray) or not isinstance(maxima, np.ndarray) or pooled.shape != maxima.shape:
        return True
    found, largest = pooled.astype(np.float64), maxima.astype(np.float64)
    told = ~np.isnan(largest) & ~np.isnan(found)
    found, largest = found[told], largest[told]
    sure = np.isfinite(largest)  # nothing is near infinity
    return bool(np.all(found[~sure] == largest[~sure])) and _same(
        found[sure], largest[sure], float(np.nanmax(noise, initial=0.0))
    )


#: The position of the result that tells places.
PLACES: Mapping[str, int] = {"ArgMax": 0, "ArgMin": 0, "Hardmax": 0, "MaxPool": 1, "TopK": 1}
#: By the operator: whether its results are right for some order of equal or nearly equal values.
RULES: Mapping[str, Rule] = {
    "ArgMax": _one_of_the_first(smallest=False),
    "ArgMin": _one_of_the_first(smallest=True),
    "Hardmax": _one_first,
    "MaxPool": _same_maximum,
    "TopK": _top,
}
