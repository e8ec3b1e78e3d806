"""A wrong result of several operators is one operator's bug where that one is wrong alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Origin, Stage
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import roots
from triage.operators import operators

PLANTED = catalogue.target(str(Path(__file__).with_name("planted.py")))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case(body: str, inputs: str, **values: np.ndarray) -> Case:
    text = f'<ir_version: 8, opset_import: ["": 17]> g ({inputs}) => (float[n] y) {{ {body} }}'
    return Case("onnx", parser.parse_model(text).SerializeToString(), values, Origin("test"))


def test_the_first_operator_that_is_wrong_alone_is_the_bug_however_it_shows_later(judge: Judge) -> None:
    body = "m = ReduceMax <keepdims = 1> (x) same = Equal(m, low) y = Where(same, a, b)"
    numbers = {"x": [-np.inf], "low": [-np.inf], "a": [0], "b": [np.nan]}
    given = {name: np.array(value, np.float32) for name, value in numbers.items()}
    failing = case(body, "float[1] x, float[1] low, float[1] a, float[1] b", **given)
    failure = judge.examine(failing, catalogue.target("openvino")).failure
    assert failure is not None and failure.symptom == "wrong:nan"
    found = roots.root(judge, failure)
    assert found is not None and found.symptom == "wrong:inf"
    assert [name for _, name, _ in operators(found.case)] == ["ReduceMax"]


def test_an_exception_comes_of_the_operator_that_gives_the_one_which_raises_another_shape(judge: Judge) -> None:
    """TVM declares LayerNormalization's mean as a scalar."""
    body = "t, m, y0 = LayerNormalization(x, w) y = Softmax(m)"
    given = {"x": np.float32([1, 2]), "w": np.float32([1, 2])}
    failing = case(body, "float[2] x, float[2] w", **given)
    failure = judge.examine(failing, catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom.startswith("exception:")
    found = roots.root(judge, failure)
    assert found is not None and found.symptom == "wrong:shape"
    assert [name for _, name, _ in operators(found.case)] == ["LayerNormalization"]


def test_an_exception_that_one_operator_raises_alone_is_its_bug(judge: Judge) -> None:
    """OpenVINO wants the indices of GatherElements to be as many as the data but along its axis."""
    body = "t = Slice(x, s, e) y = GatherElements(t, i)"
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[3,3] x, int64[2,2] i) => (float[2,2] y)'
        f" <int64[1] s = {{0}}, int64[1] e = {{3}}> {{ {body} }}"
    )
    inputs = {"x": np.ones((3, 3), np.float32), "i": np.zeros((2, 2), np.int64)}
    failing = Case("onnx", model.SerializeToString(), inputs, Origin("test"))
    failure = judge.examine(failing, catalogue.target("openvino")).failure
    assert failure is not None and failure.symptom == "exception:RuntimeError"
    found = roots.root(judge, failure)
    assert found is not None and [name for _, name, _ in operators(found.case)] == ["GatherElements"]


def test_a_death_is_the_bug_of_the_operator_that_dies_alone_as_early(judge: Judge) -> None:
    failing = case("t = Abs(x) y = Sign(t)", "float[2] x", x=np.float32([1, 2]))
    failure = judge.examine(failing, PLANTED).failure
    assert failure is not None and failure.symptom == "crash:SIGSEGV"
    found = roots.root(judge, failure)
    assert found is not None and [name for _, name, _ in operators(found.case)] == ["Sign"]
    earlier = replace(failure, outcome=replace(failure.outcome, stage=Stage.CONVERT))
    assert roots.root(judge, earlier) is None


def test_an_exception_has_no_root_where_an_operator_raises_something_else(judge: Judge) -> None:
    """TVM does not lower an RMSNormalization of an unknown shape; that of a known one raises in a pass."""
    model = parser.parse_model("""
        <ir_version: 11, opset_import: ["" : 23]> g (float[2,2] x) => (float[2] y)
        <bool[3] at = {1, 0, 1}, float[2] scale = {1, 2}> { part = Compress (x, at) y = RMSNormalization (part, scale) }
    """)
    failing = Case("onnx", model.SerializeToString(), {"x": np.float32([[1, 2], [3, 4]])}, Origin("test"))
    failure = judge.examine(failing, catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom.startswith("exception:")
    assert roots.root(judge, failure) is None


def test_an_operator_that_is_wrong_only_together_with_others_has_no_root(judge: Judge) -> None:
    single = case("y = Sinh(x)", "float[2] x", x=np.float32([1, 2]))
    failure = judge.examine(single, PLANTED).failure
    assert failure is not None and roots.root(judge, failure) is None


def test_an_operator_that_is_wrong_by_the_conversion_of_its_inputs_alone_is_no_bug_of_its_own(judge: Judge) -> None:
    text = '<ir_version: 8, opset_import: ["": 17]> g (double[2] x) => (bool[2] y) { y = IsInf(x) }'
    model = parser.parse_model(text).SerializeToString()
    failing = Case("onnx", model, {"x": np.array([-np.inf, -np.inf])}, Origin("test"))
    failure = judge.examine(failing, catalogue.target("openvino")).failure
    assert failure is not None and failure.symptom == "wrong:values"
    found = roots.root(judge, failure)
    assert found is not None and found.symptom == "wrong:inf"
    assert [name for _, name, _ in operators(found.case)] == ["Cast"]


def test_an_operator_that_is_wrong_in_another_way_than_its_inputs_conversion_keeps_its_bug(judge: Judge) -> None:
    """Sinh is off by a constant in the planted backend, and casts there are right."""
    text = '<ir_version: 8, opset_import: ["": 17]> g (double[2] x) => (double[2] y) { y = Sinh(x) }'
    single = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": np.array([1.0, 2.0])}, Origin("test"))
    failure = judge.examine(single, PLANTED).failure
    assert failure is not None and roots.root(judge, failure) is None
