"""ONNX Runtime through the real worker: every dtype, both levels, and its refusals."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from fuzz import catalogue
from fuzz.backends import onnxruntime as backend
from fuzz.case import Case, Origin, Outcome, Stage, Status
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.wire import Job, Value
from triage import asking


@pytest.fixture(scope="module")
def ort() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def cast(source: int, target: int, data: np.ndarray, opset: int = 21) -> Case:
    x = helper.make_tensor_value_info("x", source, list(data.shape))
    y = helper.make_tensor_value_info("y", target, list(data.shape))
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=target)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("t"))


def only_output(outcome: Outcome) -> Value:
    assert outcome.status is Status.OK, outcome
    [(_, value)] = outcome.outputs
    return value


def identity(data: Value, source: object) -> Case:
    x, y = (helper.make_value_info(name, source) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("t"))


SMALL = [
    (TensorProto.BFLOAT16, ml_dtypes.bfloat16, [1.5, -2.0, 0.0]),
    (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn, [1.5, -2.0, 0.0]),
    (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2, [1.5, -2.0, 0.0]),
    (TensorProto.INT4, ml_dtypes.int4, [7, -8, -1]),
    (TensorProto.UINT4, ml_dtypes.uint4, [15, 0, 8]),
    (TensorProto.INT2, ml_dtypes.int2, [1, -2, -1, 0, 1]),
    (TensorProto.UINT2, ml_dtypes.uint2, [3, 0, 2, 1, 3]),
]


@pytest.mark.parametrize(("number", "dtype", "values"), SMALL, ids=[dtype.__name__ for _, dtype, _ in SMALL])
def test_small_dtypes_go_in_and_come_out(ort: Runner, number: int, dtype: type, values: list[float]) -> None:
    wide = np.array(values, dtype=np.float32)
    small = wide.astype(dtype)
    target = catalogue.target("onnxruntime")
    opset = 25 if number in (TensorProto.INT2, TensorProto.UINT2) else 21
    read = only_output(ort.run(cast(number, TensorProto.FLOAT, small, opset=opset), target))
    assert np.asarray(read).tolist() == values
    written = only_output(ort.run(cast(TensorProto.FLOAT, number, wide, opset=opset), target))
    assert isinstance(written, np.ndarray)
    assert (written.dtype, written.shape) == (small.dtype, small.shape)
    assert (written == small).all()


@pytest.mark.parametrize("data", [np.array(["a", "", "ü"], dtype=object), np.array(1.5), np.zeros((0, 2))], ids=repr)
def test_strings_scalars_and_empty_tensors_pass(ort: Runner, data: np.ndarray) -> None:
    number = TensorProto.STRING if data.dtype == object else TensorProto.DOUBLE
    case = identity(data, helper.make_tensor_type_proto(number, data.shape))
    found = only_output(ort.run(case, catalogue.target("onnxruntime")))
    assert isinstance(found, np.ndarray)
    assert (found.shape, found.tolist()) == (data.shape, data.tolist())


def test_sequences_pass(ort: Runner) -> None:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    data = [np.zeros(2, dtype=np.float32), np.ones((1, 3), dtype=np.float32)]
    found = only_output(ort.run(identity(data, kind), catalogue.target("onnxruntime")))
    assert isinstance(found, list) and [item.shape for item in found] == [(2,), (1, 3)]


def test_a_dtype_that_it_has_no_value_for_is_skipped(ort: Runner) -> None:
    """What the model declares is another matter: only what is fed is looked at."""
    case = cast(TensorProto.FLOAT, TensorProto.DOUBLE, np.float32([1, 0]))
    odd = replace(case, inputs={"x": np.array([1, 0.5], dtype=ml_dtypes.float8_e8m0fnu)})
    outcome = ort.run(odd, catalogue.target("onnxruntime"))
    assert outcome.status is Status.SKIPPED
    assert outcome.error is not None and "float8_e8m0fnu" in outcome.error.message


@pytest.mark.parametrize("level", ["all", "off", "basic", "extended"])
def test_every_level_computes_the_same(ort: Runner, level: str) -> None:
    case, expected = catalogue._tiny_model()
    found = only_output(ort.run(case, catalogue.target("onnxruntime", {"opt": level})))
    assert np.asarray(found).tolist() == expected.tolist()


def test_garbage_is_an_exception_and_not_a_refusal(ort: Runner) -> None:
    outcome = ort.run(Case("onnx", b"no model at all", {}, Origin("t")), catalogue.target("onnxruntime"))
    assert (outcome.status, outcome.stage) == (Status.EXCEPTION, Stage.COMPILE)


def test_a_missing_kernel_is_an_honest_refusal(ort: Runner) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.INT16, [1])
    y = helper.make_tensor_value_info("y", TensorProto.INT16, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"x": np.ones(1, dtype=np.int16)}, Origin("t"))
    assert ort.run(case, catalogue.target("onnxruntime")).status is Status.UNSUPPORTED


def test_an_operators_kernel_is_its_conversion_function(ort: Runner) -> None:
    found = ort.converters(catalogue.target("onnxruntime"), [("", "Relu", 17), ("com.microsoft", "Gelu", 1)])
    assert found == ["kernel Relu", "kernel com.microsoft.Gelu"]


def test_the_transformers_that_change_a_model_are_named_and_may_be_left_out(ort: Runner) -> None:
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    nodes = [
        helper.make_node("Constant", [], ["c"], value_floats=[2.0]),
        helper.make_node("Neg", ["c"], ["d"]),
        helper.make_node("Mul", ["x", "d"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([3])}, Origin("t"))
    target = catalogue.target("onnxruntime")
    assert asking.passes(ort, case, target) == ["ConstantFolding"]
    assert asking.passes(ort, case, catalogue.target("onnxruntime", {"opt": "off"})) == []
    without = catalogue.target("onnxruntime", {"disable": "ConstantFolding"})
    assert np.asarray(only_output(ort.run(case, without))).tolist() == [-6.0]
    assert asking.passes(ort, case, without) == []


def clipped(minimum: float) -> Case:
    """Relu and Clip of doubles, whose fusion in ONNX Runtime 1.31 knows two types of minimum only."""
    infos = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [3]) for name in ("x", "y")]
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Clip", ["r", "least"], ["y"])]
    least = numpy_helper.from_array(np.array(minimum), "least")
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [least])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": np.array([1.0, 2.0, 3.0])}, Origin("t"))


def test_a_rule_that_fails_is_among_those_told_and_may_be_left_out(ort: Runner) -> None:
    """Rules have no line of their own in the log, and a transformer that fails never says that it changed anything."""
    case, target = clipped(1.0), catalogue.target("onnxruntime")
    failed = ort.run(case, target)
    assert failed.status is Status.EXCEPTION and "FuseReluClip" in asking.passes(ort, case, target)
    assert ort.run(case, catalogue.target("onnxruntime", {"disable": "FuseReluClip"})).status is Status.OK
    assert failed.error is not None
    assert failed.error.conversion_function == "relu_clip_fusion.cc onnxruntime::FuseReluClip::Apply"


@pytest.mark.parametrize(
    ("place", "function"),
    [
        ("core/framework/bfc_arena.cc:403 void* onnxruntime::BFCArena::Allocate(size_t, bool) Failed", "BFCArena"),
        ("core/cumsum.cc:3 onnxruntime::CumSum<T>::CumSum(const x&) [with T = float] bad", "CumSum<T>::CumSum"),
        ("common/safeint.h:17 static void Handler<onnxruntime::E>::OnOverflow() Integer overflow", "OnOverflow"),
        ("core/session/x.cc:12 Initialize failed", "x.cc Initialize"),
    ],
)
def test_a_functions_type_is_not_taken_for_its_name(place: str, function: str) -> None:
    _, found = backend.blame(RuntimeError(f"1 : FAIL : onnxruntime/{place}"), Job("onnx", b"", {}, {}))
    assert function in found and " void" not in found and " static" not in found


def test_a_number_of_threads_stands_in_the_script_only_where_it_was_chosen() -> None:
    assert "threads" not in backend.reproduce("onnx", {})
    assert "options.intra_op_num_threads = 2\n" in backend.reproduce("onnx", {"threads": "2"})


def test_the_script_leaves_out_the_optimisers_that_the_failure_needs_left_out() -> None:
    script = backend.reproduce("onnx", {"disable": "ConstantFolding,CastElimination", "opt": "basic"})
    model = parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }')
    scope: dict[str, Any] = {"model": model, "inputs": {"x": np.ones(2, np.float32)}}
    exec(script, scope)
    assert scope["actual"].tolist() == [-1.0, -1.0]
    assert 'disabled_optimizers=["ConstantFolding", "CastElimination"]' in script
