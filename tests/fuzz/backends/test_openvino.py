"""The OpenVINO backend on the real OpenVINO: both frontends, every dtype, blame and reproducers."""

from __future__ import annotations

import json
import os
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import openvino
import pytest
import torch
from onnx import TensorProto, helper
from openvino import passes as ov_passes

from fuzz import instance, instance_torch
from fuzz.backends import _openvino_blame, _openvino_passes, _openvino_sequences
from fuzz.backends import openvino as backend
from fuzz.wire import CannotFeed, Job, Raw, Value

Made = tuple[onnx.ModelProto, dict[str, Value]]


def single(op_type: str, inputs: dict[str, np.ndarray], opset: int = 21, **attributes: Any) -> Made:
    """A model of one node with one output of unknown shape, and its inputs."""
    types = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in inputs.items()}
    graph = helper.make_graph(
        [helper.make_node(op_type, list(inputs), ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info(name, types[name], value.shape) for name, value in inputs.items()],
        [helper.make_tensor_value_info("y", next(iter(types.values())), None)],
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)]), dict(inputs)


def run(made: Made, **options: str) -> tuple[list[tuple[str, Value]], list[str]]:
    stages: list[str] = []
    job = Job("onnx", made[0].SerializeToString(), made[1], options)
    return backend.execute(job, stages.append), stages


def torch_job(api: str, *args: Any, options: dict[str, str] | None = None, **keys: Any) -> Job:
    found = instance.parse(json.dumps({"api": api, "args": list(args), **keys}))
    return Job("instance", instance.canonical(found), {}, options or {})


def raised(job: Job) -> Exception:
    with pytest.raises(Exception) as caught:
        backend.execute(job, lambda stage: None)
    return caught.value


def test_a_cpu_is_found() -> None:
    assert "CPU" in backend.devices()


@pytest.mark.parametrize("options", [{}, {"precision": "auto"}, {"threads": "2"}])
def test_an_onnx_model_passes_all_stages(options: dict[str, str]) -> None:
    x = np.array([[1.0, 2.0, 3.0]], np.float32)
    ((name, value),), stages = run(single("Softmax", {"x": x}, axis=1), **options)
    assert (name, stages) == ("y", ["convert", "compile", "run"])
    np.testing.assert_allclose(np.asarray(value), np.exp(x) / np.exp(x).sum(), rtol=1e-5)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 2), ()])
@pytest.mark.parametrize(
    "dtype",
    [
        *[np.float32, np.float64, np.float16, np.int8, np.uint16, np.int64, np.uint64, np.bool_],
        *[ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2],
        *[ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn],
    ],
    ids=lambda dtype: dtype.__name__,
)
def test_tensors_of_every_dtype_go_in_and_come_back(dtype: type, shape: tuple[int, ...]) -> None:
    value: np.ndarray = np.resize(np.arange(3), shape).astype(dtype)
    back = backend._value(backend._tensor(value))
    assert isinstance(back, np.ndarray)
    assert (back.dtype, back.shape, back.tobytes()) == (value.dtype, value.shape, value.tobytes())


def test_negative_int4_keeps_its_sign() -> None:
    value = np.array([-8, -1, 7], ml_dtypes.int4)
    np.testing.assert_array_equal(backend._value(backend._tensor(value)), value)


def test_a_raw_bfloat16_is_fed_as_its_bits() -> None:
    value = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    back = backend._value(backend._tensor(Raw("bfloat16", (2,), value.tobytes())))
    assert isinstance(back, np.ndarray) and back.tobytes() == value.tobytes()


def test_strings_go_in_and_come_back() -> None:
    value = np.array([["a", "été"]], dtype=object)
    back = backend._value(backend._tensor(value))
    assert isinstance(back, np.ndarray) and back.dtype == object and back.tolist() == value.tolist()


@pytest.mark.parametrize("value", [None, [np.zeros(1)], np.zeros(1, ml_dtypes.float8_e4m3fnuz)])
def test_what_openvino_has_no_tensor_for_cannot_be_fed(value: Value) -> None:
    with pytest.raises(CannotFeed):
        backend._tensor(value)


def test_bfloat16_runs_through_a_model() -> None:
    x = np.array([1.0, -2.5], ml_dtypes.bfloat16)
    ((_, value),), _ = run(single("Abs", {"x": x}))
    assert isinstance(value, np.ndarray) and value.dtype == x.dtype
    np.testing.assert_array_equal(value, np.abs(x))


def test_outputs_keep_the_models_order() -> None:
    node = helper.make_node("Split", ["x"], ["b", "a"], axis=0, num_outputs=2)
    x = np.arange(3, dtype=np.float32)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("b", "a")],
    )
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    outputs, _ = run((model, {"x": x}))
    assert [(name, np.asarray(value).tolist()) for name, value in outputs] == [("b", [0.0, 1.0]), ("a", [2.0])]


class Port:
    """An input of a compiled model, as far as feeding is concerned."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)

    def get_names(self) -> set[str]:
        return self.names


def test_inputs_are_fed_by_name_before_position() -> None:
    a, b = np.zeros(1), np.ones(1)
    assert backend._in_order([Port("b"), Port("a")], {"a": a, "b": b}) == [b, a]


def test_a_renamed_input_is_fed_by_position() -> None:
    a, b, c = np.zeros(1), np.ones(1), np.full(1, 2)
    assert backend._in_order([Port("other"), Port("b"), Port()], {"a": a, "b": b, "c": c}) == [a, b, c]


def test_an_input_that_openvino_dropped_is_left_out() -> None:
    assert backend._in_order([Port("b")], {"a": 0, "b": 1}) == [1]  # type: ignore[dict-item]


def test_a_script_feeds_what_a_loop_carries_unchanged_and_leaves_out_what_nothing_reads() -> None:
    """What comes through unchanged is one tensor with two names, and OpenVINO calls it by the first in the alphabet."""
    model = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["": 16]>
    g (int64 n, float[1] state, float[2] x, float[3] unread) => (float[1] after, float[n, 2] y) {
        after, y = Loop (n, "", state) <
            body: graph = body (int64 i, bool go, float[1] c) => (bool go, float[1] c, float[2] z) { z = Neg (x) }
        >
    }
    """)
    inputs = {"n": np.array(2), "state": np.ones(1, np.float32), "x": np.ones(2, np.float32), "unread": np.ones(3)}
    scope: dict[str, Any] = {"ov": openvino, "np": np, "model": model, "inputs": inputs}
    exec(backend.reproduce("onnx", {}, ["int64"] + 3 * ["float32"], 2 * ["float32"]), scope)
    assert "after" in {port.any_name for port in scope["compiled"].inputs}
    assert [value.tolist() for value in scope["actual"]] == [[1], [[-1, -1], [-1, -1]]]


def test_inputs_that_cannot_be_told_apart_are_not_guessed() -> None:
    with pytest.raises(CannotFeed, match="cannot be told apart"):
        backend._in_order([Port("other")], {"a": None, "b": None})


def test_an_operator_without_a_converter_has_no_conversion_function() -> None:
    made = single("NoSuchOperator", {"x": np.zeros(1, np.float32)})
    job = Job("onnx", made[0].SerializeToString(), made[1], {})
    error = raised(job)
    assert "No conversion rule found" in str(error)
    assert backend.blame(error, job) == ("NoSuchOperator", "")


def test_a_failing_onnx_converter_is_blamed_by_its_file() -> None:
    made = single("MaxPool", {"x": np.zeros((1, 1, 4), np.float32)})  # kernel_shape is missing
    job = Job("onnx", made[0].SerializeToString(), made[1], {})
    operator, function = backend.blame(raised(job), job)
    assert operator == "MaxPool" and ":" not in function


def test_a_failing_torch_converter_is_blamed_by_its_file() -> None:
    x = {"dtype": "float32", "shape": [1, 1, 4, 4]}
    job = torch_job("torch.nn.functional.avg_pool2d", x, 2, kwargs={"divisor_override": 3})
    assert backend.blame(raised(job), job) == ("aten.avg_pool2d.default", "frontends/pytorch/op/avg_poolnd.cpp")


MESSAGES = [
    (
        "Check 'x' failed at src/plugins/intel_cpu/src/node.cpp:1626:\n[CPU] Pad node with name 'y'\n"
        "Exception from src/plugins/intel_cpu/src/nodes/pad.cpp:61:\n",
        ("Pad", "plugins/intel_cpu/nodes/pad.cpp(Pad)"),
    ),
    (
        "-- ai.onnx.ml.Nope-3 with a message:\nCheck failed at src/core/src/op/concat.cpp:5:\n",
        ("Nope", "core/op/concat.cpp(Nope)"),
    ),
    (
        "-- ReduceSum-13 with a message:\nCheck failed at src/core/src/op/concat.cpp:5:\n",
        ("ReduceSum", "frontends/onnx/op/reduce.cpp"),
    ),
    (
        "-- SequenceMark with a message:\n internal\n-- Conv-1 with a message:\n"
        "failed at src/frontends/onnx/frontend/src/op/conv.cpp:1",
        ("Conv", "frontends/onnx/op/conv.cpp"),
    ),
    ("something else", ("", "")),
]


@pytest.mark.parametrize(("message", "blamed"), MESSAGES)
def test_a_message_is_blamed_on_the_telling_place_without_its_line(message: str, blamed: tuple[str, str]) -> None:
    assert backend.blame(RuntimeError(message), Job("onnx", b"", {}, {})) == blamed


def test_converters_are_found_in_the_frontends_libraries() -> None:
    asked = [("", "TopK", 11), ("", "ReduceMax", 13), ("", "BatchNormalization", 15), ("", "Nope", 1)]
    assert backend.converters(asked) == [
        "frontends/onnx/op/topk.cpp",
        "frontends/onnx/op/reduce.cpp",
        "frontends/onnx/op/batch_norm.cpp",
        "",
    ]
    asked_torch = ["aten.convolution.default", "aten::where", "aten::add_", "torch.where"]
    assert backend.converters([("torch", name, 0) for name in asked_torch]) == [
        "frontends/pytorch/op/convolution.cpp",
        "frontends/pytorch/op/where.cpp",
        "frontends/pytorch/op/add.cpp",
        "",  # an api is no operator, and its name does not tell which ones it becomes
    ]
    assert len(_openvino_blame._converter_files("onnx")) > 50 and len(_openvino_blame._converter_files("pytorch")) > 30


@pytest.mark.parametrize("options", [{}, {"torch": "script"}], ids=["export", "script"])
def test_an_instance_gives_what_eager_torch_gives(options: dict[str, str]) -> None:
    x, w = ({"dtype": "float32", "shape": shape, "seed": 1} for shape in ([1, 2, 5, 5], [2, 2, 3, 3]))
    job = torch_job("torch.nn.functional.conv2d", x, w, kwargs={"padding": 1}, options=options)
    stages: list[str] = []
    ((_, value),) = backend.execute(job, stages.append)
    ((_, expected),) = instance_torch.run_eager(job)
    assert stages == ["convert", "compile", "run"]
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)  # type: ignore[arg-type]


def test_complex_inputs_cannot_be_fed() -> None:
    assert isinstance(raised(torch_job("torch.abs", {"dtype": "complex64", "shape": [2]})), CannotFeed)


def no_context() -> dict[str, Any]:
    return {"np": np, "torch": torch}


@pytest.mark.parametrize("options", [{}, {"precision": "auto"}])
def test_the_onnx_snippet_gives_the_outputs(options: dict[str, str]) -> None:
    model, inputs = single("Add", {"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)})
    scope = {**no_context(), "model": model, "inputs": inputs}
    exec(backend.reproduce("onnx", options), scope)
    assert scope["actual"].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("options", [{}, {"torch": "script"}], ids=["export", "script"])
def test_the_instance_snippet_gives_the_outputs(options: dict[str, str]) -> None:
    module, args, _ = instance_torch.build(
        instance.parse('{"api": "torch.neg", "args": [{"dtype": "float32", "values": [1, 2]}]}')
    )
    scope = {**no_context(), "module": module, "args": args}
    exec(backend.reproduce("instance", options), scope)
    assert scope["actual"].tolist() == [-1.0, -2.0]


def test_the_snippets_show_bfloat16_as_what_it_is() -> None:
    x = np.array([1.0, -2.5], ml_dtypes.bfloat16)
    model, inputs = single("Abs", {"x": x})
    scope = {**no_context(), "model": model, "inputs": inputs}
    exec(backend.reproduce("onnx", {}, ["bfloat16"], ["bfloat16"]), scope)
    assert scope["actual"].dtype == x.dtype and scope["actual"].tolist() == [1.0, 2.5]
    text = '{"api": "torch.neg", "args": [{"dtype": "bfloat16", "values": [1, 2]}]}'
    module, args, _ = instance_torch.build(instance.parse(text))
    scope = {**no_context(), "module": module, "args": args}
    exec(backend.reproduce("instance", {}, ["bfloat16"], ["bfloat16"]), scope)
    assert scope["actual"].dtype == x.dtype and scope["actual"].tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("name", [*_openvino_sequences._TRANSFORMATIONS, "ConstantFolding,FusedNamesCleanup"])
def test_the_snippet_applies_the_transformations_of_a_sequence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[str] = []
    for function in ("apply_moc_transformations", "apply_moc_legacy_transformations", "apply_fused_names_cleanup"):
        real = getattr(_openvino_sequences._offline(), function)
        monkeypatch.setattr(
            _openvino_sequences._offline(), function, lambda *args, real=real: (applied.append("offline"), real(*args))
        )
    monkeypatch.setattr(
        "openvino.passes.ConstantFolding", lambda real=ov_passes.ConstantFolding: (applied.append("folding"), real())[1]
    )
    model, inputs = single("Add", {"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)})
    scope = {**no_context(), "model": model, "inputs": inputs}
    exec(backend.reproduce("onnx", {"sequence": name}), scope)
    assert scope["actual"].tolist() == [2.0, 2.0]
    assert applied == ["folding" if each == "ConstantFolding" else "offline" for each in name.split(",")]


def test_the_snippet_of_an_instance_applies_them_too() -> None:
    module, args, _ = instance_torch.build(
        instance.parse('{"api": "torch.neg", "args": [{"dtype": "float32", "values": [1]}]}')
    )
    scope = {**no_context(), "module": module, "args": args}
    script = backend.reproduce("instance", {"sequence": "MOCTransformations", "disable": "snippets"})
    exec(script, scope)
    assert scope["actual"].tolist() == [-1.0]
    assert '"SNIPPETS_MODE": "DISABLE"' in script and "apply_moc_transformations(ov_model, False)" in script


@pytest.mark.parametrize("lacking", ["int4", "uint2", "float8_e4m3fnuz"])
def test_values_of_four_bits_and_those_that_openvino_lacks_have_no_snippet(lacking: str) -> None:
    with pytest.raises(ValueError, match=f"no short way to show {lacking}"):
        backend.reproduce("onnx", {}, ["float32", lacking])


@pytest.mark.parametrize(
    ("torch", "met"), [("export", ["aten.baddbmm.default"]), ("script", ["aten::baddbmm"])], ids=["export", "script"]
)
def test_it_tells_which_operators_its_decoder_meets_in_an_instance(torch: str, met: list[str]) -> None:
    x = {"dtype": "float32", "shape": [2, 3, 3]}
    job = torch_job("torch.baddbmm", x, x, x, options={"torch": torch, "show": "operators"})
    [(_, found)] = backend.execute(job, lambda stage: None)
    assert isinstance(found, np.ndarray) and found.tolist() == met


def test_the_interpreter_computes_what_the_frontend_made_without_the_plugin() -> None:
    x = np.array([-1.5, 2.0], dtype=np.float32)
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    stages: list[str] = []
    job = Job("onnx", model.SerializeToString(), {"x": x}, {"engine": "interpreter"})
    [(name, found)] = backend.execute(job, stages.append)
    assert (name, np.asarray(found).tolist()) == ("y", [0.0, 2.0]) and stages == ["convert", "run"]


def test_a_plugin_without_snippets_still_computes() -> None:
    job = torch_job("torch.exp", {"dtype": "float32", "values": [0.0]}, options={"disable": "snippets"})
    [(_, found)] = backend.execute(job, lambda stage: None)
    assert np.asarray(found).tolist() == [1.0]


def test_several_outputs_are_a_list_in_the_snippet() -> None:
    x = np.array([3.0, 1.0], np.float32)
    node = helper.make_node("Split", ["x"], ["a", "b"], num_outputs=2)
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name, size in (("x", 2), ("a", 1), ("b", 1))
    ]
    model = helper.make_model(
        helper.make_graph([node], "g", infos[:1], infos[1:]), opset_imports=[helper.make_opsetid("", 18)], ir_version=8
    )
    scope = {**no_context(), "model": model, "inputs": {"x": x}}
    exec(backend.reproduce("onnx", {}, ["float32"], ["float32", "float32"]), scope)
    assert [value.tolist() for value in scope["actual"]] == [[3.0], [1.0]]


def graph_of(nodes: list[onnx.NodeProto], given: dict[str, Any], result: Any) -> Job:
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in [*given.items(), ("y", result)]
    ]
    graph = helper.make_graph(nodes, "g", infos[:-1], infos[-1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Job("onnx", model.SerializeToString(), given, {})


def test_an_input_that_nothing_reads_is_dropped_and_the_others_are_fed_by_name() -> None:
    given = {"unread": np.zeros(3, np.float32), "b": np.ones(2, np.float32), "a": np.zeros(2, np.float32)}
    job = graph_of([helper.make_node("Sub", ["a", "b"], ["y"])], given, given["a"])
    [(_, value)] = backend.execute(job, lambda stage: None)
    assert value.tolist() == [-1.0, -1.0]  # type: ignore[union-attr]


def test_an_input_that_is_renamed_and_one_that_is_dropped_are_told_apart_by_their_types() -> None:
    given = {"ratio": np.array(0.5, np.float32), "x": np.array([1, -1], np.float32)}
    job = graph_of([helper.make_node("Dropout", ["x", "ratio"], ["y"])], given, given["x"])
    [(_, value)] = backend.execute(job, lambda stage: None)
    assert value.tolist() == [1.0, -1.0]  # type: ignore[union-attr]


def test_a_renamed_input_is_not_guessed_where_types_and_shapes_are_the_same() -> None:
    given = {"unread": np.zeros(2, np.float32), "x": np.ones(2, np.float32)}
    job = graph_of([helper.make_node("Dropout", ["x"], ["y"])], given, given["x"])
    with pytest.raises(CannotFeed, match="cannot be told apart"):
        backend.execute(job, lambda stage: None)


FOLLOWING = """Model wasn't fully converted. Failed operations detailed log:
-- HardSigmoid-26 with a message:
While validating ONNX node '<Node(HardSigmoid): t22>': Exception from src/core/shape_inference/x.hpp:150:
Element not supported

-- Scan-26 with a message:
While validating ONNX node '<Node(Scan): t18, t19>': Check 'y' failed at src/frontends/onnx/frontend/src/op/scan.cpp:36:
Number of Scan node inputs (3) is less than required (4)
"""


@pytest.mark.parametrize(
    ("first", "second", "blamed", "function"),
    [("Scan", "HardSigmoid", "Scan", "frontends/onnx/op/scan.cpp"), ("HardSigmoid", "Scan", "HardSigmoid", None)],
)
def test_of_several_operators_that_failed_the_first_in_the_model_is_to_blame(
    first: str, second: str, blamed: str, function: str | None
) -> None:
    outputs = {"Scan": ["t18", "t19"], "HardSigmoid": ["t22"]}
    nodes = [onnx.helper.make_node("Add", ["t22x", "t1"], ["t5"])]
    nodes += [onnx.helper.make_node(name, ["t22", "t18"], outputs[name]) for name in (first, second)]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], [])).SerializeToString()
    job = Job("onnx", model, {}, {})
    operator, named = backend.blame(RuntimeError(FOLLOWING), job)
    assert operator == blamed and (function is None or named == function)


OF_RESULTS = """Model wasn't fully converted. Failed operations detailed log:
-- <built-in function getitem> with a message:
Exception happened during conversion of operation getitem_1/<built-in function getitem> with schema NONE
Check '(getitem_idx < static_cast<int64_t>(list_elems.size()))' failed at src/frontends/pytorch/src/op/getitem.cpp:34:
[PyTorch Frontend] Index: 1 is out of bounds of input list of len: 1
"""
OF_TOPK = """
-- aten.topk.default with a message:
Exception happened during conversion of operation topk/aten.topk.default with schema NONE
Check 'input_rank.get_length() > 0' failed at src/core/shape_inference/include/topk_shape_inference.hpp:27:
Input rank must be greater than 0.
"""
OF_A_MARK = """
-- SequenceMark with a message:
This is OpenVINO internal type. Consumer: util::PtFrameworkNode g/<built-in function getitem> (util::SequenceMark
native_layer_norm/aten.native_layer_norm.default/SequenceMark[0]:f32[...], opset1::Constant Constant_33[0]:i64[])
""".replace("SequenceMark\nnative", "SequenceMark native")


@pytest.mark.parametrize(
    ("log", "operator", "file"),
    [
        (OF_RESULTS + OF_TOPK, "aten.topk.default", "core/topk_shape_inference.hpp"),
        (OF_RESULTS + OF_A_MARK, "aten.native_layer_norm.default", "frontends/pytorch/op/"),
    ],
)
def test_a_result_that_is_missing_is_the_fault_of_what_was_to_give_it(log: str, operator: str, file: str) -> None:
    blamed, named = backend.blame(RuntimeError(log), Job("instance", b"", {}, {}))
    assert blamed == operator and named.startswith(file)


# ---------------------------------------------------------------- transformations one by one


def sunk() -> Made:
    """The absolute values of converted constants, which OpenVINO 2026.4's AbsSinking takes for positive ones."""
    nodes = [
        helper.make_node("Cast", ["k"], ["c"], to=TensorProto.INT64),
        helper.make_node("Abs", ["c"], ["d"]),
        helper.make_node("Add", ["d", "x"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(name, TensorProto.INT64, [2]) for name in ("x", "y")]
    constant = helper.make_tensor("k", TensorProto.FLOAT, [2], [-1.0, 2.0])
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [constant])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    return model, {"x": np.array([10, 20])}


def passes(made: Made) -> list[str]:
    [(_, names)], _ = run(made, show="passes")
    return [str(name) for name in np.asarray(names).tolist()]


def test_the_graph_can_be_evaluated_as_every_transformation_leaves_it() -> None:
    names = passes(sunk())
    [guilty] = [at for at, name in enumerate(names) if name.endswith(" AbsSinking")]
    found = [run(sunk(), engine="interpreter", upto=names[at])[0][0][1] for at in (guilty - 1, guilty)]
    assert [np.asarray(value).tolist() for value in found] == [[11, 22], [9, 22]]


def test_transformations_have_the_same_names_each_time_and_leave_nothing_behind() -> None:
    """OpenVINO counts the files that it writes on from one compilation to the next."""
    first, home = passes(sunk()), os.getcwd()
    run(single("Relu", {"x": np.ones(2, np.float32)}))
    assert passes(sunk()) == first
    assert os.getcwd() == home and _openvino_passes._TRACING not in os.environ


def test_a_transformation_that_changes_nothing_has_no_graph_of_its_own() -> None:
    with pytest.raises(CannotFeed, match="no transformation 001 Nothing"):
        run(sunk(), engine="interpreter", upto="001 Nothing")


def test_a_large_model_is_not_written_after_every_transformation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_openvino_passes, "MOST_BYTES", 10)
    with pytest.raises(CannotFeed, match="too large"):
        run(sunk(), show="passes")


def test_a_number_of_threads_stands_in_the_script_only_where_it_was_chosen() -> None:
    assert "THREADS" not in backend.reproduce("onnx", {})
    assert '{"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}' in backend.reproduce(
        "onnx", {"threads": "1"}
    )
