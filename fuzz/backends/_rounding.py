"""How far honest floating-point arithmetic may be off after one operator: the rounding model of the court.

For every operator a bound of the error that any reasonable implementation may make: order of summation,
fused multiply-add, vectorised functions, accumulation in the tensor's own dtype. The numbers and the
classes of operators are data (``data/court.toml``, table ``rounding``); decision 004 gives the reasons.
Bounds are absolute, one per element, in float64. Runs in workers: numpy and the standard library only.
"""

from __future__ import annotations

import functools
import itertools
import os
from typing import Any, Container, Dict, List, Optional, Sequence

import numpy as np

from fuzz.backends import _slices as slices
from fuzz.wire import SMALL_DTYPES

#: Half a unit in the last place of 1: the relative error of one rounding.
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
LARGEST = {
    "float64": float(np.finfo(np.float64).max),
    "float32": float(np.finfo(np.float32).max),
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
}
#: The smallest normal number; what is smaller may be flushed to zero.
SMALLEST = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}
#: The classes of functions of one number.
FUNCTIONS = frozenset(("function", "approximated", "cancelling"))
#: Where an exponential is nothing beside 1.
_FAR_BELOW = -40.0
#: Larger matrices nobody expands by cofactors.
_EXPANDED = 4
#: The dtypes that are widened.
NARROW = ("float32", "float16", "bfloat16")

Evaluate = slices.Evaluate
is_wide = slices.is_wide


@functools.lru_cache(maxsize=None)
def model() -> Dict[str, Any]:
    """The table ``rounding`` of ``data/court.toml``."""
    import tomllib

    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(folder, "data", "court.toml"), "rb") as file:
        table: Dict[str, Any] = tomllib.load(file)["rounding"]
    return table


@functools.lru_cache(maxsize=None)
def class_of(operator: str, library: str) -> str:
    """The class of an operator of ``onnx`` or ``torch``; ``exact`` for all that is not listed."""
    table = model()["operators"] if library == "onnx" else model()["torch"]
    return next((name for name, listed in table.items() if operator in listed), "exact")


def has_trait(operator: str, trait: str) -> bool:
    """Whether an ONNX operator is listed under a trait of the table ``rounding.traits``."""
    return operator in model()["traits"][trait]


def is_narrow(value: Any) -> bool:
    """Whether a value is an array of a dtype that is widened."""
    return isinstance(value, np.ndarray) and value.dtype.name in NARROW


def widened(value: Any) -> Any:
    """`value` with every narrow float array in it as float64, which holds the same numbers."""
    if isinstance(value, list):
        return [widened(item) for item in value]
    return value.astype(np.float64) if is_narrow(value) else value


def in_range(value: np.ndarray, dtype: str) -> np.ndarray:
    """What is too large for `dtype` as an infinity, as it would be there."""
    return np.where(np.abs(value) > LARGEST[dtype], np.copysign(np.inf, value), value)


def stored(value: Any, dtype: str) -> Any:
    """An output as its dtype can hold it, whatever the range was that it was computed in."""
    return in_range(value, dtype) if is_wide(value) and dtype in NARROW else value


def bound(
    kind: str, inputs: Sequence[Any], output: np.ndarray, dtype: str, evaluate: Evaluate, axis: Optional[int] = None
) -> np.ndarray:
    """How far one output of an operator of class `kind` may be off when it is computed in `dtype`.

    `evaluate` gives the output for other inputs; `axis` is that of a softmax, where it is known. Infinity where an
    intermediate sum may overflow, NaN where the result may be anything.
    """
    unit, table = UNITS[dtype], model()
    size = np.where(np.isfinite(output), np.abs(output), 0.0)
    floor = np.full(output.shape, SMALLEST[dtype] * unit)
    if kind == "basic":
        return np.asarray(unit * table[kind] * size + floor)
    if kind in FUNCTIONS:
        error = _inside(dtype, table["function" if kind == "cancelling" else kind]) * size + floor
        if kind != "function":
            added = max(1.0, _far_below(inputs, evaluate)) if kind == "approximated" else 1.0
            error = error + np.where(output == 0, 0.0, _inside(dtype, table["cancelled"]) * added)
        # Powers of two are built from the exponent: the last binade may overflow already.
        return np.asarray(np.where(np.abs(output) > LARGEST[dtype] / 2, np.inf, error))
    if kind == "linear":
        error = _of_sum(inputs, size, dtype, evaluate)
        return np.asarray(np.where(error > 0, error + floor, 0.0))  # a sum of zeros, or of nothing, is exact
    if kind == "reduction":
        inside = _inside(dtype, table["function"])
        return np.asarray((inside + unit * table["walk"] * np.sqrt(_terms(inputs, output))) * size + floor)
    if kind == "softmax":
        spread = max([1.0, *(float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)) for x in _floats(inputs))])
        if axis is not None and inputs[0].shape == output.shape and output.size and output.ndim:
            spread = np.maximum(1.0, slices.softmax_spread(inputs[0], axis))
        terms = table["function"] + 4 * spread + table["walk"] * np.sqrt(_terms(inputs, output))
        least = 0.0 if output.min(initial=0.0) >= 0 else 1.0  # LogSoftmax is exact relative to its sum alone
        return np.asarray(_inside(dtype, terms) * np.maximum(size, least) + floor)
    if kind == "distance":
        return np.asarray(_of_distance(inputs, size, dtype) + floor)
    if kind == "batch_norm" and len(inputs) >= 5 and all(map(is_wide, inputs[:5])):
        return np.asarray(unit * table["basic"] * 2 * _folded_batch_norm(inputs, evaluate) + floor)
    largest = float(size.max(initial=0.0))
    if kind == "instance_norm" and is_wide(inputs[0]):
        return np.asarray(_inside(dtype, table["function"]) * largest * _loss_of_variance(inputs[0]) + floor)
    units = _inside(dtype, table["transform" if kind in ("transform", "solver") else "composite"])
    return np.asarray(units * np.maximum(size, slices.largest(inputs, output, evaluate)) + floor)


def _far_below(inputs: Sequence[Any], evaluate: Evaluate) -> float:
    """The size of what an activation comes to where its argument is far below zero: alpha of an Elu, 0 of a sigmoid."""
    with np.errstate(all="ignore"):
        value = np.asarray(evaluate([np.full_like(inputs[0], _FAR_BELOW), *inputs[1:]]))
    return float(np.max(np.abs(value[np.isfinite(value)]), initial=0.0))


def _inside(dtype: str, units: float) -> float:
    """The relative error of what is computed inside one kernel: in float32 at least, then rounded once."""
    return max(2 * UNITS[dtype], units * min(UNITS[dtype], UNITS["float32"]))


def _floats(inputs: Sequence[Any]) -> List[np.ndarray]:
    return [value for value in inputs if is_wide(value)]


def _terms(inputs: Sequence[Any], output: np.ndarray) -> float:
    """About how many terms go into one element of a reduction's output."""
    largest = max([1, *(value.size for value in _floats(inputs))])
    return max(1.0, largest / max(1, output.size))


def _of_sum(inputs: Sequence[Any], size: np.ndarray, dtype: str, evaluate: Evaluate) -> np.ndarray:
    """The bound of a sum of products, from the same operator on absolute values and on ones.

    Where all terms are small whole numbers, every order of summation is exact.
    """
    unit, table = UNITS[dtype], model()
    with np.errstate(all="ignore"):
        absolute = np.asarray(evaluate([np.abs(value) if is_wide(value) else value for value in inputs]))
        squares = np.asarray(evaluate([value * value if is_wide(value) else value for value in inputs]))
        ones = np.asarray(evaluate([np.ones_like(value) if is_wide(value) else value for value in inputs]))
        total = float(np.max(np.abs(ones), initial=1.0))
    terms = max(total, _terms(inputs, size) if total <= 1 else 1.0)
    exact = _adds_whole_numbers(inputs, evaluate) & (absolute < 1 / unit) & (total > 1)
    walk = table["walk"] * np.sqrt(np.abs(squares) * (terms if total > 1 else 1.0))
    error = unit * ((table["basic"] + table["drift"] * terms) * size + walk)
    partial = absolute * (terms if total <= 1 else 1.0)
    return np.asarray(np.where(exact, 0.0, np.where(partial > LARGEST[dtype], np.inf, error)))


def _adds_whole_numbers(inputs: Sequence[Any], evaluate: Evaluate) -> np.ndarray:
    """Where every factor of every term is a whole number: where none of each input's others has a part."""
    places = [at for at, value in enumerate(inputs) if is_wide(value)]
    ones = [np.ones_like(value) if is_wide(value) else value for value in inputs]
    parted = np.zeros(())
    with np.errstate(all="ignore"):
        for at in places:
            broken = ~(np.isfinite(inputs[at]) & (inputs[at] == np.rint(inputs[at])))
            parted = parted + np.abs(np.asarray(evaluate([*ones[:at], broken.astype(np.float64), *ones[at + 1 :]])))
    return np.asarray(parted == 0)


def _of_distance(inputs: Sequence[Any], distance: np.ndarray, dtype: str) -> np.ndarray:
    """The root of |x|^2 + |y|^2 - 2xy, for each pair of rows: of near points far from zero little is left."""
    x, y = inputs[:2]
    table = model()
    units = table["basic"] + table["walk"] * np.sqrt(x.shape[-1])
    error = UNITS[dtype] * units * (np.square(x).sum(-1)[..., :, None] + np.square(y).sum(-1)[..., None, :])
    with np.errstate(all="ignore"):
        return np.asarray(np.where(error > 0, error / (distance + np.sqrt(error)), 0.0))


def _folded_batch_norm(inputs: Sequence[Any], evaluate: Evaluate) -> np.ndarray:
    """The sum of the terms' sizes when scale and mean are folded into one product and one sum.

    NaN where the folded factor is infinite: what it gives then is no number at all.
    """
    x, scale, bias, mean, variance = inputs[:5]
    rest = list(inputs[5:])
    size = np.abs(evaluate([np.abs(x), np.abs(scale), np.abs(bias), -np.abs(mean), variance, *rest]))
    return np.asarray(np.where(np.isfinite(size), size, np.nan))


def _loss_of_variance(x: np.ndarray) -> float:
    """What is lost where a variance is a mean of squares minus the square of the mean."""
    axes = tuple(range(2, x.ndim))
    with np.errstate(all="ignore"):
        variance, mean = x.var(axis=axes), x.mean(axis=axes)
        loss = (mean * mean + variance) / (variance + 1e-5)
    return float(np.max(loss[np.isfinite(loss)], initial=1.0))


def exact_sites(native: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """Where a basic operation was exact in its own dtype: IEEE 754 leaves no room there."""
    with np.errstate(all="ignore"):
        same: np.ndarray = np.asarray(native.astype(np.float64) == wide)
    return same


def exact_quotients(inputs: Sequence[Any], quotient: np.ndarray, dtype: str) -> np.ndarray:
    """Where division by a power of two, or of zero, loses nothing: the product with the reciprocal does not, either.

    Other quotients that come out even may be rounded twice on that way.
    """
    dividend, divisor = (np.broadcast_to(value, quotient.shape) for value in inputs[:2])
    with np.errstate(all="ignore"):
        mantissa, _ = np.frexp(np.abs(divisor))
        size, least = np.abs(divisor), SMALLEST[dtype]
        invertible = (size >= least) & (size <= 1 / least)
        even = (mantissa == 0.5) & (np.abs(quotient) >= least) & (np.abs(quotient) <= LARGEST[dtype])
    return np.asarray(invertible & (even | (dividend == 0)))


def has_subnormals(value: np.ndarray, dtype: str) -> bool:
    """Whether a value holds numbers that are subnormal in `dtype`."""
    return bool(np.any((value != 0) & (np.abs(value) < SMALLEST[dtype])))


def flushed(value: np.ndarray, dtype: str) -> np.ndarray:
    """Subnormal numbers as zeros, as processors do in the fast mode that most compilers choose."""
    return np.where(np.abs(value) < SMALLEST[dtype], 0.0, value)


def still(value: Any) -> Optional[np.ndarray]:
    """No noise at all, for values that may have some."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        return None
    return np.zeros(value.shape)


def cover(
    noise: List[Optional[np.ndarray]],
    clean: List[Any],
    trial: List[Any],
    amounts: Container[int] = frozenset(),
    finite: bool = False,
) -> None:
    """Let `noise` cover how far a trial is from the clean outputs.

    Integers that move may be anything, unless `amounts` says that an output's integers are no places or choices. With
    `finite` an infinity in the place of a number is no move: it says that the number may be infinite, and not that it
    may be any other.
    """
    for at, (known, one, other) in enumerate(zip(noise, clean, trial)):
        if known is None:
            continue
        if not isinstance(other, np.ndarray) or other.shape != one.shape or other.dtype.kind not in "fiub":
            noise[at] = np.full(known.shape, np.inf)
            continue
        with np.errstate(all="ignore"):
            if one.dtype.kind == "f" or (at in amounts and one.dtype.kind in "iu"):
                one, other = one.astype(np.float64), other.astype(np.float64)
                same = (one == other) | (np.isnan(one) & np.isnan(other))
                move = np.where(same, 0.0, np.abs(one - other))
                move = np.where(np.isnan(move), np.inf, move)
                if finite:
                    move = np.where(np.isinf(other) & np.isfinite(one), 0.0, move)
            else:
                move = np.where(one == other, 0.0, np.inf)
        noise[at] = np.maximum(known, move)


def usual(value: np.ndarray, dtype: str) -> np.ndarray:
    """How far a function's result may be off where it may overflow besides."""
    return np.asarray(_inside(dtype, model()["function"]) * np.where(np.isfinite(value), np.abs(value), 0.0))


def knows(dtype: str) -> bool:
    """Whether the model has numbers for a dtype."""
    return dtype in UNITS and dtype not in set(SMALL_DTYPES) - {"bfloat16"}


def of_mean(node: Any, inputs: Sequence[Any], dtype: str) -> Any:
    """What an error of the mean becomes where a normalisation divides by the deviation, which may be next to nothing.

    Only of operators that take the mean inside: InstanceNormalization, and BatchNormalization in training.
    """
    trains = node.op_type == "BatchNormalization" and getattr(node, "training_mode", 0)
    if not (trains or node.op_type == "InstanceNormalization") or not all(map(is_wide, inputs[:2])):
        return 0.0
    x, scale = inputs[:2]
    if x.ndim < 2 or not x.size:
        return 0.0
    axes = tuple(at for at in range(x.ndim) if at != 1 and (trains or at != 0))
    terms, table = float(x.size) / x.shape[1] / (1 if trains else x.shape[0]), model()
    units = table["basic"] + table["drift"] * terms + table["walk"] * np.sqrt(terms)
    with np.errstate(all="ignore"):
        error = _inside(dtype, units) * np.abs(x).mean(axis=axes, keepdims=True)
        deviation = np.sqrt(x.var(axis=axes, keepdims=True) + getattr(node, "epsilon", 1e-5))
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    return np.asarray(np.abs(scale).reshape(per_channel) * error / deviation)


def of_squares(node: Any, inputs: Sequence[Any], dtype: str, at: int) -> Any:
    """What BatchNormalization in training loses where its variance is a mean of squares minus the square of the mean.

    Of its results, by channel: the first is divided by the deviation, the third holds the variance.
    """
    if node.op_type != "BatchNormalization" or not getattr(node, "training_mode", 0) or at == 1:
        return 0.0
    x, scale = inputs[:2]
    if not (is_wide(x) and is_wide(scale)) or x.ndim < 2 or not x.size:
        return 0.0
    axes, terms, table = tuple(one for one in range(x.ndim) if one != 1), float(x.size) / x.shape[1], model()
    units = table["basic"] + table["drift"] * terms + table["walk"] * np.sqrt(terms)
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    error = _inside(dtype, units) * (mean * mean + variance)
    if at > 1:
        return (1 - float(getattr(node, "momentum", 0.9))) * error.ravel()
    epsilon = float(getattr(node, "epsilon", 1e-5))
    part, deviation = error / (variance + epsilon), np.sqrt(variance + epsilon)
    most = deviation / np.sqrt(epsilon)  # the variance may come out as nothing at all
    with np.errstate(all="ignore"):
        of_variance = np.minimum(np.where(part < 1, 1 / np.sqrt(1 - part) - 1, most), most)
    return np.abs(x - mean) / deviation * np.abs(scale).reshape((1, -1) + (1,) * (x.ndim - 2)) * of_variance


def of_expansion(node: Any, inputs: Sequence[Any], dtype: str) -> Any:
    """What Det loses where a small matrix is expanded by its cofactors: units of the sum of all products' sizes."""
    x = inputs[0] if inputs else None
    if node.op_type != "Det" or not isinstance(x, np.ndarray) or x.ndim < 2 or not 1 < x.shape[-1] <= _EXPANDED:
        return 0.0
    size, rows = np.abs(x), range(x.shape[-1])
    total = np.zeros(x.shape[:-2])
    for columns in itertools.permutations(rows):
        product = np.ones(x.shape[:-2])
        for row, column in zip(rows, columns):
            product = product * size[..., row, column]
        total = total + product
    return 2 * x.shape[-1] * UNITS[dtype] * total


def numpy_dtype(name: str) -> Any:
    """The dtype of that name, which numpy itself may lack."""
    if name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return np.dtype(name)
