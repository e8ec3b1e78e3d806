"""What PyTorch's normalisations lose where they divide by a deviation that is small beside the mean.

The mean is rounded like any other, and the variance may be a mean of squares less the square of the mean. Bounds as
those of `fuzz.backends._rounding`. Runs in workers: numpy and the standard library only.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from fuzz.backends import _rounding as rounding

#: The data with all that is normalised together as the last axis, the scale shaped to go with them, and epsilon.
Rows = Tuple[np.ndarray, np.ndarray, float]


def of_moments(name: str, args: Sequence[Any], output: np.ndarray, dtype: str) -> Any:
    """The bound of a normalised result of the core operator `name`; 0 of every other operator. Tensors are arrays."""
    rows = _ROWS.get(name)
    found = rows(args) if rows is not None and isinstance(args[0], np.ndarray) and args[0].size else None
    if found is None or output.shape != args[0].shape:
        return 0.0
    x, scale, epsilon = found
    table, terms = rounding.model(), x.shape[-1]
    walk = table["walk"] * np.sqrt(terms)
    with np.errstate(all="ignore"):
        variance = x.var(axis=-1, keepdims=True)
        deviation = np.sqrt(variance + epsilon)
        mean_off = rounding.UNITS[dtype] * (table["basic"] + table["drift"] * terms + walk)
        of_mean = mean_off * np.abs(x).mean(axis=-1, keepdims=True) / deviation
        part = rounding.UNITS[dtype] * (table["basic"] + walk) * np.square(x).mean(axis=-1, keepdims=True)
        part = part / (variance + epsilon)
        most = deviation / np.sqrt(epsilon)  # the variance may come out as nothing at all
        of_variance = np.minimum(np.where(part < 1, 1 / np.sqrt(1 - part) - 1, most), most)
        normal = np.abs(x - x.mean(axis=-1, keepdims=True)) / deviation
    return _back((np.abs(scale) * (of_mean + of_variance * normal)), name, args)


def _of_layers(args: Sequence[Any]) -> Optional[Rows]:
    x, shape, weight, _, epsilon = args[:5]
    flat = x.reshape(*x.shape[: x.ndim - len(shape)], -1)
    return flat, np.ones(()) if weight is None else weight.reshape(-1), float(epsilon)


def _of_groups(args: Sequence[Any]) -> Optional[Rows]:
    x, weight, groups, epsilon = args[0], args[1], int(args[6]), float(args[7])
    scale = np.ones(x.shape[1]) if weight is None else weight
    spread = np.broadcast_to(scale.reshape(1, -1, *[1] * (x.ndim - 2)), x.shape)
    return x.reshape(x.shape[0], groups, -1), spread.reshape(x.shape[0], groups, -1), epsilon


def _of_channels(args: Sequence[Any]) -> Optional[Rows]:
    x, weight, trains, epsilon = args[0], args[1], bool(args[5]), float(args[7])
    if not trains:
        return None
    rows = np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)
    return rows, np.ones(()) if weight is None else weight.reshape(-1, 1), epsilon


def _back(bound: np.ndarray, name: str, args: Sequence[Any]) -> np.ndarray:
    """The bound in the shape of the data."""
    x = args[0]
    if name != "native_batch_norm":
        return bound.reshape(x.shape)
    return np.moveaxis(bound.reshape(x.shape[1], x.shape[0], *x.shape[2:]), 0, 1)


_ROWS: Dict[str, Callable[[Sequence[Any]], Optional[Rows]]] = {
    "native_batch_norm": _of_channels,
    "native_group_norm": _of_groups,
    "native_layer_norm": _of_layers,
}
