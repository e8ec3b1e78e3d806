"""Simple values for tensors, from the simplest form to the least simple."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

#: A form turns the wide (float64 or complex128) values of an array into simpler ones.
Form = Callable[[np.ndarray], np.ndarray]

FORMS: tuple[Form, ...] = (
    np.zeros_like,
    np.ones_like,
    lambda wide: np.arange(wide.size, dtype=wide.dtype).reshape(wide.shape),
    lambda wide: np.full_like(wide, wide.ravel()[0]),
    lambda wide: np.clip(np.rint(wide.real), -1, 1),
    lambda wide: np.clip(np.rint(wide.real), -9, 9),
    lambda wide: np.rint(wide),
    lambda wide: np.round(wide, 1),
    lambda wide: np.round(wide, 2),
)


def simpler(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """(number of the form, the array in that form) for every form simpler than the array's own."""
    if array.dtype.kind in "OUST" or not array.size:
        return
    for number, form in enumerate(FORMS):
        formed = _formed(array, form)
        if formed is None:
            continue
        if _same(formed, array):
            return
        yield number, formed


def _formed(array: np.ndarray, form: Form) -> np.ndarray | None:
    """None when the dtype cannot hold the form's values."""
    complex_ = array.dtype.kind == "c"
    with np.errstate(all="ignore"):
        wide = form(array.astype(np.complex128 if complex_ else np.float64))
        narrow = np.asarray(wide.astype(array.dtype))
        exact = array.dtype.kind in "iub" or array.dtype.itemsize == 1
        return None if exact and not np.array_equal(narrow.astype(wide.dtype), wide) else narrow


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.tobytes() == other.tobytes()
