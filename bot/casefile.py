"""Reading a CASE argument: an ONNX file or an operator instance, and its input values."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from bot.failures import Refusal
from fuzz import instance
from fuzz.case import Case, Origin, Status
from fuzz.operators.values import candidate_inputs
from fuzz.runner import Runner
from fuzz.catalogue import target
from fuzz.wire import Value, dtype_name

_DRAWS = 8


def load(path: Path, inputs: Path | None, seed: int, runner: Runner) -> Case:
    """The case in a file. Raises Refusal with one line for whatever is wrong with it."""
    if not path.exists():
        raise Refusal(f"{path}: no such file")
    if not path.is_file():
        raise Refusal(f"{path}: is not a file")
    data = path.read_bytes()
    if not data:
        raise Refusal(f"{path}: the file is empty")
    if path.suffix == ".json":
        return _instance(path, data, inputs)
    model = _model(path, data)
    origin = Origin("file", path.name, seed=seed)
    if inputs is not None:
        return Case("onnx", model.SerializeToString(), _given(inputs, model), origin)
    return _drawn(path, model, origin, seed, runner)


def _instance(path: Path, data: bytes, inputs: Path | None) -> Case:
    if inputs is not None:
        raise Refusal(f"{inputs}: an operator instance holds its own values; leave --inputs out")
    try:
        parsed = instance.parse(data)
    except instance.InstanceError as error:
        raise Refusal(f"{path}: {error}") from error
    return Case("instance", instance.canonical(parsed), {}, Origin("file", path.name))


def _model(path: Path, data: bytes) -> onnx.ModelProto:
    try:
        model = onnx.load_model_from_string(data)
    except DecodeError as error:
        raise Refusal(f"{path}: is not an ONNX model (protobuf: {error})") from error
    if not model.HasField("graph") or not model.opset_import:
        raise Refusal(f"{path}: is not an ONNX model (it has no graph or imports no opset)")
    try:
        onnx.load_external_data_for_model(model, str(path.parent))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise Refusal(f"{path}: its external data cannot be read ({_line(error)})") from error
    return model


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _inputs(model: onnx.ModelProto) -> Iterator[onnx.ValueInfoProto]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return (entry for entry in model.graph.input if entry.name not in constants)


def _given(path: Path, model: onnx.ModelProto) -> dict[str, Value]:
    if not path.is_file():
        raise Refusal(f"{path}: no such file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise Refusal(f"{path}: is not an .npz file of plain arrays ({_line(error)})") from error
    wanted = {entry.name: entry for entry in _inputs(model)}
    missing, extra = wanted.keys() - arrays.keys(), arrays.keys() - wanted.keys()
    if missing or extra:
        problem = f"lacks {', '.join(sorted(missing))}" if missing else f"has unknown {', '.join(sorted(extra))}"
        raise Refusal(f"{path}: {problem}; the model's inputs are {', '.join(wanted) or 'none'}")
    return {name: _typed(path, entry, arrays[name]) for name, entry in wanted.items()}


def _typed(path: Path, entry: onnx.ValueInfoProto, array: np.ndarray) -> Value:
    """The array in the dtype that the model declares; .npz keeps ml_dtypes as bytes without a name."""
    if entry.type.WhichOneof("value") != "tensor_type" or not entry.type.tensor_type.elem_type:
        return array
    declared = onnx.helper.tensor_dtype_to_np_dtype(entry.type.tensor_type.elem_type)
    if array.dtype.kind == "V" and array.dtype.itemsize == declared.itemsize:
        array = array.view(declared)
    if array.dtype.kind in "US":
        array = array.astype(object)
    if dtype_name(array) != dtype_name(np.empty(0, declared)):
        raise Refusal(f"{path}: input {entry.name} is {dtype_name(array)}, the model declares {declared}")
    return array


def _drawn(path: Path, model: onnx.ModelProto, origin: Origin, seed: int, runner: Runner) -> Case:
    """Values within the operators' domains: the first draw that the reference accepts, else the first."""
    data = model.SerializeToString()
    first = None
    try:
        for values in candidate_inputs(model, seed, _DRAWS):
            case = Case("onnx", data, values, origin)
            first = first or case
            if not values or runner.run(case, target("reference")).status is Status.OK:
                return case
    except ValueError as error:
        raise Refusal(f"{path}: {_line(error)}; give values with --inputs FILE.npz") from error
    assert first is not None
    return first


def save(case: Case, path: Path) -> list[Path]:
    """Write a case where `load` reads it: the model and, if it has inputs, FILE.npz beside it."""
    if case.kind == "instance":
        path.write_bytes(case.model + b"\n")
        return [path]
    path.write_bytes(case.model)
    arrays = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    if not arrays:
        return [path]
    beside = path.with_suffix(".npz")
    plain = {name: array.astype(str) if array.dtype.kind == "O" else array for name, array in arrays.items()}
    np.savez(beside, **plain)  # type: ignore[arg-type]
    return [path, beside]


