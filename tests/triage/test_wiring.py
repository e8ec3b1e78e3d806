"""Nodes of bodies and functions taken out."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz.case import Case, Origin
from fuzz.operators.graph import bodies
from tests.triage.test_neighbour import case_of
from tests.triage.test_reduce import record, valid
from triage.reduce import reduce
from triage.submodel import load
from triage.wiring import MAIN, inner_places, wiring

CHOICE = """g (float[2] x, bool c) => (float[2] y) {
    y = If(c) <
        then_branch = t () => (float[2] p) { a = Tanh(x) b = Exp(a) d = Neg(b) p = Abs(d) },
        else_branch = e () => (float[2] q) { f = Relu(x) q = Sigmoid(f) }> }"""
LOOP = """g (int64 n, float[2] start) => (float[2] last) {
    cond = Constant <value = bool {1}> ()
    last = Loop(n, cond, start) <body = b (int64 i, bool go, float[2] v) => (bool more, float[2] w) {
        more = Identity(go) a = Tanh(v) d = Exp(a) w = Neg(d) }> }"""
CALL = """g (float[2] x) => (float[2] y) { y = own.block(x) }
<domain: "own", opset_import: ["": 21]> block (a) => (e) { b = Tanh(a) c = Exp(b) d = Neg(c) e = Abs(d) }"""
X = np.array([1, -2], np.float32)


def choice() -> Case:
    return case_of(CHOICE, x=X, c=np.array(True))


def called() -> Case:
    case = case_of(CALL, x=X)
    model = load(case)
    model.opset_import.add(domain="own", version=1)
    return Case("onnx", model.SerializeToString(), case.inputs, case.origin)


def in_body(case: Case, *names: str) -> bool:
    """Whether nodes with these operators follow each other within one body or function."""
    for place in inner_places(case) or [MAIN]:
        part = place.find(load(case))
        makers = {name: node.op_type for node in part.node for name in node.output}
        if any(node.op_type == names[1] and makers.get(node.input[0]) == names[0] for node in part.node):
            return part is not load(case).graph and place is not MAIN
    return False


def test_the_wiring_knows_producers_consumers_and_readers_of_one_tensor() -> None:
    found = wiring(load(case_of("g (float[2] x) => (float[2] y) { a = Exp(x) b = Abs(x) y = Add(a, b) }")).graph)
    assert found.operators == ("Exp", "Abs", "Add")
    assert found.edges == ((0, 2), (1, 2)) and found.groups == ((0, 1),)


def test_every_body_and_function_of_several_nodes_is_a_place() -> None:
    counts = [[len(place.find(load(case)).node) for place in inner_places(case)] for case in (choice(), called())]
    assert counts == [[4, 2], [4]]


@pytest.mark.parametrize("case", [choice(), called(), case_of(LOOP, n=np.array(2), start=X)])
def test_any_nodes_of_a_body_or_function_can_go_and_the_rest_stays_valid(case: Case) -> None:
    for place in inner_places(case):
        count = len(place.find(load(case)).node)
        for gone in range(count):
            cuts = place.cut(case, frozenset(range(count)) - {gone}, {})
            assert any(valid(cut) for cut in cuts), gone


@pytest.mark.parametrize("case", [choice(), called()])
def test_a_bug_inside_a_body_or_function_keeps_two_nodes_there(case: Case) -> None:
    found = reduce(case, lambda each: in_body(each, "Exp", "Neg"), values=record, valid=valid)
    place = inner_places(found.case)[0]
    assert [node.op_type for node in place.find(load(found.case)).node] == ["Exp", "Neg"]
    assert valid(found.case)


def test_a_bug_that_needs_no_branch_loses_the_if() -> None:
    def exp(case: Case) -> bool:
        return b"Exp" in case.model

    assert [node.op_type for node in load(reduce(choice(), exp, values=record, valid=valid).case).graph.node] == ["Exp"]


IN_FUNCTION = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
g (float[2] x, bool c) => (float[2] y) { y = own.f(c, x) }
<domain: "own", opset_import: ["": 21]> f (c, p) => (r) {
    r = If(c) <then_branch = t () => (float[2] e) { a = Neg(p) b = Abs(a) d = Erf(b) h = Exp(d) e = Sin(h) },
               else_branch = u () => (float[2] v) { v = Tan(p) }> }"""


def test_the_nodes_of_a_body_in_a_function_are_searched() -> None:
    def holds(case: Case) -> bool:
        nodes = [node for function in load(case).functions for node in function.node]
        return any(inner.op_type == "Erf" for node in nodes for body in bodies(node) for inner in body.node)

    model = parser.parse_model(IN_FUNCTION).SerializeToString()
    case = Case("onnx", model, {"x": np.float32([1, 2]), "c": np.array(True)}, Origin("test"))
    found = reduce(case, holds, values=record, valid=valid).case
    [branch] = [body for body in _bodies_of(found) if any(node.op_type == "Erf" for node in body.node)]
    assert [node.op_type for node in branch.node] == ["Erf"] and valid(found)


def _bodies_of(case: Case) -> list[onnx.GraphProto]:
    return [body for function in load(case).functions for node in function.node for body in bodies(node)]


def test_a_condition_that_is_computed_of_a_bodys_constant_can_go() -> None:
    """The constant has a type as well, and no condition is fed from a whole number."""
    text = """g (int64 n, float[2] start) => (float[2] last) {
    last = Loop(n, , start) <body = b (int64 i, bool go, float[2] v) => (bool more, float[2] w) <int64 zero = {0}> {
        more = Identity(go)
        c = Greater(i, zero)
        w = If(c) <
            then_branch = t () => (float[2] p) { p = Mod<fmod = 1>(v, v) },
            else_branch = e () => (float[2] q) { q = Neg(v) }>
    }> }"""
    case = case_of(text, n=np.array(3), start=X)
    [place] = inner_places(case)
    operators = [node.op_type for node in place.find(load(case)).node]
    cut = place.cut(case, frozenset([operators.index("If")]), {})[0]
    assert valid(cut)
    kept = list(place.find(load(cut)).node)
    assert {"If", "Constant"} <= {node.op_type for node in kept} and "Greater" not in {node.op_type for node in kept}


def test_what_nothing_else_keeps_alive_takes_the_place_of_a_result_that_a_dropped_node_made() -> None:
    text = """g (float[2,3] x) => (float[2,3] y) { y = own.f(x) }
<domain: "own", opset_import: ["": 21]> f (x) => (y)
        { m = Neg(x) d = Sub(x, m) s = Mul(d, d) y = Div(d, s) }"""
    case = case_of(text, x=np.ones((2, 3), np.float32))
    [place] = inner_places(case)
    first, *_ = place.cut(case, frozenset({0, 1, 2}), {})
    function = load(first).functions[0]
    assert [(node.op_type, *node.output) for node in function.node] == [("Neg", "m"), ("Sub", "d"), ("Mul", "y")]
