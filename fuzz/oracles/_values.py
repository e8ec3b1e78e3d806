"""What the conditions of ``data/undefined.toml`` are worked out with: the values of a `Site`, exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from fuzz.oracles._site import Site


def limits(dtype: Any) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype."""
    match = re.fullmatch(r"(u?)int(\d+)", np.dtype(dtype).name)
    if match is None:
        raise ValueError(f"{dtype} is no integer type")
    bits = int(match[2])
    return (0, 2**bits - 1) if match[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def as_exact(array: np.ndarray) -> np.ndarray:
    """The same whole numbers as Python integers, which do not overflow."""
    return array.astype(np.int64 if array.dtype != np.uint64 else np.uint64).astype(object)


def cast_target(site: Site) -> np.dtype | None:
    """The dtype that Cast or CastLike casts to, None when unknown."""
    if site.op_type == "Cast" and site.attributes.get("to"):
        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(site.attributes["to"]))
    known = site.array("target_type")
    result = known if known is not None else site.result()
    return None if result is None else result.dtype


def reduced(site: Site) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """The data and the axes reduced, None when either is not known."""
    data, given = site.array("data"), site.array("axes")
    if data is None or (given is None and "axes" in site.given):
        return None
    axes = site.attributes.get("axes") if given is None else given.ravel().tolist()
    if not axes:
        kept = site.attributes.get("noop_with_empty_axes", 0)
        return data, () if kept else tuple(range(data.ndim))
    return data, tuple(int(axis) % max(1, data.ndim) for axis in axes)


REDUCTIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "ReduceSum": lambda exact: exact,
    "ReduceMean": lambda exact: exact,
    "ReduceProd": lambda exact: exact,
    "ReduceSumSquare": lambda exact: exact * exact,
    "ReduceL2": lambda exact: exact * exact,  # before the root is taken
    "ReduceL1": abs,
}


def broadcast(site: Site, first: str, second: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Two inputs of the same shape, None when one is unknown or they do not broadcast."""
    a, b = site.array(first), site.array(second)
    if a is None or b is None:
        return None
    try:
        left, right = np.broadcast_arrays(a, b)
    except ValueError:
        return None
    return left, right


def _shrunk(attributes: Mapping[str, Any], x: Any) -> Any:
    bias, width = attributes.get("bias", 0.0), attributes.get("lambd", 0.5)
    return np.where(x < -width, x + bias, np.where(x > width, x - bias, 0))


#: By operator: its result from its attributes and its inputs, element by element.
EXACT: Mapping[str, Callable[..., Any]] = {
    "Add": lambda _, a, b: a + b,
    "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b,
    "Neg": lambda _, a: -a,
    "Abs": lambda _, a: abs(a),
    "PRelu": lambda _, x, slope: np.where(x < 0, x * slope, x),
    "Shrink": _shrunk,
}


def exact_sums(site: Site, given: Sequence[np.ndarray]) -> np.ndarray | None:
    """The result of MatMul, Gemm, Einsum or CumSum of whole numbers, exactly; None where it cannot be told."""
    numbers = [as_exact(value) for value in given]
    try:
        return np.asarray(_SUMS[site.op_type](site.attributes, *numbers), dtype=object)
    except (IndexError, TypeError, ValueError):  # shapes or axes that do not fit: another check's business
        return None


def _gemm(attributes: Mapping[str, Any], a: Any, b: Any, *added: Any) -> Any:
    product = (a.T if attributes.get("transA") else a) @ (b.T if attributes.get("transB") else b)
    weighed = _weight(attributes, "alpha") * product
    return weighed + _weight(attributes, "beta") * added[0] if added else weighed


def _weight(attributes: Mapping[str, Any], name: str) -> Any:
    """A factor of Gemm, as a whole number if it is one."""
    factor = float(attributes.get(name, 1.0))
    return int(factor) if factor.is_integer() else factor


def _running(attributes: Mapping[str, Any], x: Any, axis: Any) -> Any:
    at = int(axis.ravel()[0])
    return np.cumsum(np.flip(x, at) if attributes.get("reverse") else x, axis=at)


def _contracted(attributes: Mapping[str, Any], *terms: Any) -> Any:
    equation = attributes["equation"]
    return np.einsum(equation.decode() if isinstance(equation, bytes) else equation, *terms)


_SUMS: Mapping[str, Callable[..., Any]] = {
    "CumSum": _running,
    "Einsum": _contracted,
    "Gemm": _gemm,
    "MatMul": lambda attributes, a, b: a @ b,
}


def power_leaves(base: int, power: float, low: int, high: int) -> bool:
    if not math.isfinite(power):
        return True
    if power < 0:
        return abs(base) != 1 or not power.is_integer()
    if abs(base) <= 1:
        return base < 0 and not power.is_integer()
    if base < 0 and not power.is_integer():
        return True
    if power * math.log2(abs(base)) > 65:
        return True
    result = base ** int(power) if power.is_integer() else math.trunc(base**power)
    return not low <= result <= high


#: A float32 quotient may be off by this much of itself: dividing and multiplying by the inverse differ.
_QUOTIENT_NOISE = 2.0**-21


def near_ties(x: np.ndarray, step: float) -> np.ndarray:
    """Where `x` / `step` lies so close to the middle of two integers that its own rounding error decides.

    An exact middle is defined (it goes to the even neighbour) and excuses nothing where the step is a power of two:
    then no way of dividing loses anything. 0.05 / 0.1 is one half by the luck of rounding alone.
    """
    with np.errstate(all="ignore"):
        quotient = x / step
        distance = np.abs(np.abs(quotient - np.floor(quotient)) - 0.5)
        small = np.abs(quotient) <= 1 << 16  # larger ones saturate in every quantized type
        near = small & (distance <= np.abs(quotient) * _QUOTIENT_NOISE)
    return np.asarray(near & (distance > 0) if abs(math.frexp(step)[0]) == 0.5 else near)


def along(hit: np.ndarray, site: Site) -> np.ndarray:
    """Every element of the lines that hold a hit, as Softmax and its kin draw lines.

    Before opset 13 they make a matrix of their input, of which `axis` and all axes behind it are a line.
    """
    if site.version >= 13:
        axes: tuple[int, ...] = (int(site.attributes.get("axis", -1)),)
    else:
        first = int(site.attributes.get("axis", 1))
        axes = tuple(range(first if first >= 0 else first + hit.ndim, hit.ndim))
    return np.broadcast_to(np.any(hit, axis=axes, keepdims=True), hit.shape)


def lines_of_nothing(site: Site) -> np.ndarray | None:
    """The elements of Softmax and its kin whose line holds nothing but minus infinity."""
    array = site.array("input")
    return None if array is None else ~along(~np.isneginf(array.astype(np.float64)), site)
