"""Where wrong elements lie, and whether right ones are merely in the wrong place. Pure; for `triage.symptom`."""

from __future__ import annotations

import itertools

import numpy as np

from triage.literals import Array

#: Orders of axes are tried one by one: 120 of five.
_MOST_AXES = 5
#: With fewer elements an order proves little: two numbers are swapped by chance too often.
_FEWEST = 3


def permuted(expected: Array, actual: Array) -> str:
    """How `actual` holds exactly the expected elements in another order, "" when it does not."""
    if expected.size < _FEWEST or not _telling(expected):
        return ""
    if 1 < expected.ndim <= _MOST_AXES:
        for order in itertools.permutations(range(expected.ndim)):
            turned = expected.transpose(order)
            if list(order) != sorted(order) and turned.shape == actual.shape and _same(turned, actual):
                return f"transposed by axes {list(order)}"
            if list(order) != sorted(order) and turned.shape != actual.shape and _same(turned.ravel(), actual.ravel()):
                return f"transposed by axes {list(order)}, then read as the expected shape"
    for axis in range(expected.ndim):
        if _same(np.flip(expected, axis), actual):
            return f"reversed along axis {axis}"
        if steps := _rolled(expected, actual, axis):
            return f"rotated by {steps} along axis {axis}"
    if _moved_slices(expected, actual) is not None:
        return f"the slices along axis {_moved_slices(expected, actual)} are in another order"
    if expected.dtype.kind != "c" and _same(np.sort(expected, axis=None), np.sort(actual, axis=None)):
        return "the expected elements, but in another order"
    return ""


def _telling(expected: Array) -> bool:
    """Whether the elements differ enough among themselves for an order to be seen, and are no mere truth values."""
    return len(set(expected.ravel()[:1000].tolist())) >= _FEWEST


def _same(one: Array, other: Array) -> bool:
    if one.shape != other.shape:
        return False
    return bool(np.array_equal(one, other, equal_nan=True) if one.dtype.kind in "fc" else np.array_equal(one, other))


def _rolled(expected: Array, actual: Array, axis: int) -> int:
    length = expected.shape[axis]
    return next((step for step in range(1, min(length, 64)) if _same(np.roll(expected, step, axis), actual)), 0)


def _moved_slices(expected: Array, actual: Array) -> int | None:
    """The axis along which whole slices have changed places."""
    for axis in range(expected.ndim):
        if not 1 < expected.shape[axis] <= 64 or expected.size == expected.shape[axis]:
            continue
        one = sorted(np.moveaxis(expected, axis, 0)[at].tobytes() for at in range(expected.shape[axis]))
        other = sorted(np.moveaxis(actual, axis, 0)[at].tobytes() for at in range(expected.shape[axis]))
        if expected.dtype != object and one == other and len(set(one)) > 1:
            return axis
    return None


def repeated(expected: Array, actual: Array) -> str:
    """Whether `actual` holds its first slice over and over along an axis, "" when it does not."""
    for axis in range(expected.ndim):
        if expected.shape[axis] < 2 or expected.size < _FEWEST:
            continue
        first = np.take(actual, [0], axis)
        if _same(np.broadcast_to(first, actual.shape), actual) and not _same(
            np.broadcast_to(np.take(expected, [0], axis), expected.shape), expected
        ):
            right = " of the expected ones" if _same(first, np.take(expected, [0], axis)) else ""
            return f"the first slice{right} is repeated along axis {axis}"
    return ""


def shifted(expected: Array, actual: Array) -> str:
    """Whether the expected elements stand some places further along an axis, "" when they do not."""
    for axis in range(expected.ndim):
        length = expected.shape[axis]
        for step in range(1, min(length // 2, 8) + 1):
            head, tail = np.arange(length - step), np.arange(step, length)
            kept = np.take(expected, head, axis)
            if kept.size < _FEWEST or not _telling(kept):
                continue
            if _same(np.take(actual, tail, axis), kept):
                return f"shifted by {step} along axis {axis}"
            if _same(np.take(actual, head, axis), np.take(expected, tail, axis)):
                return f"shifted by {-step} along axis {axis}"
    return ""


def places(wrong: Array) -> str:
    """Where the wrong elements lie, when that can be said shortly; "" when they are everywhere or all over.

    `wrong` is a mask of the output's shape.
    """
    count = int(wrong.sum())
    if count == wrong.size or wrong.size < 2:
        return ""
    said: dict[str, float] = {}  # and the share of the axis that is hit: the smallest tells the most
    for axis in range(wrong.ndim):
        hit = np.flatnonzero(wrong.any(axis=tuple(other for other in range(wrong.ndim) if other != axis)))
        length = wrong.shape[axis]
        if 0 < len(hit) < length and (clause := _slices(hit, length, axis)):
            said[clause] = len(hit) / length
    if said:
        return f"only {min(said, key=lambda clause: said[clause])}"
    flat = np.flatnonzero(wrong)
    if len(flat) > 1 and flat[-1] == wrong.size - 1 and len(flat) == flat[-1] - flat[0] + 1:
        return f"only from element {int(flat[0])} of {wrong.size} on"
    if wrong.ndim and _at_border(wrong):
        return "only at the border"
    return f"{count} of {wrong.size} elements"


def _slices(hit: Array, length: int, axis: int) -> str:
    if len(hit) == 1 and length > 1:
        last = " (the last one)" if hit[0] == length - 1 else ""
        return f"at index {int(hit[0])}{last} of axis {axis}"
    if hit[-1] == length - 1 and len(hit) == hit[-1] - hit[0] + 1:
        return f"from index {int(hit[0])} of axis {axis} on"
    if hit[0] == 0 and len(hit) == hit[-1] + 1:
        return f"up to index {int(hit[-1])} of axis {axis}"
    return ""


def _at_border(wrong: Array) -> bool:
    """Whether all wrong elements, and more than one, lie on the rim of the last axes that have an inside."""
    axes = [axis for axis in range(max(0, wrong.ndim - 2), wrong.ndim) if wrong.shape[axis] > 3]
    if len(axes) < 2 or int(wrong.sum()) < 2:
        return False
    inside = wrong
    for axis in axes:
        inside = np.take(inside, np.arange(1, wrong.shape[axis] - 1), axis)
    return not bool(inside.any())
