"""The reference: parsing, checking, shape inference and evaluation, each known by its stage."""

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from fuzz import catalogue, validity
from fuzz.case import Case, Origin, Stage, Status
from fuzz.lane import Limits
from fuzz.runner import Runner


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Runner]:
    with Runner(Limits(seconds=20), jobs=1) as shared:
        yield shared


def two_nodes(output_shape: list[int] | None = None) -> ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, output_shape or [2])
    nodes = [helper.make_node("Neg", ["x"], ["between"]), helper.make_node("Relu", ["between"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def case_of(model: ModelProto) -> Case:
    return Case("onnx", model.SerializeToString(), {"x": np.float32([-1, 2])}, Origin("t"))


def test_a_valid_model_is_evaluated(evaluator: Runner) -> None:
    outcome = evaluator.run(case_of(two_nodes()), catalogue.target("reference"))
    assert outcome.status is Status.OK
    assert [(name, np.asarray(value).tolist()) for name, value in outcome.outputs] == [("y", [1.0, 0.0])]


def test_intermediates_are_kept_when_asked_for(evaluator: Runner) -> None:
    outcome = evaluator.run(case_of(two_nodes()), catalogue.target("reference", {"intermediates": "on"}))
    assert np.asarray(dict(outcome.outputs)["between"]).tolist() == [1.0, -2.0]


def test_eager_torch_is_the_reference_of_an_instance(evaluator: Runner) -> None:
    case, expected = catalogue._tiny_instance()
    outcome = evaluator.run(case, catalogue.target("reference"))
    assert outcome.status is Status.OK, outcome
    assert np.asarray(outcome.outputs[0][1]).tolist() == expected.tolist()


def missing_input() -> ModelProto:
    model = two_nodes()
    model.graph.node[1].input[0] = "nowhere"
    return model


def wrong_shape() -> ModelProto:
    return two_nodes(output_shape=[3])


@pytest.mark.parametrize(
    ("model", "stage", "judge"),
    [
        (b"\x00 garbage", Stage.LOAD, "parsing"),
        (b"", Stage.CONVERT, "onnx.checker"),
        (missing_input().SerializeToString(), Stage.CONVERT, "onnx.checker"),
        (wrong_shape().SerializeToString(), Stage.CONVERT, "onnx.checker"),
    ],
    ids=["garbage", "empty", "missing input", "wrong shape"],
)
def test_what_is_wrong_with_a_model_is_known_by_stage(
    evaluator: Runner, model: bytes, stage: Stage, judge: str
) -> None:
    case = Case("onnx", model, {"x": np.float32([-1, 2])}, Origin("t"))
    target = catalogue.target("reference")
    assert evaluator.run(case, target).stage is stage
    [found] = validity.judge(evaluator, [case], target)
    assert found.invalid.startswith(f"rejected by {judge}: ")


def test_inputs_that_do_not_fit_the_model_make_the_case_invalid(evaluator: Runner) -> None:
    case = Case("onnx", two_nodes().SerializeToString(), {}, Origin("t"))
    [found] = validity.judge(evaluator, [case], catalogue.target("reference"))
    assert found.invalid.startswith("rejected by the reference: ")


def test_a_random_operator_is_valid_and_incomparable(evaluator: Runner) -> None:
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    graph = helper.make_graph([helper.make_node("RandomNormal", [], ["y"], shape=[4])], "g", [], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {}, Origin("t"))
    [found] = validity.judge(evaluator, [case], catalogue.target("reference"))
    assert (found.invalid, found.incomparable.partition(":")[0]) == ("", "RandomNormal")
