"""What onnx's own evaluator gets wrong is said to be mended, and no script asks that evaluator for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from fuzz.backends import _evaluator
from fuzz.case import Case, Origin, Outcome, Stage, Status
from triage.behaviour import compared_with
from triage.checks import checks
from triage.literals import SMALL
from triage.mended import MENDED, mended


def one_hot(indices: np.ndarray[Any, Any], depth: int) -> Case:
    node = helper.make_node("OneHot", ["indices", "depth", "values"], ["y"])
    kind = helper.np_dtype_to_tensor_dtype(indices.dtype)
    held = [
        numpy_helper.from_array(np.array(depth), "depth"),
        numpy_helper.from_array(np.array([3, 2], np.int64), "values"),
    ]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("indices", kind, indices.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [*indices.shape, depth])],
        held,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)
    return Case("onnx", model.SerializeToString(), {"indices": indices}, Origin("test"))


def outcome_of(status: Status, value: np.ndarray[Any, Any]) -> Outcome:
    return Outcome(status, Stage.RUN, outputs=[("y", value)])


def relu() -> Case:
    node = helper.make_node("Relu", ["x"], ["y"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", infos[:1], infos[1:]))
    return Case("onnx", model.SerializeToString(), {"x": np.zeros(2, np.float32)}, Origin("test"))


def test_the_names_are_those_that_the_workers_mend() -> None:
    assert set(MENDED) == {name for _, name in vars(_evaluator)["_MENDED"]}


def test_onnx_itself_gives_another_result_so_the_report_says_whose_it_is() -> None:
    case = one_hot(np.float32([0.1]), 1)
    [plain] = ReferenceEvaluator(case.model).run(None, case.inputs)  # type: ignore[arg-type]
    [ours] = _evaluator.Evaluator(case.model).run(None, case.inputs)  # type: ignore[arg-type]
    if plain.tolist() == ours.tolist():
        pytest.fail("onnx has mended OneHot: take it out of the evaluator")
    told = "the ONNX reference evaluator (its OneHot mended to do what the specification says)"
    assert compared_with("onnxruntime", case) == told


def test_other_models_and_bugs_of_the_evaluator_are_told_of_as_they_are() -> None:
    assert compared_with("tvm", relu()) == "the ONNX reference evaluator" and mended(relu()) == ()
    assert compared_with("reference", one_hot(np.float32([0.1]), 1)).startswith("the other implementations")


def test_a_script_writes_out_what_onnx_would_compute_otherwise() -> None:
    case = one_hot(np.full(2 * SMALL, 0.1, np.float32), 1)
    right, wrong = np.full((2 * SMALL, 1), 2), np.full((2 * SMALL, 1), 3)
    found = checks(case, outcome_of(Status.WRONG, wrong), outcome_of(Status.OK, right), "wrong:values")
    assert not any("ReferenceEvaluator" in line for line in found.definitions)
