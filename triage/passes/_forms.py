"""Simple values for tensors, from the simplest form to the least simple."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

#: A form turns the wide (float64 or complex128) values of an array into simpler ones.
Form = Callable[[np.ndarray], np.ndarray]

#: Numbers up to this are small enough for a person.
_SMALL = 9


def _counted(wide: np.ndarray) -> np.ndarray:
    """1, 2, 3 …: each number tells where it came from; in a large tensor they begin again after 9."""
    return (np.arange(wide.size) % max(_SMALL, wide.size if wide.size <= 2 * _SMALL else 0) + 1).reshape(wide.shape)


#: Zeros come last: what a compiler does with them shows least.
FORMS: tuple[Form, ...] = (
    _counted,
    lambda wide: np.clip(np.rint(wide.real), -_SMALL, _SMALL),
    lambda wide: np.rint(wide),
    lambda wide: _counted(wide) / 10,
    lambda wide: np.round(wide, 1),
    lambda wide: np.round(wide, 2),
    np.ones_like,
    np.zeros_like,
)


def simpler(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """(number of the form, the array in that form) for every form simpler than the array's own."""
    if array.dtype.kind in "OUSTb" or not array.size or _configures(array):
        return
    for number, form in enumerate(FORMS):
        formed = _formed(array, form)
        if formed is None:
            continue
        if _same(formed, array):
            return
        yield number, formed


def _configures(array: np.ndarray) -> bool:
    """Small whole numbers are simple already, and may be indices or sizes."""
    return array.dtype.kind in "iu" and bool(np.all(np.abs(array.astype(np.float64)) <= _SMALL))


def _formed(array: np.ndarray, form: Form) -> np.ndarray | None:
    """None when the dtype cannot hold the form's values."""
    complex_ = array.dtype.kind == "c"
    with np.errstate(all="ignore"):
        wide = np.asarray(form(array.astype(np.complex128 if complex_ else np.float64)))
        narrow = np.asarray(wide.astype(array.dtype))
        exact = array.dtype.kind in "iub" or array.dtype.itemsize == 1
        return None if exact and not np.array_equal(narrow.astype(wide.dtype), wide) else narrow


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.tobytes() == other.tobytes()
