"""A reduced model becomes what a person would feed: its own tensors, data as inputs, the specification's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from triage import handwritten
from triage.submodel import load

Arrays = Mapping[str, np.ndarray[Any, Any]]


def case_of(node: onnx.NodeProto, fed: Arrays, constants: Arrays, shape: list[int]) -> Case:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in fed.items()]
    outs = [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, shape)]
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph([node], "g", infos, outs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    return Case("onnx", model.SerializeToString(), dict(fed), Origin("test"))


def evaluated(case: Case) -> np.ndarray[Any, Any]:
    onnx.checker.check_model(load(case), full_check=True)
    [found] = ReferenceEvaluator(load(case)).run(None, dict(case.inputs))
    return np.asarray(found)


PAIR = np.array([1, 2], np.float32)
TWICE = case_of(helper.make_node("RMSNormalization", ["t4", "t4"], ["t5"]), {"t4": PAIR}, {}, [2])
CONSTANT = case_of(helper.make_node("Pow", ["t4", "t4"], ["t5"]), {}, {"t4": PAIR}, [2])


def test_a_tensor_that_is_read_twice_becomes_two_of_its_kind() -> None:
    fed, held = handwritten.own_tensors(TWICE), handwritten.own_tensors(CONSTANT)
    assert fed is not None and held is not None
    assert list(load(fed).graph.node[0].input) == ["t4", "t4_1"] and list(fed.inputs) == ["t4", "t4_1"]
    assert [one.name for one in load(held).graph.initializer] == ["t4", "t4_1"] and not held.inputs
    np.testing.assert_array_equal(evaluated(fed), evaluated(TWICE))
    np.testing.assert_array_equal(evaluated(held), evaluated(CONSTANT))


def test_the_data_of_a_model_of_constants_is_fed_and_the_parameters_stay() -> None:
    held = handwritten.own_tensors(CONSTANT)
    fed = handwritten.data_fed(held) if held else None
    assert fed is not None and list(fed.inputs) == ["t4"]
    assert [one.name for one in load(fed).graph.initializer] == ["t4_1"]
    np.testing.assert_array_equal(evaluated(fed), evaluated(CONSTANT))


def test_generated_names_become_those_of_the_specification() -> None:
    case = handwritten.own_tensors(TWICE)
    found = handwritten.named(case) if case else None
    assert found is not None and list(found.inputs) == ["X", "scale"]
    assert list(load(found).graph.output) and load(found).graph.output[0].name == "Y"
    np.testing.assert_array_equal(evaluated(found), evaluated(TWICE))


def test_what_is_as_a_person_writes_it_stays() -> None:
    node = helper.make_node("Pow", ["base", "power"], ["result"])
    case = case_of(node, {"base": PAIR, "power": PAIR}, {}, [2])
    assert handwritten.own_tensors(case) is None
    assert handwritten.data_fed(case) is None
    assert handwritten.named(case) is None


def test_a_chosen_name_is_never_given_twice() -> None:
    node = helper.make_node("Sum", ["t1", "data_0", "t2"], ["t3"])
    case = case_of(node, {"t1": PAIR, "data_0": PAIR, "t2": PAIR}, {}, [2])
    found = handwritten.named(case)
    assert found is not None
    names = list(load(found).graph.node[0].input)
    assert len(set(names)) == 3 and "data_0" in names
    np.testing.assert_array_equal(evaluated(found), evaluated(case))


def test_a_node_with_a_body_is_left_alone() -> None:
    inner = helper.make_node("Identity", ["t1"], ["t9"])
    body = helper.make_graph([inner], "b", [], [helper.make_tensor_value_info("t9", TensorProto.FLOAT, [2])])
    node = helper.make_node("If", ["t2"], ["t3"], then_branch=body, else_branch=body)
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info("t1", TensorProto.FLOAT, [2]),
            helper.make_tensor_value_info("t2", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("t3", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    case = Case("onnx", model.SerializeToString(), {"t1": PAIR, "t2": np.array(True)}, Origin("test"))
    assert [handwritten.own_tensors(case), handwritten.data_fed(case), handwritten.named(case)] == [None] * 3
