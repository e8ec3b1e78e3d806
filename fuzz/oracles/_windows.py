"""Which windows of a pooling hold nothing but padding, and which regions of RoiAlign leave the picture."""

from __future__ import annotations

import warnings

import numpy as np

from fuzz.oracles._again import again
from fuzz.oracles._site import Site


def of_padding(site: Site) -> np.ndarray | None:
    """The elements of AveragePool and MaxPool whose window holds no data; None where that is not known.

    The operator itself tells them, pooling ones: anything but a part of one comes from a window without any. One image
    of one channel is enough: the reference pools slowly.
    """
    x = site.array("X")
    if x is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's, for the mean of nothing
        pooled = again(site, {"X": np.ones((1, 1, *x.shape[2:]), np.float32)})
    if pooled is None:
        return None
    with np.errstate(invalid="ignore"):
        found = ~((pooled > 0) & np.isfinite(pooled))
    return np.broadcast_to(found, (*x.shape[:2], *found.shape[2:]))


def outside(site: Site) -> np.ndarray | None:
    """Which regions of RoiAlign reach beyond the picture; None where that is not known."""
    x, regions = site.array("X"), site.array("rois")
    if x is None or regions is None or x.ndim != 4 or regions.shape[-1:] != (4,):
        return None
    scaled = regions.astype(np.float64) * float(site.attributes.get("spatial_scale", 1.0))
    return np.asarray(((scaled < 0) | (scaled > np.array([x.shape[3], x.shape[2]] * 2))).any(axis=-1))
