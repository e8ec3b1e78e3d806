"""Where whole numbers that an operator interpolates are rounded: ONNX does not say how.

The operator is asked again for the same numbers as float64, which need no rounding. Where a place between the elements
has no exact number (thirds), a whole result is within reach of rounding too: 255 / 3 cut off is 84 or 85. So the
places themselves are looked at, by having numbers interpolated that count the elements.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fuzz.oracles._again import again
from fuzz.oracles._site import Site, is_integer
from fuzz.oracles._values import limits

#: By operator: the mode of interpolation where none is given.
_MODES: Mapping[str, str] = {"GridSample": "linear", "Resize": "nearest"}
#: A place that is a multiple of this has an exact number in all types in which places are computed.
_FINEST = 2.0**-12


def rounded(site: Site) -> np.ndarray | None:
    """Where the operator's result is rounded or does not fit; None where nothing is interpolated, or not known."""
    x = site.array("X")
    if x is None or not is_integer(x) or site.attributes.get("mode", _MODES[site.op_type]) == "nearest":
        return None
    exact = again(site, {"X": x})
    if exact is None:
        return None
    low, high = limits(x.dtype)
    inexact = (exact != np.rint(exact)) | (exact < low) | (exact > high)
    for axis, size in enumerate(x.shape):
        if size > 1:
            inexact |= _between(site, np.arange(size), axis, x.shape)
    return np.asarray(inexact)


def _between(site: Site, counted: np.ndarray, axis: int, shape: tuple[int, ...]) -> np.ndarray:
    """Where the place along an axis is no exact number."""
    along = counted.reshape([-1 if at == axis else 1 for at in range(len(shape))])
    places = again(site, {"X": np.broadcast_to(along, shape)})
    return np.asarray(False) if places is None else np.asarray(places / _FINEST != np.rint(places / _FINEST))
