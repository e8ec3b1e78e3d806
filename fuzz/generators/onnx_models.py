"""The models of the onnx package's other backend tests as cases, with the data that is shipped beside them.

The folders ``simple``, ``pytorch-operator`` and ``pytorch-converted`` of ``onnx/backend/test/data`` hold a model
and its data each. Those of ``light`` come without inputs and those of ``real`` have to be downloaded: they are skipped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.backend.test
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from fuzz.case import Case, Origin
from fuzz.generators import Skip
from fuzz.generators.onnx_node import Unrepresentable, to_value
from fuzz.wire import Value

NAME = "onnx_models"
#: Cases in a row when several sources share a campaign (see fuzz.ranking.stream).
PER_TURN = 4

DATA = Path(onnx.backend.test.__file__).parent / "data"


def cases(seed: int) -> Iterator[Case | Skip]:
    """Every test of the folders, shuffled by `seed`."""
    tests = sorted([*DATA.glob("*/test_*"), *DATA.glob("light/*.onnx")])
    random.Random(seed).shuffle(tests)
    for path in tests:
        yield _case(path, Origin(NAME, f"{path.parent.name}/{path.stem}", seed=seed))


def _case(path: Path, origin: Origin) -> Case | Skip:
    file = path / "model.onnx"
    if path.suffix == ".onnx":
        return Skip(origin, "the model comes without inputs")
    if not file.is_file():
        return Skip(origin, "the model would have to be downloaded")
    model = onnx.load_model(file)
    folder = path / "test_data_set_0"
    try:
        given = _values(folder, "input", [each for each in model.graph.input if not _is_constant(model, each.name)])
        expected = tuple(_values(folder, "output", list(model.graph.output)).values())
    except (Unrepresentable, OSError, DecodeError) as error:
        return Skip(origin, f"its data cannot be read: {error}")
    return Case("onnx", model.SerializeToString(), given, origin, expected)


def _is_constant(model: onnx.ModelProto, name: str) -> bool:
    return any(constant.name == name for constant in model.graph.initializer)


def _values(folder: Path, kind: str, described: list[onnx.ValueInfoProto]) -> dict[str, Value]:
    """What ``input_0.pb`` … hold, by the names of the graph. Raises Unrepresentable, OSError, DecodeError."""
    files = [folder / f"{kind}_{at}.pb" for at in range(len(described))]
    if len(list(folder.glob(f"{kind}_*.pb"))) != len(files):
        raise Unrepresentable(f"{len(files)} {kind}s and another number of files")
    return {
        info.name: to_value(_decoded(file.read_bytes(), info.type)) for info, file in zip(described, files, strict=True)
    }


def _decoded(data: bytes, kind: onnx.TypeProto) -> Any:
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))
