"""What a CASE argument and its values may be, and the one line that says what is wrong with them."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from bot import casefile, inputfile
from bot.failures import ExitCode, Refusal
from fuzz.case import Case, Origin
from fuzz.runner import Runner
from fuzz.wire import Value, dtype_name
from tests.bot.support import one_node, relu, saved, tensor

Maker = Callable[[Path], Path]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as shared:
        yield shared


def refused(path: Path, inputs: Path | None, runner: Runner) -> str:
    with pytest.raises(Refusal) as caught:
        casefile.load(path, inputs, 0, runner)
    assert caught.value.code is ExitCode.UNUSABLE
    text = str(caught.value)
    assert "\n" not in text.strip() and text.startswith(f"{inputs or path}: ")
    return text


def write(name: str, data: bytes) -> Maker:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return make


def directory(folder: Path) -> Path:
    (folder / "model.onnx").mkdir()
    return folder / "model.onnx"


BAD_CASES: dict[str, tuple[Maker, str]] = {
    "missing": (lambda folder: folder / "no.onnx", "no such file"),
    "too long a name": (lambda folder: folder / ("n" * 300), "File name too long"),
    "inside a file": (lambda folder: write("a", b"x")(folder) / "model.onnx", "no such file"),
    "a folder": (directory, "is not a file"),
    "empty": (write("m.onnx", b""), "the file is empty"),
    "text": (write("m.onnx", b"hello\n"), "is not an ONNX model"),
    "garbage": (write("m.onnx", b"\xff\xfe\x00garbage" * 50), "is not an ONNX model"),
    "cut short": (write("m.onnx", relu().SerializeToString()[:-15]), "is not an ONNX model"),
    "without a graph": (write("m.onnx", onnx.ModelProto(ir_version=8).SerializeToString()), "has no graph"),
    "an empty instance": (write("i.json", b""), "the file is empty"),
    "no JSON": (write("i.json", b"{"), "not JSON"),
    "JSON that is no instance": (write("i.json", b"[]"), "must be a JSON object"),
    "an instance that is not UTF-8": (write("i.json", b'{"api": "\xff"}'), "not JSON"),
    "an instance with code": (write("i.json", b'{"api": "__import__(\'os\')"}'), "must be a dotted name"),
    "deeply nested JSON": (write("i.json", b"[" * 100_000), "not JSON"),
}


@pytest.mark.parametrize("name", BAD_CASES)
def test_a_case_that_is(name: str, runner: Runner, tmp_path: Path) -> None:
    make, says = BAD_CASES[name]
    assert says in refused(make(tmp_path), None, runner)


def test_a_named_pipe_is_refused(runner: Runner, tmp_path: Path) -> None:
    pipe = tmp_path / "m.onnx"
    os.mkfifo(pipe)  # reading it would wait for ever
    assert "is not a file" in refused(pipe, None, runner)


# ---------------------------------------------------------------- given values


def archive(**arrays: np.ndarray) -> Maker:
    def make(folder: Path) -> Path:
        np.savez(folder / "v.npz", **arrays)  # type: ignore[arg-type]
        return folder / "v.npz"

    return make


def member(name: str, data: bytes) -> Maker:
    def make(folder: Path) -> Path:
        with zipfile.ZipFile(folder / "v.npz", "w") as file:
            file.writestr(name, data)
        return folder / "v.npz"

    return make


def flipped(folder: Path) -> Path:
    path = archive(x=np.zeros(3, np.float32))(folder)
    data = bytearray(path.read_bytes())
    data[data.index(b"NUMPY") + 130] ^= 0xFF
    path.write_bytes(data)
    return path


def alone(folder: Path) -> Path:
    np.save(folder / "v.npy", np.zeros(3, np.float32))
    return folder / "v.npy"


def huge(folder: Path) -> Path:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}"
    head = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
    return member("x.npy", head)(folder)


X = np.array([1.0, -2.0, 3.0], np.float32)
BAD_VALUES: dict[str, tuple[Maker, str]] = {
    "missing": (lambda folder: folder / "v.npz", "no such file"),
    "a folder": (lambda folder: folder, "is not a file"),
    "empty": (write("v.npz", b""), "is not an .npz file"),
    "no zip": (write("v.npz", b"hello"), "is not an .npz file"),
    "a single array": (alone, "is not an .npz file"),
    "damaged": (flipped, "is not an .npz file of plain arrays"),
    "larger than memory": (huge, "is not an .npz file of plain arrays"),
    "a zip of something else": (member("x", b"hello"), "x is none"),
    "pickled": (archive(x=np.array([{"a": 1}], object)), "Python objects are not read"),
    "without an input": (archive(q=X), "lacks x; the model's inputs are x"),
    "with one too many": (archive(x=X, q=X), "has unknown q; the model's inputs are x"),
    "of another dtype": (archive(x=X.astype(np.float64)), "input x is float64, the model declares float32"),
    "of texts": (archive(x=np.array(["a", "b", "c"])), "input x is string, the model declares float32"),
    "of another rank": (archive(x=X.reshape(3, 1)), "has the shape [3, 1], the model declares [3]"),
    "of another size": (archive(x=X[:2]), "has the shape [2], the model declares [3]"),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_values_that_are(name: str, runner: Runner, tmp_path: Path) -> None:
    make, says = BAD_VALUES[name]
    model = saved(tmp_path / "m.onnx", relu())
    assert says in refused(model, make(tmp_path), runner)


def test_a_symbolic_dimension_takes_any_size(runner: Runner, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", relu(shape=("N", None)))
    values = archive(x=np.zeros((5, 0), np.float32))(tmp_path)
    found = casefile.load(model, values, 0, runner).inputs["x"]
    assert isinstance(found, np.ndarray) and found.shape == (5, 0)


def test_an_input_with_an_initializer_needs_no_value(runner: Runner, tmp_path: Path) -> None:
    model = relu()
    model.graph.initializer.append(numpy_helper.from_array(X, "x"))
    found = casefile.load(saved(tmp_path / "m.onnx", model), archive()(tmp_path), 0, runner)
    assert found.inputs == {}


def test_an_instance_takes_no_values(runner: Runner, tmp_path: Path) -> None:
    path = write("i.json", b'{"api": "torch.relu"}')(tmp_path)
    with pytest.raises(Refusal, match="holds its own values"):
        casefile.load(path, archive(x=X)(tmp_path), 0, runner)


VALUES: dict[str, tuple[onnx.TypeProto, Value]] = {
    "x": (tensor(TensorProto.FLOAT, 3), X),
    "file": (tensor(TensorProto.INT64), np.array(7)),
    "a/b[0]": (tensor(TensorProto.BOOL, 2), np.array([True, False])),
    "text": (tensor(TensorProto.STRING, 2), np.array(["ü", ""], object)),
    "small": (tensor(TensorProto.BFLOAT16, 2), np.array([1, 2], ml_dtypes.bfloat16)),
    "tiny": (tensor(TensorProto.INT4, 2), np.array([-8, 7], ml_dtypes.int4)),
    "pair": (
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)),
        [np.array([1, 2], np.float32), np.array([[3]], np.float32)],
    ),
    "none": (helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)), []),
    "absent": (helper.make_optional_type_proto(tensor(TensorProto.FLOAT, 1)), None),
}


def test_values_of_every_kind_survive_a_file(tmp_path: Path) -> None:
    infos = [helper.make_value_info(name, kind) for name, (kind, _) in VALUES.items()]
    model = helper.make_model(helper.make_graph([], "g", infos, []))
    assert inputfile.write(tmp_path / "v.npz", {name: value for name, (_, value) in VALUES.items()})
    found = inputfile.read(tmp_path / "v.npz", model)
    assert list(found) == list(VALUES)
    for name, (_, value) in VALUES.items():
        assert dtype_name(found[name]) == dtype_name(value), name
        np.testing.assert_equal(found[name], value)


def test_a_sequence_is_given_by_its_items(tmp_path: Path) -> None:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    model = helper.make_model(helper.make_graph([], "g", [helper.make_value_info("s", kind)], []))
    for arrays, says in (({"s": X}, "name its items s[0], s[1]"), ({"s[1]": X}, "not numbered 0, 1, 2")):
        with pytest.raises(Refusal, match=r"input s|items of s") as caught:
            inputfile.read(archive(**arrays)(tmp_path), model)
        assert says in str(caught.value)


def test_a_reduced_case_is_read_back_as_it_was_saved(runner: Runner, tmp_path: Path) -> None:
    case = Case("onnx", relu().SerializeToString(), {"x": X}, Origin("test"))
    model, values = casefile.save(case, tmp_path / "small.onnx")
    assert casefile.load(model, values, 0, runner).id == case.id
    instance = Case(
        "instance", b'{"api":"torch.relu","args":[],"kwargs":{},"library":"torch","tensors":[]}', {}, Origin("t")
    )
    [path] = casefile.save(instance, tmp_path / "small.json")
    assert casefile.load(path, None, 0, runner).kind == "instance"


# ---------------------------------------------------------------- drawn values


def test_drawn_values_depend_on_the_seed_alone(runner: Runner, tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", relu(shape=("N", "M")))
    ids = [casefile.load(path, None, seed, runner).id for seed in (0, 0, 1)]
    assert ids[0] == ids[1] != ids[2]


def test_an_integer_divisor_is_never_drawn_as_zero(runner: Runner, tmp_path: Path) -> None:
    model = one_node("Div", [TensorProto.INT32] * 2, tensor(TensorProto.INT32, 3))
    case = casefile.load(saved(tmp_path / "m.onnx", model), None, 3, runner)
    assert np.all(np.asarray(case.inputs["x1"]) != 0)


def test_an_input_without_a_type_or_too_large_cannot_be_drawn(runner: Runner, tmp_path: Path) -> None:
    untyped = relu()
    untyped.graph.input[0].ClearField("type")
    for model in (untyped, relu(shape=(1 << 20, 1 << 14))):
        assert "--inputs FILE.npz" in refused(saved(tmp_path / "m.onnx", model), None, runner)


# ---------------------------------------------------------------- external data


def external(folder: Path) -> onnx.ModelProto:
    weight = numpy_helper.from_array(np.arange(300, dtype=np.float32), "w")
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [300]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", infos[:1], infos[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    return onnx.load(folder / "m.onnx", load_external_data=False)


def test_external_data_becomes_part_of_the_case(runner: Runner, tmp_path: Path) -> None:
    external(tmp_path)
    case = casefile.load(tmp_path / "m.onnx", None, 0, runner)
    [weight] = onnx.load_model_from_string(case.model).graph.initializer
    assert numpy_helper.to_array(weight).tolist() == list(range(300))


def test_external_data_that_is_missing_or_elsewhere_is_refused(runner: Runner, tmp_path: Path) -> None:
    model = external(tmp_path)
    (tmp_path / "weights.bin").unlink()
    assert "external data cannot be read" in refused(tmp_path / "m.onnx", None, runner)
    [place] = [entry for entry in model.graph.initializer[0].external_data if entry.key == "location"]
    for elsewhere in ("../weights.bin", "/etc/passwd"):
        place.value = elsewhere
        assert "external data cannot be read" in refused(saved(tmp_path / "m.onnx", model), None, runner)
