"""Whether it matters that one tensor stands in two places, on the real compiler."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions
from triage.submodel import add_initializer, load, with_model
from triage.variants import sharing


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(text: str, **inputs: np.ndarray) -> Case:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}')
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def test_one_tensor_in_two_places_is_the_condition(judge: Judge) -> None:
    pytest.importorskip("openvino")
    case = case_of(
        "g (bool[2] x, bool[2] c) => (bool[2] y) { y = Where (c, x, c) }", x=np.ones(2, bool), c=np.ones(2, bool)
    )
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = conditions(judge, failure)
    assert titles.subject(case, ["Where"], found) == "Where (bool) with one tensor as condition and Y"


def test_places_in_bodies_get_tensors_of_their_own_and_lists_do_not() -> None:
    text = """
    g (bool c, float[1] x) => (float[1] y) {
        y = If (c) <then_branch: graph = then () => (float[1] a) { a = Add (x, x) },
                    else_branch: graph = else () => (float[2] b) { b = Concat <axis = 0> (x, x) }>
    }
    """
    [only] = sharing.variants(case_of(text, c=np.array(True), x=np.ones(1, np.float32)))
    assert only.text == "one tensor as A and B" and list(only.cases[0].inputs) == ["c", "x", "x_1"]


def test_a_new_tensor_never_takes_the_name_of_another() -> None:
    given = {"x": np.ones(1, np.float32), "x_1": np.full(1, 7, np.float32)}
    text = "g (float[1] x, float[1] x_1) => (float[1] y) { a = Add (x, x) y = Mul (a, x_1) }"
    [only] = sharing.variants(case_of(text, **given))
    assert list(only.cases[0].inputs) == ["x", "x_1", "x_1_2"]
    np.testing.assert_array_equal(only.cases[0].inputs["x_1"], given["x_1"])


RNNS = """
g (float[3,3,2] x) => (float[3,1,3,2] y, float[3,1,3,1] z) {
    y = RNN <hidden_size = 2> (x, W, R)
    z = RNN <hidden_size = 1> (x, V, S)
}
"""


def recurrent() -> Case:
    case = case_of(RNNS, x=np.resize(np.float32([1, 0, 0, 1, 0, 1, 0]), (3, 3, 2)))
    model = load(case)
    weights = {"W": [[[1, 2], [3, 4]]], "R": [[[1, 2], [3, 4]]], "V": [[[1, 2]]], "S": [[[1]]]}
    for name, value in weights.items():
        add_initializer(model, name, np.array(value, np.float32))
    return with_model(case, model)


def test_one_tensor_that_two_nodes_read_is_the_condition_and_both_nodes_are_named(judge: Judge) -> None:
    pytest.importorskip("openvino")
    case = recurrent()
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = conditions(judge, failure)
    assert titles.subject(case, ["RNN"], found) == "RNN + RNN with one tensor as X of both"


def test_nodes_of_other_operators_are_named_with_what_they_call_the_tensor() -> None:
    text = "g (float[2] x) => (float[2] y, float[2] z) { y = Relu (x) z = LeakyRelu (x) }"
    [only] = sharing.variants(case_of(text, x=np.ones(2, np.float32)))
    assert only.text == "one tensor as X of Relu and X of LeakyRelu"
    assert [list(node.input) for node in load(only.cases[0]).graph.node] == [["x"], ["x_1"]]


def test_what_a_node_computes_is_not_taken_apart() -> None:
    text = "g (float[2] x) => (float[2] y, float[2] z) { a = Abs (x) y = Relu (a) z = LeakyRelu (a) }"
    assert not list(sharing.variants(case_of(text, x=np.ones(2, np.float32))))
