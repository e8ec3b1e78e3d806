"""The tensors of an operator instance: what their JSON may say, and the values that are drawn from it.

The format is described in docs/instances.md. This module runs on both sides of the worker's pipe:
standard library, numpy and `fuzz.wire` only, Python 3.8 syntax.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from fuzz.wire import SMALL_DTYPES, Raw, Value

#: The largest tensor, in elements: beyond it a case tests the machine's memory, not the compiler.
MOST_ELEMENTS = 2**28
MOST_NESTING = 32
#: More values than these are written as the base64 of their bytes.
MOST_LISTED = 64
#: Seeded floats are rounded to this many decimals, so that drafts can show them in full.
DECIMALS = 3

_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
_INTEGERS = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
_NATIVE = _INTEGERS | frozenset(("bool", "float16", "float32", "float64", "complex64", "complex128"))
#: Smallest and largest value of the integer dtypes that numpy lacks.
_SMALL_INTEGERS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_TENSOR_KEYS = frozenset(("dtype", "shape", "seed", "values", "data", "low", "high", "constant"))

Scalar = Union[bool, int, float, complex]


def _count(shape: Sequence[int]) -> int:
    return int(math.prod(shape))


class InstanceError(ValueError):
    """An operator instance that cannot be used; one line saying what, where and how to mend it."""


@dataclass(frozen=True)
class Tensor:
    """One tensor: explicit flat `values`, or drawn from `seed` within ``[low, high)``.

    `dtype` is a wire name (``float32``, ``bfloat16`` …). A `constant` becomes a buffer of the module
    instead of an input of the model.
    """

    dtype: str
    shape: Tuple[int, ...]
    seed: int = 0
    values: Optional[Tuple[Scalar, ...]] = None
    low: Optional[float] = None
    high: Optional[float] = None
    constant: bool = False


# ---------------------------------------------------------------- reading


def check_keys(document: Any, where: str, known: "frozenset[str]") -> None:
    """Raise InstanceError unless `document` is an object with no other keys than `known`."""
    if not isinstance(document, dict):
        raise InstanceError("%s must be a JSON object, got %s" % (where, type(document).__name__))
    unknown = sorted(set(document) - known)
    if unknown:
        raise InstanceError("%s has an unknown key %r (known: %s)" % (where, unknown[0], ", ".join(sorted(known))))


def read_tensor(entry: Any, where: str) -> Tensor:
    """One entry of ``tensors``, checked. Raises InstanceError."""
    check_keys(entry, where, _TENSOR_KEYS)
    dtype = dtype_of(entry.get("dtype"), where + ".dtype")
    if dtype not in _NATIVE and dtype not in SMALL_DTYPES:
        raise InstanceError("%s: dtype %r is not known (for example float32, int64, bool, bfloat16)" % (where, dtype))
    values = entry.get("values") if entry.get("data") is None else _data(entry, where)
    shape = _shape(entry["shape"] if "shape" in entry else _shape_of(values), where)
    for key in ("low", "high"):
        if entry.get(key) is not None and type(entry[key]) not in (int, float):
            raise InstanceError("%s: %s must be a number" % (where, key))
    seed = entry.get("seed") or 0
    if type(seed) is not int or seed < 0:
        raise InstanceError("%s: seed must be an integer of 0 or more, got %r" % (where, seed))
    tensor = Tensor(dtype, shape, seed, None, entry.get("low"), entry.get("high"), bool(entry.get("constant", False)))
    if values is not None:
        # What is not used any more must not make two equal instances differ.
        return Tensor(dtype, shape, values=_values(values, tensor, where), constant=tensor.constant)
    _domain(tensor, where)
    return tensor


def _shape(shape: Any, where: str) -> Tuple[int, ...]:
    if not isinstance(shape, list) or any(type(size) is not int or size < 0 for size in shape):
        raise InstanceError("%s: shape must be a list of sizes of 0 or more, got %r" % (where, shape))
    if _count(shape) > MOST_ELEMENTS:
        raise InstanceError("%s: shape %r has more than 2**28 elements; use a smaller one" % (where, shape))
    return tuple(shape)


def _shape_of(values: Any) -> Any:
    """The shape of nested lists, by their first items."""
    shape: List[int] = []
    while isinstance(values, list) and len(shape) <= MOST_NESTING:
        shape.append(len(values))
        values = values[0] if values else None
    return shape if shape or values is not None else None


def _values(values: Any, tensor: Tensor, where: str) -> Tuple[Scalar, ...]:
    """Flat scalars from a flat list, a list nested like the shape, or a bare scalar for 0-d."""
    nested = isinstance(values, list) and any(isinstance(item, list) for item in values)
    flat: List[Any] = []
    _flatten(values, list(tensor.shape) if nested else None, flat, where)
    if len(flat) != _count(tensor.shape):
        raise InstanceError("%s: %d values for shape %s" % (where, len(flat), list(tensor.shape)))
    return tuple(_fitting(_scalar(item, where), tensor.dtype, where) for item in flat)


def _data(entry: Any, where: str) -> List[Scalar]:
    """The elements that ``data`` holds: ``{numpy dtype: base64 of little-endian bytes}``."""
    data = entry["data"]
    if entry.get("values") is not None:
        raise InstanceError("%s has both 'values' and 'data'; leave one out" % where)
    if not isinstance(data, dict) or len(data) != 1 or not isinstance(next(iter(data.values())), str):
        raise InstanceError("%s: data must be {'float32': 'base64 …'}" % where)
    ((name, text),) = data.items()
    if name not in _NATIVE:
        raise InstanceError("%s: data cannot be in %r (known: %s)" % (where, name, ", ".join(sorted(_NATIVE))))
    dtype = np.dtype(name).newbyteorder("<")
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise InstanceError("%s: data is not base64 (%s)" % (where, error)) from error
    if len(raw) % dtype.itemsize:
        raise InstanceError("%s: data of %d bytes is not a whole number of %s" % (where, len(raw), name))
    scalars: List[Scalar] = np.frombuffer(raw, dtype).tolist()
    return scalars


def _flatten(values: Any, shape: Optional[List[int]], flat: List[Any], where: str) -> None:
    if not isinstance(values, list):
        flat.append(values)
        return
    if shape is not None and (not shape or len(values) != shape[0]):
        raise InstanceError("%s: values are not nested like the shape" % where)
    for item in values:
        if shape is None or len(shape) == 1:
            if isinstance(item, list):
                raise InstanceError("%s: values are not nested like the shape" % where)
            flat.append(item)
        else:
            if not isinstance(item, list):
                raise InstanceError("%s: values are not nested like the shape" % where)
            _flatten(item, shape[1:], flat, where)


def _scalar(item: Any, where: str) -> Scalar:
    if isinstance(item, dict) and len(item) == 1:
        if "complex" in item:
            real, imaginary = complex_of(item["complex"], where)
            return complex(_scalar(real, where), _scalar(imaginary, where))
        item = item.get("float", item)
    if isinstance(item, str) and item in FLOATS:
        return FLOATS[item]
    if isinstance(item, (bool, int, float, complex)):  # JSON has no complex numbers, but `data` has
        return item
    raise InstanceError("%s: %r is not a number" % (where, item))


def _fitting(value: Scalar, dtype: str, where: str) -> Scalar:
    """The value as the dtype holds it; an integer out of range is an error, never wrapped."""
    if dtype == "bool":
        if value not in (0, 1):
            raise InstanceError("%s: %r is not a bool" % (where, value))
        return bool(value)
    if dtype.startswith("complex"):
        return complex(value)
    if isinstance(value, complex):
        raise InstanceError("%s: a complex value does not fit %s" % (where, dtype))
    limits = integer_limits(dtype)
    if limits is None:
        return float(value)
    if value != value or math.isinf(value) or value != int(value) or not limits[0] <= value <= limits[1]:
        raise InstanceError("%s: %r does not fit %s (%d to %d)" % (where, value, dtype, limits[0], limits[1]))
    return int(value)


def name_of(content: Any, where: str) -> str:
    """A named constant such as ``channels_last``, without the library's prefix. Raises InstanceError."""
    name = content[6:] if isinstance(content, str) and content.startswith("torch.") else content
    if not isinstance(name, str) or not re.match(r"-?\w+\Z", name):
        raise InstanceError("%s: %r is not a name" % (where, content))
    return name


def dtype_of(content: Any, where: str) -> str:
    """The wire name of a dtype, aliases resolved. Raises InstanceError for what is no name."""
    name = name_of(content, where)
    return _ALIASES.get(name, name)


def complex_of(content: Any, where: str) -> List[Any]:
    """``[real, imaginary]`` in the encoding of arguments. Raises InstanceError."""
    if not isinstance(content, list) or len(content) != 2:
        raise InstanceError("%s: {'complex': …} must be [real, imaginary]" % where)
    return [_plain(_scalar(part, where)) for part in content]


# ---------------------------------------------------------------- drawing


def integer_limits(dtype: str) -> Optional[Tuple[int, int]]:
    """Smallest and largest value of an integer dtype, None for any other."""
    if dtype in _SMALL_INTEGERS:
        return _SMALL_INTEGERS[dtype]
    if dtype in _INTEGERS:
        info = np.iinfo(dtype)
        return int(info.min), int(info.max)
    return None


def _domain(tensor: Tensor, where: str) -> Tuple[float, float]:
    """The half-open range that a seeded tensor is drawn from; (-inf, inf) means the normal distribution."""
    limits = integer_limits(tensor.dtype)
    if limits is None:
        if tensor.low is None and tensor.high is None:
            return -math.inf, math.inf
        low, high = tensor.low or 0.0, 1.0 if tensor.high is None else tensor.high
    else:
        low = max(limits[0], -5 if tensor.low is None else math.ceil(tensor.low))
        high = min(limits[1] + 1, 6 if tensor.high is None else math.ceil(tensor.high))
    if not low < high and _count(tensor.shape):
        raise InstanceError("%s: no %s lies in [low, high) = [%s, %s)" % (where, tensor.dtype, low, high))
    return low, high


def value_of(tensor: Tensor) -> Value:
    """The tensor's value. Raises InstanceError for a small dtype that needs ml_dtypes where that is missing."""
    wide = _drawn(tensor) if tensor.values is None else _given(tensor)
    if tensor.dtype in _NATIVE:
        return wide.astype(tensor.dtype)
    try:
        import ml_dtypes
    except ImportError:
        return _bfloat16(wide, tensor.dtype)
    small = getattr(ml_dtypes, tensor.dtype, None)
    if small is None:
        raise InstanceError("this ml_dtypes has no %s; a newer one may" % tensor.dtype)
    array: np.ndarray = wide.astype(small)
    return array


def _given(tensor: Tensor) -> np.ndarray:
    native = tensor.dtype if tensor.dtype in _NATIVE else "float32"
    return np.array(tensor.values, dtype=native).reshape(tensor.shape)


def _drawn(tensor: Tensor) -> np.ndarray:
    """Values in a wide dtype, from numpy's PCG64 stream of the seed (stable across numpy versions)."""
    rng = np.random.default_rng(tensor.seed)
    low, high = _domain(tensor, "tensor")
    if tensor.dtype == "bool":
        return rng.integers(0, 2, tensor.shape)
    if integer_limits(tensor.dtype) is not None:
        return rng.integers(int(low), int(high), tensor.shape, dtype=np.uint64 if high > 2**63 else np.int64)
    wide = _floats(rng, low, high, tensor.shape)
    if tensor.dtype.startswith("complex"):
        return wide + 1j * _floats(rng, low, high, tensor.shape)
    return wide


def _floats(rng: np.random.Generator, low: float, high: float, shape: Tuple[int, ...]) -> np.ndarray:
    wide = rng.standard_normal(shape) if math.isinf(low) else rng.uniform(low, high, shape)
    return np.asarray(np.round(wide, DECIMALS))


def _bfloat16(wide: np.ndarray, dtype: str) -> Raw:
    """Round float32 to its upper half, ties to even (finite values and infinities)."""
    if dtype != "bfloat16":
        raise InstanceError("%s values need the package ml_dtypes; install it beside the compiler" % dtype)
    bits = np.ascontiguousarray(wide, np.float32).reshape(wide.shape).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    halves = np.where(np.isnan(wide), 0x7FC0, rounded).astype(np.uint16)
    return Raw("bfloat16", wide.shape, halves.tobytes())


# ---------------------------------------------------------------- writing


def described(tensor: Tensor) -> Dict[str, Any]:
    """The tensor as its entry in ``tensors``: defaults left out, values flat, many of them as ``data``."""
    entry: Dict[str, Any] = {"dtype": tensor.dtype, "shape": list(tensor.shape)}
    if tensor.values is not None and len(tensor.values) > MOST_LISTED:
        entry["data"] = _encoded(tensor.values, tensor.dtype)
    elif tensor.values is not None:
        entry["values"] = [_plain(value) for value in tensor.values]
    else:
        entry["seed"] = tensor.seed
        entry.update((key, getattr(tensor, key)) for key in ("low", "high") if getattr(tensor, key) is not None)
    if tensor.constant:
        entry["constant"] = True
    return entry


def _encoded(values: Tuple[Scalar, ...], dtype: str) -> Dict[str, str]:
    """The values in the tensor's dtype, or in the narrowest of numpy's that holds all of them."""
    if dtype not in _NATIVE:
        dtype = "int8" if dtype in _SMALL_INTEGERS else "float32"
    array = np.array(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {dtype: base64.b64encode(array.tobytes()).decode("ascii")}


def _plain(value: Scalar) -> Any:
    if isinstance(value, complex):
        return {"complex": [_plain(value.real), _plain(value.imag)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value
