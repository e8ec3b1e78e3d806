"""Refusals that generated models met: told as unsupported, not as bugs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin, Stage, Status
from fuzz.generators import isra
from fuzz.generators.models import Parameters
from fuzz.limits import Limits
from fuzz.runner import Runner


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=3000), jobs=1) as shared:
        yield shared


def case(node: onnx.NodeProto, shape: list[int], code: int, weights: dict[str, np.ndarray]) -> Case:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    given = helper.make_tensor_value_info("x", code, [2, 1, 2])
    made = helper.make_tensor_value_info("y", code, shape)
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph([node], "g", [given], [made], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"x": np.ones((2, 1, 2), dtype)}, Origin("test", node.op_type))


def recurrent(op_type: str, gates: int, code: int) -> Case:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    weights = {"w": np.ones((1, gates, 2), dtype), "r": np.ones((1, gates, 1), dtype)}
    return case(helper.make_node(op_type, ["x", "w", "r"], ["y"], hidden_size=1), [2, 1, 1, 1], code, weights)


@pytest.mark.parametrize(("op_type", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_onnxruntime_says_that_recurrent_operators_have_no_doubles(runner: Runner, op_type: str, gates: int) -> None:
    target = catalogue.target("onnxruntime")
    assert runner.run(recurrent(op_type, gates, TensorProto.DOUBLE), target).status is Status.UNSUPPORTED
    assert runner.run(recurrent(op_type, gates, TensorProto.FLOAT), target).status is Status.OK


@pytest.mark.parametrize("code", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
def test_onnxruntime_says_that_it_does_not_join_numbers_of_16_bits(runner: Runner, code: int) -> None:
    """Numbers that numpy lacks come in by another call than all others."""
    dtype = helper.tensor_dtype_to_np_dtype(code)
    weights = {"i": np.zeros((1, 1), np.int64), "u": np.ones((1, 1, 2), dtype)}
    joined = case(helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction="max"), [2, 1, 2], code, weights)
    assert runner.run(joined, catalogue.target("onnxruntime")).status is Status.UNSUPPORTED


@pytest.mark.parametrize("name", ["GRU", "LSTM", "ScatterElements", "ScatterND"])
def test_what_onnxruntime_takes_of_generated_models_it_runs(runner: Runner, name: str) -> None:
    """Who checks models by loading and running them takes a refusal that comes so late for an invalid model."""
    parameters, target = Parameters(high=1, names=(name,)), catalogue.target("onnxruntime")
    outcomes = [runner.run(isra.case(parameters, 5, index), target) for index in range(200)]
    assert {outcome.status for outcome in outcomes if outcome.stage is Stage.RUN} == {Status.OK}


@pytest.mark.parametrize(("op_type", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_onnxruntime_says_so_in_bodies_too(runner: Runner, op_type: str, gates: int) -> None:
    inner = onnx.load_from_string(recurrent(op_type, gates, TensorProto.DOUBLE).model).graph
    whole = helper.make_graph([inner.node[0]], "then", [], [inner.output[0]])
    node = helper.make_node("If", ["c"], ["y"], then_branch=whole, else_branch=whole)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in inner.initializer}
    model = onnx.load_from_string(case(node, [2, 1, 1, 1], TensorProto.DOUBLE, weights).model)
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))  # a constant one is folded
    given = {"x": np.ones((2, 1, 2)), "c": np.array(True)}
    nested = Case("onnx", model.SerializeToString(), given, Origin("test", op_type))
    assert runner.run(nested, catalogue.target("onnxruntime")).status is Status.UNSUPPORTED


def branches(op_type: str) -> Case:
    """The operator in both branches of an If."""

    def body(name: str) -> onnx.GraphProto:
        made = helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 1, 2])
        return helper.make_graph([helper.make_node(op_type, ["x"], [name])], name, [], [made])

    node = helper.make_node("If", ["c"], ["y"], then_branch=body("a"), else_branch=body("b"))
    return case(node, [2, 1, 2], TensorProto.FLOAT, {"c": np.array(True)})


def test_tvm_says_of_operators_in_bodies_too_that_it_has_no_converter(runner: Runner) -> None:
    target = catalogue.target("tvm")
    assert runner.run(branches("LpNormalization"), target).status is Status.UNSUPPORTED
    assert runner.run(branches("Relu"), target).status is Status.OK


def resized(scales: list[float], shape: list[int]) -> Case:
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        for name, dims in (("x", [2, 1, 2, 2]), ("y", shape))
    ]
    weights = [numpy_helper.from_array(np.array(scales, np.float32), "scales")]
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "scales"], ["y"])], "g", infos[:1], infos[1:], weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    return Case("onnx", model.SerializeToString(), {"x": np.ones((2, 1, 2, 2), np.float32)}, Origin("test", "Resize"))


def test_openvino_says_that_it_resizes_no_batch(runner: Runner) -> None:
    target = catalogue.target("openvino")
    assert runner.run(resized([0.5, 1, 1, 1], [1, 1, 2, 2]), target).status is Status.UNSUPPORTED
    assert runner.run(resized([1, 1, 1, 2], [2, 1, 2, 4]), target).status is Status.OK


@pytest.mark.parametrize(
    ("op_type", "code", "made"),
    [
        ("QuantizeLinear", TensorProto.FLOAT, TensorProto.UINT8),
        ("DequantizeLinear", TensorProto.UINT8, TensorProto.FLOAT),
    ],
)
def test_openvino_says_that_blocks_must_divide_their_axis(runner: Runner, op_type: str, code: int, made: int) -> None:
    weights = {"s": np.ones((2, 1, 2), np.float32)}
    for block, status in ((2, Status.UNSUPPORTED), (1, Status.OK)):
        blocked = case(helper.make_node(op_type, ["x", "s"], ["y"], block_size=block), [2, 1, 2], code, weights)
        model = onnx.load_from_string(blocked.model)
        model.graph.output[0].type.tensor_type.elem_type = made
        asked = replace(blocked, model=model.SerializeToString())
        assert runner.run(asked, catalogue.target("openvino")).status is status
