"""A wrong type of numbers drawn at random is told by itself, and shown without chance where that is possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin, Status
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.checks import checks
from triage.drawn import drawn, form_alone, settled
from triage.harm import harmful, wrong_values
from triage.titles import wrong
from triage.witness import better

NARROW = catalogue.target(str(Path(__file__).with_name("planted_types.py")))
TRAINING = """<ir_version: 10, opset_import: ["" : 22]>
g (float[3, 4] x) => (float[3, 4] y, bool[3, 4] mask) <float r = {0.75}, bool t = {1}>
{ y, mask = Dropout <seed = 0> (x, r, t) }"""
DRAWING = """<ir_version: 10, opset_import: ["" : 22]>
g (float[3, 4] x) => (int64[3, 4] y) {
    r = RandomUniformLike <dtype = 1, high = 9.0> (x)
    y = Cast <to = 7> (r)
}"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def failure(judge: Judge, text: str) -> Failure:
    model = parser.parse_model(text).SerializeToString()
    case = Case("onnx", model, {"x": np.full((3, 4), 2, np.float32)}, Origin("test"))
    found = judge.examine(case, NARROW).failure
    assert found is not None and found.symptom == "wrong:dtype"
    return found


def test_both_results_of_a_dropout_that_trains_are_random(judge: Judge) -> None:
    found = failure(judge, TRAINING)
    assert found.reference is not None
    assert drawn(found.case, found.reference) == {0, 1}
    assert wrong(found.case, found.outcome, settled(found).reference) == "returns int8 instead of bool for output mask"
    assert not wrong_values(found) and harmful(judge, found) is None
    others = tuple((name, 1 - np.asarray(value) if name == "mask" else value) for name, value in found.outcome.outputs)
    assert not wrong_values(replace(found, outcome=replace(found.outcome, outputs=others))), "another draw"


def test_a_dropout_that_does_not_train_shows_the_same_without_chance(judge: Judge) -> None:
    shown = better(judge, failure(judge, TRAINING))
    assert shown.reference is not None
    assert drawn(shown.case, shown.reference) == frozenset()
    assert shown.symptom == "wrong:dtype"


def test_what_nothing_makes_certain_is_asked_for_its_type_alone(judge: Judge) -> None:
    found = settled(failure(judge, DRAWING))
    assert found.reference is not None
    made = checks(found.case, found.outcome, found.reference, found.symptom)
    assert made.lines(shown=True) == [
        """print("expected:", 'int64', "actual:", actual.dtype, sep="\\n")""",
        'assert actual.dtype.name == "int64", actual.dtype',
    ]


def test_what_is_wrong_beside_random_numbers_is_compared(judge: Judge) -> None:
    """The random numbers and the others are in one tensor: types and shapes are right."""
    found = failure(judge, DRAWING)
    assert found.reference is not None
    beside = replace(found, outcome=replace(found.reference, status=Status.WRONG))
    assert form_alone(beside.case, beside.outcome, found.reference) == frozenset()
    assert settled(beside) == beside


def test_random_numbers_beside_another_wrong_result_are_not_compared(judge: Judge) -> None:
    text = TRAINING.replace("(float[3, 4] y, bool[3, 4] mask)", "(float[3, 4] y, int64[3, 4] n)").replace(
        "y, mask = Dropout <seed = 0> (x, r, t)", "y = Dropout <seed = 0> (x, r, t) n = Cast <to = 7> (x)"
    )
    found = failure(judge, text)
    assert found.reference is not None
    (y, _), (n, number) = found.reference.outputs
    other = replace(found.outcome, outputs=((y, np.zeros((3, 4), np.float32)), (n, np.asarray(number) + 1)))
    assert form_alone(found.case, other, found.reference) == {0}
    made = checks(found.case, other, found.reference, "wrong:values")
    assert made.pairs == (("expected", "actual[1]"),) or made.pairs == (("expected_1", "actual[1]"),)


def test_of_a_random_sequence_the_length_is_asked_for(judge: Judge) -> None:
    found = failure(judge, DRAWING)
    assert found.reference is not None
    several = replace(found.reference, outputs=(("y", [np.zeros(2)] * 3),))
    made = checks(found.case, replace(found.outcome, outputs=(("y", [np.zeros(2)] * 2),)), several, "wrong:count")
    assert made.statements == ("assert actual is not None and len(actual) == 3",)
