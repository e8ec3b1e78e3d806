"""What a plain loop in a tensor's own dtype loses where it adds up, for each sum on its own.

Part of the rounding model (`fuzz.backends._rounding`, decision 004). Runs in workers: numpy and the standard library.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import numpy as np

from fuzz.backends._rounding import UNITS, is_wide, model, numpy_dtype
from fuzz.backends._slices import Axes, reduced_axes, rows

#: Longer tensors are not added up once more.
_LONGEST = 1 << 24
#: What reductions add up, and what their error is where the sum is off by a part of itself: relative to the result, or
#: absolute.
_ADDED: Dict[str, Tuple[Callable[[np.ndarray], np.ndarray], float, bool]] = {
    "ReduceL1": (np.abs, 1.0, True),
    "ReduceL2": (np.square, 0.5, True),
    "ReduceLogSum": (np.asarray, 1.0, False),
    "ReduceLogSumExp": (np.exp, 1.0, False),
    "ReduceSumSquare": (np.square, 1.0, True),
}


def loop_loss(x: np.ndarray, total: np.ndarray, axes: Axes, dtype: str, mean: bool) -> Any:
    """What a plain loop in the tensor's dtype loses on each sum: forwards, backwards, small first or large first."""
    if not is_wide(x) or x.size > _LONGEST or not total.size or not x.size:
        return 0.0
    terms = rows(x, axes)
    count = terms.shape[-1]
    if terms.size != count * total.size or count < 2:
        return 0.0
    narrow = terms.astype(numpy_dtype(dtype))
    order = np.argsort(np.abs(terms), axis=-1, kind="stable")
    by_size = np.take_along_axis(narrow, order, axis=-1)
    exact, lost = terms.sum(axis=-1), np.zeros(terms.shape[:-1])
    with np.errstate(all="ignore"):
        for ordered in (narrow, narrow[..., ::-1], by_size, by_size[..., ::-1]):
            loop = np.cumsum(ordered, axis=-1, dtype=numpy_dtype(dtype))[..., -1].astype(np.float64)
            off = np.abs(loop - exact)
            lost = np.maximum(lost, np.where(np.isfinite(off), off, 0.0))
    return (model()["sequential"] * lost / (count if mean else 1)).reshape(total.shape)


def is_exact_mean(x: Any, mean: np.ndarray, axes: Axes, dtype: str) -> Any:
    """Where means of whole numbers lose nothing in any order: exact sums of as many terms as a power of two."""
    if not is_wide(x) or not x.size or not mean.size:
        return False
    terms = rows(x, axes)
    count = terms.shape[-1]
    if terms.size != count * mean.size or count & (count - 1):
        return False
    few = count * np.max(np.abs(terms), axis=-1) < 1 / UNITS[dtype]
    whole = np.all(np.isfinite(terms) & (terms == np.rint(terms)), axis=-1)
    return (few & whole).reshape(mean.shape)


def inner_loss(node: Any, inputs: Any, output: np.ndarray, dtype: str) -> Any:
    """What an operator loses that adds up inside, by a plain loop in 16 bits: long sums stop growing there."""
    x: Any = inputs[0] if inputs else None
    if not is_wide(x) or dtype not in ("float16", "bfloat16"):
        return 0.0
    if node.op_type in _ADDED:
        return _of_added(node, inputs, output, dtype)
    if node.op_type in ("Softmax", "LogSoftmax") and x.ndim and x.shape == output.shape and x.size:
        powers = np.exp(x - np.max(x, axis=node.axis, keepdims=True))
        sums = powers.sum(axis=node.axis, keepdims=True)
        lost = loop_loss(powers, sums, (node.axis % x.ndim,), dtype, mean=False) / np.where(sums > 0, sums, 1.0)
        return lost * (np.abs(output) if node.op_type == "Softmax" else 1.0)
    return 0.0


def _of_added(node: Any, inputs: Any, output: np.ndarray, dtype: str) -> Any:
    terms, part, is_relative = _ADDED[node.op_type]
    axes = reduced_axes(node, inputs)
    lines = rows(inputs[0], axes)
    if lines[..., 0].size != output.size:
        return 0.0
    if node.op_type == "ReduceLogSumExp":
        lines = lines - np.max(lines, axis=-1, keepdims=True, initial=-np.inf)
    added = terms(lines)
    total = added.sum(axis=-1)
    lost = loop_loss(added, total, (added.ndim - 1,), dtype, mean=False)
    relative = np.where(total > 0, lost / np.where(total > 0, total, 1.0), 0.0).reshape(output.shape)
    return part * relative * (np.abs(output) if is_relative else 1.0)
