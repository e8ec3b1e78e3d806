"""Input values of a model in an ``.npz`` file.

One array per graph input, by name; the items of a sequence are ``name[0]``, ``name[1]`` … and an empty
one is ``name[]``. An absent optional is left out. Strings are numpy's fixed-width ones, since object
arrays would need pickles. Dtypes that numpy lacks keep their bytes and get their name back from the model.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from bot.failures import Refusal
from fuzz.wire import Value, dtype_name

_ITEM = re.compile(r"(?P<name>.*)\[(?P<at>\d*)\]\Z", re.DOTALL)
#: What numpy and zipfile raise on files that are damaged or not theirs.
_DAMAGED = (ValueError, OSError, EOFError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)

Array = np.ndarray[Any, Any]


def read(path: Path, model: onnx.ModelProto) -> dict[str, Value]:
    """The values of all graph inputs of `model` without an initializer. Raises Refusal."""
    arrays = _arrays(path)
    wanted = {entry.name: entry.type for entry in open_inputs(model)}
    owners = {key: _owner(key, wanted) for key in arrays}
    given = set(owners.values())
    absent = {name for name, kind in wanted.items() if kind.HasField("optional_type")} - given
    missing, extra = wanted.keys() - given - absent, given - wanted.keys()
    if missing or extra:
        problem = f"lacks {', '.join(sorted(missing))}" if missing else f"has unknown {', '.join(sorted(extra))}"
        raise Refusal(f"{path}: {problem}; the model's inputs are {', '.join(wanted) or 'none'}")
    return {
        name: None if name in absent else _value(path, name, kind, {k: arrays[k] for k in arrays if owners[k] == name})
        for name, kind in wanted.items()
    }


def write(path: Path, inputs: Mapping[str, Value]) -> bool:
    """Write values where `read` finds them; false, and no file, where there are none."""
    arrays: dict[str, Array] = {}
    for name, value in inputs.items():
        if isinstance(value, list):
            arrays |= {f"{name}[{at}]": item for at, item in enumerate(value)} or {f"{name}[]": np.empty(0)}
        elif isinstance(value, np.ndarray):
            arrays[name] = value
    if not arrays:
        return False
    # numpy.savez takes names as keywords, so an input called "file" would break it.
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as member:  # without the time, which nobody needs
                np.lib.format.write_array(member, array.astype(str) if array.dtype.kind == "O" else array)
    return True


def open_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The graph inputs that need a value."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return [entry for entry in model.graph.input if entry.name not in constants]


def _arrays(path: Path) -> dict[str, Array]:
    if not path.exists():
        raise Refusal(f"{path}: no such file")
    if not path.is_file():
        raise Refusal(f"{path}: is not a file")
    if not zipfile.is_zipfile(path):
        raise Refusal(f"{path}: is not an .npz file (numpy.savez writes one)")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except _DAMAGED as error:
        said = "Python objects are not read; write strings as fixed-width ones" if "pickle" in str(error) else error
        raise Refusal(f"{path}: is not an .npz file of plain arrays ({said})") from error
    strange = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
    if strange:
        raise Refusal(f"{path}: is not an .npz file of plain arrays ({strange[0]} is none)")
    return arrays


def _owner(key: str, wanted: Mapping[str, onnx.TypeProto]) -> str:
    """The input that an array belongs to, wanted or not."""
    item = _ITEM.match(key)
    if item and key not in wanted and item["name"] in wanted and _sequence(wanted[item["name"]]):
        return item["name"]
    return key


def _sequence(kind: onnx.TypeProto) -> onnx.TypeProto.Sequence | None:
    inner = kind.optional_type.elem_type if kind.HasField("optional_type") else kind
    return inner.sequence_type if inner.HasField("sequence_type") else None


def _value(path: Path, name: str, kind: onnx.TypeProto, arrays: Mapping[str, Array]) -> Value:
    sequence = _sequence(kind)
    if sequence is None:
        inner = kind.optional_type.elem_type if kind.HasField("optional_type") else kind
        return _tensor(path, name, inner, arrays[name])
    if name in arrays:
        raise Refusal(f"{path}: input {name} is a sequence: name its items {name}[0], {name}[1] …")
    numbered = {int(item["at"]): arrays[key] for key in arrays if (item := _ITEM.match(key)) and item["at"]}
    if sorted(numbered) != list(range(len(numbered))):
        raise Refusal(f"{path}: the items of {name} are not numbered 0, 1, 2 … without a gap")
    return [_tensor(path, f"{name}[{at}]", sequence.elem_type, numbered[at]) for at in sorted(numbered)]


def _tensor(path: Path, name: str, kind: onnx.TypeProto, array: Array) -> Array:
    """The array in the dtype that the model declares, once it also fits the declared shape."""
    if not kind.tensor_type.elem_type:
        return array
    declared = onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)
    if array.dtype.kind == "V" and array.dtype.itemsize == declared.itemsize:
        array = array.view(declared)
    if array.dtype.kind in "US":
        array = array.astype(object)
    expected = dtype_name(np.empty(0, declared))
    if dtype_name(array) != expected:
        raise Refusal(f"{path}: input {name} is {dtype_name(array)}, the model declares {expected}")
    if kind.tensor_type.HasField("shape") and not _fits(array.shape, kind.tensor_type.shape):
        sizes = ", ".join(
            str(dim.dim_value) if dim.HasField("dim_value") else "?" for dim in kind.tensor_type.shape.dim
        )
        raise Refusal(f"{path}: input {name} has the shape {list(array.shape)}, the model declares [{sizes}]")
    return array


def _fits(shape: tuple[int, ...], declared: onnx.TensorShapeProto) -> bool:
    return len(shape) == len(declared.dim) and all(
        size == dim.dim_value for size, dim in zip(shape, declared.dim, strict=True) if dim.HasField("dim_value")
    )
