"""Where a convolution has a weight that is no number on a place without data: zero times infinity, or nothing at all.

The weights that are no numbers are counted, all of a channel and those that stand on data. They are counted by the
convolution itself: of ones, with a weight of one for each of them.
"""

from __future__ import annotations

import numpy as np

from fuzz.oracles._again import again
from fuzz.oracles._site import Site, is_float


def beside_data(site: Site) -> np.ndarray | None:
    """The elements of Conv and ConvTranspose into which such a weight goes; None where there is none, or not known."""
    x, weights = site.array("X"), site.array("W")
    if x is None or weights is None or not is_float(weights):
        return None
    wild = ~np.isfinite(weights.astype(np.float64))
    if not wild.any():
        return None
    on_data = again(site, {"X": np.ones(x.shape), "W": wild}, without=("B",))
    return None if on_data is None else np.asarray(on_data < _of_channels(site, wild))


def _of_channels(site: Site, wild: np.ndarray) -> np.ndarray:
    """How many such weights an output channel has, shaped to compare with the result."""
    places = tuple(range(2, wild.ndim))
    if site.op_type == "Conv":  # [output channels, input channels of the group, places...]
        counted = wild.sum(axis=(1, *places))
    else:  # [input channels, output channels of the group, places...]
        grouped = wild.sum(axis=places).reshape(int(site.attributes.get("group", 1)), -1, wild.shape[1])
        counted = grouped.sum(axis=1).ravel()
    return np.asarray(counted.reshape(1, -1, *[1] * len(places)))
