"""The pass that lowers the opset."""

import numpy as np
from onnx import TensorProto, helper

from fuzz.case import Case, Origin
from triage.passes import opset
from triage.submodel import load


def _case(op_type: str, version: int, ir_version: int, **attributes: object) -> Case:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"], **attributes)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=ir_version)
    return Case("onnx", model.SerializeToString(), {"x": np.zeros(2, np.float32)}, Origin("test"))


def test_the_opset_becomes_the_one_in_which_the_operator_last_changed():
    [found] = opset.candidates(_case("Relu", 22, 10), {})
    model = load(found)
    assert model.opset_import[0].version == 14
    assert model.ir_version == 7


def test_a_model_at_its_operators_own_opset_stays_as_it_is():
    assert not list(opset.candidates(_case("Relu", 14, 7), {}))


def test_an_operator_that_onnx_does_not_know_is_left_alone():
    assert not list(opset.candidates(_case("NoSuchOperator", 22, 10), {}))


def test_inputs_survive():
    case = _case("Abs", 22, 10)
    [found] = opset.candidates(case, {})
    assert list(found.inputs) == ["x"]


def test_an_operator_that_is_new_is_tried_in_the_set_where_it_was_another():
    case = _case("Relu", 22, 10)
    assert [opset.default_opset(found) for found in opset.older(case)] == [14, 13]


def test_nothing_is_older_than_the_oldest():
    assert not list(opset.older(_case("Relu", 13, 7)))


def test_a_model_with_functions_of_its_own_keeps_its_opset():
    case = _case("Relu", 22, 10)
    model = load(case)
    model.functions.add(name="f", domain="own")
    assert opset.default_opset(Case("onnx", model.SerializeToString(), {}, Origin("test"))) == 0
