"""Cutting parts out of ONNX cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper, parser
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from fuzz.wire import Value
from triage.submodel import (
    constant_names,
    free_names,
    load,
    open_shapes,
    reads,
    rename,
    value_info,
    with_tensors,
)

CHAIN = """<ir_version: 8, opset_import: ["": 17]>
g (float[2,3] x, float[2,3] unread) => (float[2,3] out, float[2,3] side) <float[1] w = {2.0}> {
    half = Neg(w)
    a = Mul(x, half)
    b = Relu(a)
    side = Exp(a)
    out = Add(b, a)
}"""
BRANCH = """<ir_version: 8, opset_import: ["": 17]>
g (float[2] x, bool flag) => (float[2] y) {
    outer = Relu(x)
    y = If(flag) <
        then_branch = g1 () => (float[2] t) { t = Neg(outer) },
        else_branch = g2 () => (float[2] e) { inner = Abs(outer)  e = Add(inner, x) }
    >
}"""


def case_of(text: str, **inputs: np.ndarray) -> Case:
    return Case("onnx", parser.parse_model(text).SerializeToString(), inputs, Origin("test"))


def record(case: Case) -> Mapping[str, Value]:
    found = ReferenceEvaluator(load(case)).run(None, dict(case.inputs), intermediate=True)
    assert isinstance(found, dict)
    return found


def run(case: Case) -> list[np.ndarray]:
    onnx.checker.check_model(load(case), full_check=True)
    return list(ReferenceEvaluator(load(case)).run(None, dict(case.inputs)))


def chain() -> Case:
    rng = np.random.default_rng(0)
    return case_of(CHAIN, x=rng.random((2, 3), np.float32), unread=np.zeros((2, 3), np.float32))


def test_what_a_body_takes_from_outside_is_read_by_its_node() -> None:
    node = load(case_of(BRANCH)).graph.node[1]
    assert reads(node) == {"flag", "outer", "x"}
    assert free_names(node.attribute[0].g) | free_names(node.attribute[1].g) == {"outer", "x"}


def test_renaming_follows_into_bodies() -> None:
    case = case_of(BRANCH, x=np.array([-1, 2], np.float32), flag=np.array(True))
    model = load(case)
    rename(model, {"outer": "o", "x": "in_0", "inner": "i"})
    found: Any = ReferenceEvaluator(model).run(None, {"in_0": case.inputs["x"], "flag": np.array(True)})
    np.testing.assert_array_equal(found[0], np.array([0, -2], np.float32))


def test_what_follows_from_initializers_is_constant_unless_callers_may_override_it() -> None:
    model = parser.parse_model(CHAIN)
    assert constant_names(model) == {"w", "half"}
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [1]))
    assert constant_names(model) == set()


def test_declarations_follow_the_value_and_are_missing_where_it_does_not_tell() -> None:
    strings = value_info("s", np.array(["a", "ü"], dtype=object))
    assert strings is not None and strings.type.tensor_type.elem_type == onnx.TensorProto.STRING
    sequence = value_info("q", [np.zeros((2, 3), np.float16)])
    assert sequence is not None
    assert sequence.type.sequence_type.elem_type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    assert value_info("none", None) is None
    assert value_info("empty", []) is None


def test_open_shapes_keep_ranks_and_the_sizes_of_inputs() -> None:
    model = parser.parse_model(CHAIN)
    open_shapes(model)
    dims = model.graph.output[0].type.tensor_type.shape.dim
    assert len(dims) == 2 and not any(dim.HasField("dim_value") for dim in dims)
    assert [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim] == [2, 3]


def test_a_replaced_tensor_is_declared_with_its_new_sizes_and_symbols_stay_open() -> None:
    x = np.ones((2, 3), np.float32)
    case = case_of(CHAIN.replace("float[2,3] x", "float[N,3] x"), x=x)
    smaller = with_tensors(case, load(case), {"x": np.ones((1, 1), np.float32), "w": np.ones(1, np.float32)})
    first, second = load(smaller).graph.input[0].type.tensor_type.shape.dim
    assert (first.dim_param, second.dim_value) == ("N", 1)
    assert numpy_helper.to_array(load(smaller).graph.initializer[0]).tolist() == [1.0]
    assert case.inputs["x"] is x
