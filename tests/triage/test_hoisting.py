"""What stands in a body is tried without it, and the body without what it computes, on the real compilers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import hoisting, titles
from triage.bits import identical
from triage.conditions import conditions
from triage.submodel import load
from triage.variants import unread
from triage.witness import better

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(text: str, **inputs: np.ndarray) -> Case:
    model = parser.parse_model(f"{HEAD} {text}")
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def failure_of(judge: Judge, case: Case, backend: str) -> Failure:
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return failure


BRANCHES = """
g (bool c, double[1] x) => (double[1] y) {
    y = If (c) <then_branch: graph = then () => (double[1] a) <double[1] k = {1}> { a = Add (x, k) },
                else_branch: graph = else () => (double[1] b) { b = ThresholdedRelu (x) }>
}
"""


def test_an_operator_that_fails_by_itself_is_not_shown_in_a_branch(judge: Judge) -> None:
    pytest.importorskip("tvm")
    case = case_of(BRANCHES, c=np.array(False), x=np.ones(1))
    found = better(judge, failure_of(judge, case, "tvm"))
    assert [node.op_type for node in load(found.case).graph.node] == ["ThresholdedRelu"]
    assert list(found.case.inputs) == ["x"]


def test_each_branch_takes_the_place_of_its_if_with_its_constants() -> None:
    then, other = hoisting.hoisted(case_of(BRANCHES, c=np.array(False), x=np.ones(1)))
    assert [node.op_type for node in load(then).graph.node] == ["Add"]
    assert [tensor.name for tensor in load(then).graph.initializer] == ["k"]
    for each in (then, other):
        onnx.checker.check_model(load(each), full_check=True)


def test_a_branch_that_hands_out_a_value_of_the_outer_model_stays_where_it_is() -> None:
    text = """
    g (bool c, float[1] x) => (float[1] y) {
        y = If (c) <then_branch: graph = then () => (float[1] a) <float[1] a = {1}> {},
                    else_branch: graph = else () => (float[1] b) { b = Abs (x) }>
    }
    """
    [only] = hoisting.hoisted(case_of(text, c=np.array(False), x=np.ones(1, np.float32)))
    assert [node.op_type for node in load(only).graph.node] == ["Abs"]


SCAN = """
g (float[1] x) => (float[1,2] y) {
    y = Scan (x) <num_scan_inputs = 1, body: graph = body (float e) => (float[2] r)
        <float[3] k = {1,2,3}, bool[3] m = {1,0,1}> { r = Compress (k, m) }>
}
"""


def test_a_body_that_need_not_compute_anything_holds_constants_and_that_its_input_is_unread_is_told(
    judge: Judge,
) -> None:
    pytest.importorskip("openvino")
    failure = better(judge, failure_of(judge, case_of(SCAN, x=np.ones(1, np.float32)), "openvino"))
    [body] = [attribute.g for attribute in load(failure.case).graph.node[0].attribute if attribute.HasField("g")]
    assert not body.node
    found = conditions(judge, failure)
    assert titles.subject(failure.case, ["Scan"], found) == "Scan with an unread body input"


@pytest.mark.parametrize(("kind", "value"), [("float", "2"), ("int64", "2"), ("bool", "1")])
def test_a_body_reads_what_it_did_not_read_and_gives_the_same(judge: Judge, kind: str, value: str) -> None:
    text = f"""
    g (bool[2] x) => ({kind}[2] y) {{
        y = Scan (x) <num_scan_inputs = 1, body: graph = body (bool e) => ({kind} r) <{kind} k = {{{value}}}> {{
            r = Identity (k)
        }}>
    }}
    """
    case = case_of(text, x=np.array([True, False]))
    [only] = unread.variants(case)
    before, after = (judge.runner.run(one, judge.reference) for one in (case, *only.cases))
    assert len(before.outputs) == 1 and identical(before, after)


def test_the_shapes_of_bodies_are_those_of_their_results() -> None:
    [bare] = hoisting.bare(
        case_of(SCAN.replace("(float[2] r)", "(float[n] r)"), x=np.ones(1, np.float32)), {"y": (1, 2)}
    )
    onnx.checker.check_model(load(bare), full_check=True)
    assert not list(hoisting.bare(case_of(SCAN.replace("(float[2] r)", "(float[n] r)"), x=np.ones(1, np.float32)), {}))


OUTER = """
g (float[1,2] x) => (float[1,2] y) {
    y = Scan (x, x) <num_scan_inputs = 1, body: graph = body (float[1,2] s, float[2] e) => (float[1,2] n) {
        t = ReduceSum <keepdims = 0> (e)
        u = Add (s, t)
        n = Add (u, x)
    }>
}
"""


def test_what_a_body_reads_from_outside_is_told_although_the_node_reads_it_too(judge: Judge) -> None:
    pytest.importorskip("openvino")
    failure = better(judge, failure_of(judge, case_of(OUTER, x=np.ones((1, 2), np.float32)), "openvino"))
    found = conditions(judge, failure)
    assert titles.subject(failure.case, ["Scan"], found) == "Scan with non-constant value from outside the body"


LOOP = """
g (float[2] x) => (float[2] y) {
    n = Constant <value_int = 2> ()
    go = Constant <value = bool {1}> ()
    y = Loop (n, go, x) <body: graph = step (int64 i, bool more, float[2] v) => (bool again, float[2] w)
        <bool again = {1}> { w = Neg (v) }>
}
"""


def test_reading_what_a_loop_leaves_unread_changes_neither_its_condition_nor_its_numbers(judge: Judge) -> None:
    case = case_of(LOOP, x=np.float32([np.inf, 1]))
    [only] = unread.variants(case)
    body = load(only.cases[0]).graph.node[-1].attribute[0].g
    assert body.output[0].name == "again" and body.output[1].name != "w"
    plain, read = (judge.runner.run(one, judge.reference) for one in (case, only.cases[0]))
    assert identical(plain, read)


def test_a_body_whose_result_has_no_declared_shape_is_not_emptied_to_a_scalar() -> None:
    case = case_of(BRANCHES, c=np.array(False), x=np.ones(1))
    model = load(case)
    for attribute in model.graph.node[0].attribute:
        attribute.g.output[0].type.tensor_type.ClearField("shape")
    open_ = Case("onnx", model.SerializeToString(), case.inputs, case.origin)
    assert list(hoisting.bare(open_, {})) == []
    [emptied] = hoisting.bare(open_, {"y": (1,)})
    for attribute in load(emptied).graph.node[0].attribute:
        assert list(attribute.g.initializer[-1].dims) == [1]
