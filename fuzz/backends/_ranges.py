"""What leaves the range of a dtype inside an operator although its result need not: products, squares, scaled values.

In which order a kernel multiplies, and whether it scales before it squares, is its own affair (decision 004). Bounds as
those of `fuzz.backends._rounding`: infinity where the result may overflow, NaN where it may be anything. Runs in
workers: numpy and the standard library only.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Sequence

import numpy as np

from fuzz.backends._rounding import LARGEST, SMALLEST, Evaluate, is_wide

#: A node, its inputs in float64, one result in float64, its dtype, and the operator on other inputs.
_Leaves = Callable[[Any, Sequence[Any], np.ndarray, str, Evaluate], Any]


def leaving(
    operator: str, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate, node: Any = None
) -> Any:
    """The bound of a result by what is computed on the way to it; 0 where that stays within the dtype's range.

    `operator` is one of ONNX, whose `node` holds its attributes, or one of PyTorch's core.
    """
    leaves = _BY_OPERATOR.get(operator)
    if leaves is None or not inputs or not is_wide(inputs[0]) or not inputs[0].size:
        return 0.0
    with np.errstate(all="ignore"):
        return leaves(node, inputs, value, dtype, evaluate)


def _product(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """Large factors first are an infinity, small ones first a zero, and one times the other is no number."""
    size, x = np.abs(value), np.abs(inputs[0])
    over = np.abs(evaluate([np.maximum(x, 1.0), *inputs[1:]])) > LARGEST[dtype]
    under = np.abs(evaluate([np.where(x > 0, np.minimum(x, 1.0), 1.0), *inputs[1:]])) < SMALLEST[dtype]
    has_zero = np.abs(evaluate([np.where(x > 0, 1.0, 0.0), *inputs[1:]])) == 0
    open_ = (over & ((size <= LARGEST[dtype]) | has_zero)) | (under & (size >= SMALLEST[dtype])) | (over & under)
    return np.where(open_, np.nan, 0.0)


def _norm(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The sum of squares leaves the range; or each of them is lost, which together make a number."""
    lost = (value != 0) & (np.square(np.abs(inputs[0]).max()) < SMALLEST[dtype])
    return np.where(lost, np.inf, _of_squares(np.square(value), dtype))


def _normalised(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    if getattr(node, "p", 2) != 2:
        return 0.0
    squares = np.square(inputs[0]).sum(axis=getattr(node, "axis", -1), keepdims=True)
    return np.where(np.broadcast_to(_of_squares(squares, dtype) != 0, value.shape), np.nan, 0.0)


def _of_squares(squares: np.ndarray, dtype: str) -> np.ndarray:
    return np.where((squares > LARGEST[dtype]) | ((squares > 0) & (squares < SMALLEST[dtype])), np.inf, 0.0)


def _by_variance(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The sum of squares of a channel, or that of its deviations from the mean, may be an infinity."""
    x = inputs[0]
    axes = tuple(range(2, x.ndim))
    sums = np.square(x).sum(axis=axes, keepdims=True)
    return np.where(np.broadcast_to(sums > LARGEST[dtype], value.shape), np.nan, 0.0)


def _by_neighbours(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """A sliding sum of squares over channels: an infinity that comes into it stays until the line's end."""
    sums = np.square(inputs[0]).sum(axis=1, keepdims=True)
    return np.where(np.broadcast_to(sums > LARGEST[dtype], value.shape), np.nan, 0.0)


def _by_deviation(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The squares of what is normalised, added up over the axes from `axis` on."""
    x, axis = inputs[0], getattr(node, "axis", None)
    axes = tuple(range((-1 if axis is None else axis) % x.ndim, x.ndim))
    return np.where(
        np.broadcast_to(np.square(x).sum(axis=axes, keepdims=True) > LARGEST[dtype], value.shape), np.nan, 0.0
    )


def _pooled_norm(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The sum of powers of a window."""
    powers = np.abs(value) ** (getattr(node, "p", None) or 2)
    return _of_squares(np.where(value == 0, 0.0, powers), dtype)


def _added(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The sum of some of the inputs, before the others come to it or it is divided."""
    partial = np.asarray(sum(np.abs(each) for each in inputs))
    return np.where(partial > LARGEST[dtype], np.nan, 0.0)


def _scaled(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """Scaled before it is divided by the deviation, or after."""
    x, scale, _, mean = inputs[:4]
    if x.ndim < 2:
        return 0.0  # one channel, and every element of another batch
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    partial = (np.abs(x) + np.abs(mean).reshape(per_channel)) * np.abs(scale).reshape(per_channel)
    return np.where(partial > LARGEST[dtype], np.inf, 0.0)


def _logarithm(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The logarithm of exponentials or of a sum: of an infinity, or of a zero where all of them are lost.

    ONNX's own function of Softplus is Log(Exp(x) + 1), in the tensor's type; to take the largest out first is better.
    """
    lost = (value < np.log(SMALLEST[dtype])) & (getattr(node, "op_type", "") == "ReduceLogSumExp")
    return np.where(np.isfinite(value) & ((value > np.log(LARGEST[dtype])) | lost), np.inf, 0.0)


def _half_exponential(node: Any, inputs: Sequence[Any], value: np.ndarray, dtype: str, evaluate: Evaluate) -> Any:
    """The exponential before it is halved."""
    return np.where(2 * np.abs(value) > LARGEST[dtype], np.inf, 0.0)


_BY_OPERATOR: Dict[str, _Leaves] = {
    "ReduceProd": _product,
    "CumProd": _product,
    "prod": _product,
    "cumprod": _product,
    "ReduceL2": _norm,
    "LpPool": _pooled_norm,
    "GlobalLpPool": _pooled_norm,
    "LayerNormalization": _by_deviation,
    "RMSNormalization": _by_deviation,
    "Sum": _added,
    "Mean": _added,
    "ReduceLogSum": _logarithm,
    "ReduceLogSumExp": _logarithm,
    "Softplus": _logarithm,
    "Cosh": _half_exponential,
    "Sinh": _half_exponential,
    "LpNormalization": _normalised,
    "LRN": _by_neighbours,
    "InstanceNormalization": _by_variance,
    "BatchNormalization": _scaled,
}
