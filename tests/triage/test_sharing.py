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
