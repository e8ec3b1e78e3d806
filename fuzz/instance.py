"""Operator instances: one call of a library function, written as JSON data and never as code.

The format is described in docs/instances.md. This module parses and checks it, draws the tensors and
gives the canonical form; `fuzz.instance_torch` turns an instance into a module of PyTorch. It runs on
both sides of the worker's pipe: standard library, numpy and `fuzz.wire` only, Python 3.8 syntax.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from fuzz.wire import SMALL_DTYPES, Raw, Value

LIBRARIES = ("torch",)
#: The largest tensor, in elements: beyond it a case tests the machine's memory, not the compiler.
MOST_ELEMENTS = 2**28
MOST_NESTING = 32
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
#: Named constants of a library, by their key: {"memory_format": "channels_last"}.
NAMED = ("dtype", "memory_format", "layout", "device", "float")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_TENSOR_KEYS = frozenset(("dtype", "shape", "seed", "values", "low", "high", "constant"))
_INSTANCE_KEYS = frozenset(("library", "version", "api", "args", "kwargs", "tensors", "init", "comment"))

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


@dataclass(frozen=True)
class Instance:
    """A call. Arguments are in the encoding of docs/instances.md; they refer to tensors by position.

    `init` holds the constructor's arguments for a module class, else None.
    """

    library: str
    version: str
    api: str
    args: Tuple[Any, ...]
    kwargs: Mapping[str, Any]
    tensors: Tuple[Tensor, ...]
    init: Optional[Tuple[Tuple[Any, ...], Mapping[str, Any]]] = None


# ---------------------------------------------------------------- parsing


def parse(text: Union[bytes, str]) -> Instance:
    """Read and check an instance. Raises InstanceError.

    Tensors given inline as arguments are moved behind the listed ones and referred to.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InstanceError("not JSON: %s" % error) from error
    _check_keys(document, "instance", _INSTANCE_KEYS)
    library = document.get("library", "torch")
    if library not in LIBRARIES:
        raise InstanceError("library %r is not known (known: %s)" % (library, ", ".join(LIBRARIES)))
    api = document.get("api")
    if not isinstance(api, str) or not _NAME.match(api):
        raise InstanceError("api must be a dotted name such as 'torch.nn.functional.relu', got %r" % (api,))
    tensors = _listed(document)
    init = document.get("init")
    if init is not None:
        _check_keys(init, "init", frozenset(("args", "kwargs")))
    return Instance(
        library=library,
        version=str(document.get("version", "")),
        api=api,
        args=_arguments(document, "args", tensors),
        kwargs=_keywords(document, "kwargs", tensors),
        init=None if init is None else (_arguments(init, "args", tensors), _keywords(init, "kwargs", tensors)),
        tensors=tuple(tensors),
    )


def _check_keys(document: Any, where: str, known: "frozenset[str]") -> None:
    if not isinstance(document, dict):
        raise InstanceError("%s must be a JSON object, got %s" % (where, type(document).__name__))
    unknown = sorted(set(document) - known)
    if unknown:
        raise InstanceError("%s has an unknown key %r (known: %s)" % (where, unknown[0], ", ".join(sorted(known))))


def _listed(document: Dict[str, Any]) -> List[Tensor]:
    listed = document.get("tensors") or []
    if not isinstance(listed, list):
        raise InstanceError("tensors must be a list")
    return [_tensor(entry, "tensors[%d]" % at) for at, entry in enumerate(listed)]


def _arguments(document: Dict[str, Any], key: str, tensors: List[Tensor]) -> Tuple[Any, ...]:
    given = document.get(key) or []
    if not isinstance(given, list):
        raise InstanceError("%s must be a list" % key)
    return tuple(_argument(value, "%s[%d]" % (key, at), tensors, 0) for at, value in enumerate(given))


def _keywords(document: Dict[str, Any], key: str, tensors: List[Tensor]) -> Dict[str, Any]:
    given = document.get(key) or {}
    if not isinstance(given, dict):
        raise InstanceError("%s must be an object" % key)
    return {name: _argument(value, "%s.%s" % (key, name), tensors, 0) for name, value in sorted(given.items())}


def _argument(value: Any, where: str, tensors: List[Tensor], depth: int) -> Any:
    """Check one encoded argument and return its normal form; inline tensors join `tensors`."""
    if depth > MOST_NESTING:
        raise InstanceError("%s is nested deeper than %d levels" % (where, MOST_NESTING))
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, list):
        return [_argument(item, "%s[%d]" % (where, at), tensors, depth + 1) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, content), *_ = value.items()
        if key == "tuple" and isinstance(content, list):
            return {"tuple": _argument(content, where, tensors, depth + 1)}
        check = _OBJECTS.get(key)
        if check is None:
            raise InstanceError("%s: unknown object {%r: …} (known: tuple, %s)" % (where, key, ", ".join(_OBJECTS)))
        return {key: check(content, where, tensors)}
    if "dtype" in value:
        tensors.append(_tensor(value, where))
        return {"tensor": len(tensors) - 1}
    raise InstanceError("%s: an object must have one key, or be a tensor with 'dtype' and 'shape'" % where)


def _reference(content: Any, where: str, tensors: List[Tensor]) -> int:
    if type(content) is not int or not 0 <= content < len(tensors):
        raise InstanceError("%s: there is no tensor %r (%d are listed)" % (where, content, len(tensors)))
    return content


def _named(content: Any, where: str, tensors: List[Tensor]) -> str:
    name = content[6:] if isinstance(content, str) and content.startswith("torch.") else content
    if not isinstance(name, str) or not re.match(r"-?\w+\Z", name):
        raise InstanceError("%s: %r is not a name" % (where, content))
    return name


def _dtype(content: Any, where: str, tensors: List[Tensor]) -> str:
    name = _named(content, where, tensors)
    return _ALIASES.get(name, name)


def _special_float(content: Any, where: str, tensors: List[Tensor]) -> str:
    if content not in _FLOATS:
        raise InstanceError("%s: {'float': …} must be one of %s" % (where, ", ".join(_FLOATS)))
    return str(content)


def _device(content: Any, where: str, tensors: List[Tensor]) -> str:
    if content != "cpu":
        raise InstanceError("%s: the device must be 'cpu', got %r" % (where, content))
    return "cpu"


def _complex(content: Any, where: str, tensors: List[Tensor]) -> List[Any]:
    if not isinstance(content, list) or len(content) != 2:
        raise InstanceError("%s: {'complex': …} must be [real, imaginary]" % where)
    return [_plain(_scalar(part, where)) for part in content]


def _slice(content: Any, where: str, tensors: List[Tensor]) -> List[Optional[int]]:
    if not isinstance(content, list) or len(content) != 3 or any(type(p) not in (int, type(None)) for p in content):
        raise InstanceError("%s: {'slice': …} must be [start, stop, step], integers or null" % where)
    return content


def _ellipsis(content: Any, where: str, tensors: List[Tensor]) -> bool:
    return True


_OBJECTS: Dict[str, Callable[[Any, str, List[Tensor]], Any]] = {
    "tensor": _reference,
    "dtype": _dtype,
    "float": _special_float,
    "complex": _complex,
    "slice": _slice,
    "memory_format": _named,
    "layout": _named,
    "device": _device,
    "ellipsis": _ellipsis,
}


# ---------------------------------------------------------------- tensors


def _tensor(entry: Any, where: str) -> Tensor:
    _check_keys(entry, where, _TENSOR_KEYS)
    dtype = _dtype(entry.get("dtype"), where + ".dtype", [])
    if dtype not in _NATIVE and dtype not in SMALL_DTYPES:
        raise InstanceError("%s: dtype %r is not known (for example float32, int64, bool, bfloat16)" % (where, dtype))
    values = entry.get("values")
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
            real, imaginary = _complex(item["complex"], where, [])
            return complex(_scalar(real, where), _scalar(imaginary, where))
        item = item.get("float", item)
    if isinstance(item, str) and item in _FLOATS:
        return _FLOATS[item]
    if isinstance(item, (bool, int, float)):
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
    limits = _integer_limits(dtype)
    if limits is None:
        return float(value)
    if value != value or math.isinf(value) or value != int(value) or not limits[0] <= value <= limits[1]:
        raise InstanceError("%s: %r does not fit %s (%d to %d)" % (where, value, dtype, limits[0], limits[1]))
    return int(value)


def _integer_limits(dtype: str) -> Optional[Tuple[int, int]]:
    if dtype in _SMALL_INTEGERS:
        return _SMALL_INTEGERS[dtype]
    if dtype in _INTEGERS:
        info = np.iinfo(dtype)
        return int(info.min), int(info.max)
    return None


def _domain(tensor: Tensor, where: str) -> Tuple[float, float]:
    """The half-open range that a seeded tensor is drawn from; (-inf, inf) means the normal distribution."""
    limits = _integer_limits(tensor.dtype)
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


def tensors(instance: Instance) -> List[Value]:
    """The tensors' values, in order. The same instance always gives the same values.

    Without ml_dtypes bfloat16 comes as `Raw`. Raises InstanceError for other small dtypes then.
    """
    return [_materialise(tensor) for tensor in instance.tensors]


def _materialise(tensor: Tensor) -> Value:
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
    if _integer_limits(tensor.dtype) is not None:
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


# ---------------------------------------------------------------- canonical form


def canonical(instance: Instance) -> bytes:
    """The bytes to hash: sorted keys, no spaces, aliases resolved, defaults left out, flat values.

    ``parse(canonical(parse(text)))`` equals ``parse(text)``.
    """
    document: Dict[str, Any] = {"library": instance.library, "api": instance.api, "args": list(instance.args)}
    document["tensors"] = [_described(tensor) for tensor in instance.tensors]
    if instance.version:
        document["version"] = instance.version
    if instance.kwargs:
        document["kwargs"] = dict(instance.kwargs)
    if instance.init is not None:
        document["init"] = {"args": list(instance.init[0]), "kwargs": dict(instance.init[1])}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _described(tensor: Tensor) -> Dict[str, Any]:
    entry: Dict[str, Any] = {"dtype": tensor.dtype, "shape": list(tensor.shape)}
    if tensor.values is not None:
        entry["values"] = [_plain(value) for value in tensor.values]
    else:
        entry["seed"] = tensor.seed
        entry.update((key, getattr(tensor, key)) for key in ("low", "high") if getattr(tensor, key) is not None)
    if tensor.constant:
        entry["constant"] = True
    return entry


def _plain(value: Scalar) -> Any:
    if isinstance(value, complex):
        return {"complex": [_plain(value.real), _plain(value.imag)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value
