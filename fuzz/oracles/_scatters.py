"""Where ScatterElements and ScatterND write, and which of these places are written to twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.oracles._site import Site, is_integer

#: One row for every update: the place in the data that it goes to, and the values that go there.
Writes = tuple[np.ndarray, np.ndarray]


#: What `reduction` may be for the writes to be looked at.
_REPLACING = frozenset({"none"})
_EXTREMES = frozenset({"max", "min"})


def element_writes(site: Site, reductions: frozenset[str] = _REPLACING) -> Writes | None:
    """Those of ScatterElements; None where they are not known, or are added up or the like."""
    data, indices, updates = (site.array(name) for name in ("data", "indices", "updates"))
    if data is None or indices is None or updates is None or indices.shape != updates.shape or not indices.ndim:
        return None
    axis = int(site.attributes.get("axis", 0))
    if (
        site.attributes.get("reduction", "none") not in reductions
        or not -data.ndim <= axis < data.ndim
        or not indices.size
    ):
        return None
    target = np.indices(indices.shape)
    target[axis] = _wrapped(indices, data.shape[axis])
    return target.reshape(indices.ndim, -1).T, updates.reshape(-1, 1)


def slice_writes(site: Site, reductions: frozenset[str] = _REPLACING) -> Writes | None:
    """Those of ScatterND."""
    data, indices, updates = (site.array(name) for name in ("data", "indices", "updates"))
    if data is None or indices is None or updates is None or not indices.ndim or not indices.size:
        return None
    if site.attributes.get("reduction", "none") not in reductions or indices.shape[-1] > data.ndim or not updates.size:
        return None
    rows = _wrapped(indices, np.array(data.shape[: indices.shape[-1]])).reshape(-1, indices.shape[-1])
    return rows, updates.reshape(len(rows), -1)


def _wrapped(indices: np.ndarray, sizes: Any) -> np.ndarray:
    indices = indices.astype(np.int64)
    return np.where(indices < 0, indices + sizes, indices)


def conflicting(writes: Writes) -> np.ndarray:
    """By update: whether it goes where another one with other values goes, too."""
    targets, updates = writes
    _, first, place = np.unique(targets, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    differs = np.any(_bits(updates) != _bits(updates)[first[place]], axis=1)
    disputed = np.zeros(len(first), bool)
    np.logical_or.at(disputed, place, differs)
    return np.asarray(disputed[place])


def _bits(rows: np.ndarray) -> np.ndarray:
    """Numbers as their bits: NaN is NaN, and zeros of either sign are two values."""
    return rows if rows.dtype == object else np.ascontiguousarray(rows).view(np.uint8)


def disputed_elements(site: Site, writes: Writes | None) -> np.ndarray | None:
    """True for the elements of the data that two different updates go to."""
    data = site.array("data")
    if data is None or writes is None:
        return None
    mask = np.zeros(data.shape, bool)
    mask[tuple(writes[0][conflicting(writes)].T)] = True
    return mask


def unordered_elements(site: Site) -> np.ndarray | None:
    """True for the elements of which the largest or smallest is to be taken with a NaN among them."""
    data = site.array("data")
    writes = (element_writes if site.op_type == "ScatterElements" else slice_writes)(site, _EXTREMES)
    if data is None or writes is None or is_integer(data):
        return None
    at, updates = tuple(writes[0].T), writes[1].reshape(len(writes[1]), *data.shape[writes[0].shape[1] :])
    written, found = np.zeros(data.shape, bool), np.isnan(data.astype(np.float64))
    written[at] = True
    np.logical_or.at(found, at, np.isnan(updates.astype(np.float64)))
    return np.asarray(written & found)


def unpooled_twice(site: Site) -> np.ndarray | None:
    """The flat places to which MaxUnpool puts two different values; None where they are not known."""
    data, indices = site.array("X"), site.array("I")
    if data is None or indices is None or data.shape != indices.shape:
        return None
    places, values = indices.ravel(), data.ravel().astype(np.float64)
    order = np.lexsort((values, places))
    places, values = places[order], values[order]
    again = (places[1:] == places[:-1]) & (values[1:] != values[:-1])
    return np.asarray(np.unique(places[1:][again]))
