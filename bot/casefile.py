"""Reading a CASE argument: an ONNX file or an operator instance, with given or drawn input values."""

from __future__ import annotations

from pathlib import Path

import onnx
from google.protobuf.message import DecodeError, EncodeError

from bot import inputfile
from bot.failures import Refusal
from fuzz import instance
from fuzz.case import Case, Origin, Status
from fuzz.catalogue import target
from fuzz.operators.values import candidate_inputs
from fuzz.runner import Runner

_DRAWS = 8


def load(path: Path, inputs: Path | None, seed: int, runner: Runner) -> Case:
    """The case in a file. Raises Refusal with one line for whatever is wrong with it."""
    data = _bytes(path)
    if not data:
        raise Refusal(f"{path}: the file is empty")
    if path.suffix == ".json":
        return _instance(path, data, inputs)
    model = _model(path, data)
    origin = Origin("file", path.name, seed=seed)
    if inputs is not None:
        return Case("onnx", _serialised(path, model), inputfile.read(inputs, model), origin)
    return _drawn(path, model, origin, seed, runner)


def _bytes(path: Path) -> bytes:
    try:
        if not path.exists():
            raise Refusal(f"{path}: no such file")
        if not path.is_file():
            raise Refusal(f"{path}: is not a file")
        return path.read_bytes()
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from error


def _instance(path: Path, data: bytes, inputs: Path | None) -> Case:
    if inputs is not None:
        raise Refusal(f"{inputs}: an operator instance holds its own values; leave --inputs out")
    try:
        parsed = instance.parse(data)
    except instance.InstanceError as error:
        raise Refusal(f"{path}: {error}") from error
    content = instance.canonical(parsed)
    return Case(instance.kind_of(content), content, {}, Origin("file", path.name))


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


def _serialised(path: Path, model: onnx.ModelProto) -> bytes:
    try:
        return bytes(model.SerializeToString())
    except (EncodeError, ValueError) as error:
        raise Refusal(f"{path}: is larger than 2 GiB with its external data, more than one message holds") from error


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _drawn(path: Path, model: onnx.ModelProto, origin: Origin, seed: int, runner: Runner) -> Case:
    """Values within the operators' domains: the first draw that the reference accepts, else the first."""
    data = _serialised(path, model)
    first = None
    try:
        for values in candidate_inputs(model, seed, _DRAWS):
            case = Case("onnx", data, values, origin)
            first = first or case
            if not values or runner.run(case, target("reference")).status is Status.OK:
                return case
    except ValueError as error:
        raise Refusal(f"{path}: {_line(error)} (--inputs FILE.npz gives values)") from error
    assert first is not None
    return first


def save(case: Case, path: Path) -> list[Path]:
    """Write a case where `load` reads it: the model and, if it has inputs, FILE.npz beside it."""
    if case.kind != "onnx":
        path.write_bytes(case.model + b"\n")
        return [path]
    path.write_bytes(case.model)
    beside = path.with_suffix(".npz")
    return [path, beside] if inputfile.write(beside, case.inputs) else [path]
