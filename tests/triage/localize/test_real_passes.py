"""Guilty passes of the installed compilers, found on bugs that they have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.localize import Location, Part, localize, transformations
from triage.localize.trial import Trial
from triage.signing import Signer

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case(
    nodes: list[onnx.NodeProto],
    kind: int,
    shape: list[int],
    weights: dict[str, np.ndarray],
    fed: dict[str, np.ndarray],
) -> Case:
    """A model with the output ``y`` of that type and shape."""
    types = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in fed.items()}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, types[name], value.shape) for name, value in fed.items()],
        [helper.make_tensor_value_info("y", kind, shape)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), fed, Origin("test"))


def float32(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def clip() -> Case:
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Clip", ["r", "least"], ["y"])]
    return case(nodes, DOUBLE, [3], {"least": np.array(1.0)}, {"x": np.array([1.0, 2.0, 3.0])})


def absolute() -> Case:
    nodes = [helper.make_node("Cast", ["k"], ["c"], to=INT64), helper.make_node("Abs", ["c"], ["y"])]
    return case(nodes, INT64, [2], {"k": float32([-1, 2])}, {})


def products() -> Case:
    """Two products with a multiplication between them: the plugin's snippets fail on it when there is one thread."""
    nodes = [
        helper.make_node("Gemm", ["a", "one"], ["p"]),
        helper.make_node("Mul", ["p", "b"], ["q"]),
        helper.make_node("Gemm", ["q", "w", "bias"], ["y"], transB=1),
    ]
    weights = {"one": float32([[1]]), "w": float32([[1, 2, 3], [4, 5, 6]]), "bias": float32([1, 2])}
    return case(nodes, FLOAT, [1, 2], weights, {"a": float32([[1]]), "b": float32([[1, 2, 3]])})


def located(judge: Judge, subject: Case, target: Target) -> Location:
    failure = judge.examine(subject, target).failure
    assert failure is not None
    return localize(judge, failure, Signer(judge.runner).sign(failure))


def test_onnxruntimes_rule_is_named_with_what_leaves_it_out(judge: Judge) -> None:
    found = located(judge, clip(), catalogue.target("onnxruntime"))
    assert (found.stage, found.pass_) == (Part.OPTIMISATION, "FuseReluClip")
    assert any('disabled_optimizers=["FuseReluClip"]' in said and "twice" in said for said in found.evidence)


def test_openvinos_transformation_is_named_with_the_graphs_on_both_sides_of_it(judge: Judge) -> None:
    found = located(judge, absolute(), catalogue.target("openvino"))
    assert (found.stage, found.pass_) == (Part.OPTIMISATION, "AbsSinking")
    assert any("graph that AbsSinking takes and wrong for the one that it leaves" in said for said in found.evidence)


def test_openvinos_snippets_are_left_out_by_a_setting(judge: Judge) -> None:
    found = located(judge, products(), catalogue.target("openvino"))
    assert (found.stage, found.pass_) == (Part.LOWERING, "snippets")
    assert any("SNIPPETS_MODE" in said for said in found.evidence)


def test_tvm_tells_in_which_pass_it_raises_and_that_pass_is_not_called_guilty(judge: Judge) -> None:
    """TVM 0.27 has no power of integers; the frontend lets it through, and legalising finds it."""
    nodes = [helper.make_node("Pow", ["x", "x"], ["y"])]
    whole = case(nodes, TensorProto.INT32, [3], {}, {"x": np.array([1, 2, 3], np.int32)})
    found = located(judge, whole, catalogue.target("tvm"))
    assert any(said == "it is raised while the pass LegalizeOps runs" for said in found.evidence)
    assert (found.stage, found.pass_) == (Part.UNKNOWN, "")


def test_a_wrong_result_that_no_transformation_makes_has_no_guilty_one(judge: Judge) -> None:
    """OpenVINO 2026.4's plugin gives the largest float32 for the minimum of nothing; every graph before it is right."""
    nodes = [helper.make_node("ReduceMin", ["x"], ["y"], axes=[1])]
    failure = judge.examine(
        case(nodes, FLOAT, [2, 1], {}, {"x": np.zeros((2, 0), np.float32)}), catalogue.target("openvino")
    ).failure
    assert failure is not None
    assert transformations.locate(Trial(judge, failure), Location()).pass_ == ""


def test_a_search_among_transformations_ends_with_its_time(judge: Judge) -> None:
    failure = judge.examine(absolute(), catalogue.target("openvino")).failure
    assert failure is not None
    assert transformations.locate(Trial(judge, failure, deadline=0.0), Location()) == Location()
