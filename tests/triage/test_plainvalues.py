"""Long tensors of a case are filled as a person would fill them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz import instance
from fuzz.case import Case, Origin
from triage.construct import case_code
from triage.construct_torch import instance_code
from triage.plainvalues import plainer

Array = np.ndarray[Any, np.dtype[Any]]
DRAWN = np.random.default_rng(7).standard_normal((12, 30)).astype(np.float32)


def model_of(nodes: Sequence[onnx.NodeProto], fed: Array, held: dict[str, Array] | None = None) -> Case:
    info = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(fed.dtype), fed.shape)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = [numpy_helper.from_array(value, name) for name, value in (held or {}).items()]
    graph = helper.make_graph(nodes, "g", [info], [out], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    return Case("onnx", model.SerializeToString(), {"x": fed}, Origin("test"))


def test_a_long_input_is_tried_with_the_simplest_numbers_first() -> None:
    case = model_of([helper.make_node("Relu", ["x"], ["y"])], DRAWN)
    found = [np.asarray(other.inputs["x"]) for other in plainer(case)]
    assert np.all(found[0] == 1) and found[1].ravel()[:10].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]
    assert all(one.shape == DRAWN.shape and one.dtype == DRAWN.dtype for one in found)
    for other in plainer(case):
        assert "base64" not in "\n".join(case_code(other.model, other.inputs))


def test_a_short_input_stays() -> None:
    assert not list(plainer(model_of([helper.make_node("Relu", ["x"], ["y"])], DRAWN[0, :6])))
    assert not list(plainer(model_of([helper.make_node("Relu", ["x"], ["y"])], np.zeros((90, 90), np.float32))))


def test_of_one_number_among_many_that_alone_may_stay() -> None:
    """A single infinity may be what a failure is about."""
    odd = DRAWN.copy()
    odd[3, 4] = np.inf
    case = model_of([helper.make_node("Relu", ["x"], ["y"])], odd)
    kept = [np.asarray(other.inputs["x"]) for other in plainer(case)]
    alone = [one for one in kept if np.isinf(one).sum() == 1]
    assert len(alone) == 1 and np.count_nonzero(alone[0]) == 1


def test_integers_stay_between_their_own_least_and_greatest() -> None:
    """They may be indices."""
    chosen = np.random.default_rng(7).integers(0, 3, 200)
    case = model_of([helper.make_node("Gather", ["w", "x"], ["y"])], chosen, {"w": np.float32([1, 2, 3])})
    found = [np.asarray(other.inputs["x"]) for other in plainer(case)]
    assert any(one.ravel()[:4].tolist() == [0, 1, 2, 0] for one in found)


def test_a_mask_in_a_body_is_no_packed_string() -> None:
    mask = np.random.default_rng(7).integers(0, 2, 355).astype(np.bool_)
    kept = helper.make_node("Compress", ["x", "mask"], ["z"])
    out = [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)]
    bodies = {
        f"{name}_branch": helper.make_graph([kept], name, [], out, [numpy_helper.from_array(mask, "mask")])
        for name in ("then", "else")
    }
    case = model_of([helper.make_node("If", ["c"], ["y"], **bodies)], DRAWN[0, :5], {"c": np.array(True)})
    assert "base64" in "\n".join(case_code(case.model, case.inputs))
    while more := next(plainer(case), None):
        case = more
    assert "base64" not in "\n".join(case_code(case.model, case.inputs))


def test_a_large_tensor_of_a_call_is_no_packed_string() -> None:
    text = b'{"api": "torch.nn.functional.relu", "args": [{"dtype": "float32", "shape": [9, 9], "seed": 77}]}'
    case = Case("instance", text, {}, Origin("test"))
    assert "base64" in instance_code(case.model)
    found = list(plainer(case))
    assert found and all("base64" not in instance_code(other.model) for other in found)
    assert {instance.parse(other.model).tensors[0].shape for other in found} == {(9, 9)}
