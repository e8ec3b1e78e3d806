"""From a model that breaks the standard on purpose to a report: scripts, titles, severity, and reduction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Error, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.oracles import refusal
from fuzz.runner import Runner
from triage import reproducer, titles
from triage.behaviour import behaviour
from triage.broken_rule import broken_rule
from triage.court.evidence import Ruling
from triage.court.hearing import Court
from triage.interesting import same_signature
from triage.script import script
from triage.severity import severity
from triage.signing import Signer

ACCEPTS = Target(str(Path(__file__).parents[1] / "faulty" / "accepts_anything.py"), Revision("0"))


def broken(text: str = "Concat <axis = 9> (x, x)", kind: str = "attribute") -> Case:
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[n] y) {{ y = {text} }}'
    )
    inputs = {"x": np.array([1, 2], np.float32)}
    return Case("onnx", model.SerializeToString(), inputs, Origin("t", "1", refusal.variant(kind)))


ACCEPTED = Outcome(Status.WRONG, Stage.RUN)
RAISED = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("KeyError", "'axis'"))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


@pytest.mark.parametrize(
    ("symptom", "outcome", "use", "shown"),
    [
        ("accepts-invalid:attribute", ACCEPTED, 'actual = inputs["x"]', True),
        ("accepts-invalid:attribute", ACCEPTED, 'raise ValueError("axis 9 is out of range")', False),
        ("asserts-on-invalid:KeyError", RAISED, 'actual = {}["axis"]', True),
        ("asserts-on-invalid:KeyError", RAISED, 'raise ValueError("axis 9 is out of range")', False),
        ("asserts-on-invalid:KeyError", RAISED, 'actual = inputs["x"]', False),
    ],
)
def test_the_script_fails_only_where_there_is_no_clear_error(
    symptom: str, outcome: Outcome, use: str, shown: bool
) -> None:
    written = script(broken(), outcome, None, symptom, use)
    done = reproducer.rerun(written)
    assert reproducer.reproduces(symptom, "", done) is shown, done
    assert (done.status == 0 and "PASS" in done.output) is not shown


def test_titles_and_sentences_say_that_the_model_is_invalid() -> None:
    case = broken()
    told = titles.happening(case, ACCEPTED, None, "accepts-invalid:attribute", "Concat")
    assert told == "Concat with an invalid attribute is accepted without an error"
    told = titles.happening(case, RAISED, None, "asserts-on-invalid:KeyError", "Concat")
    assert told == "KeyError instead of a clear error when converting Concat (invalid model)"
    rule = "Invalid value for attribute axis"
    told = titles.happening(case, RAISED, None, "asserts-on-invalid:KeyError", "Concat", rule=rule)
    assert told == "KeyError instead of a clear error when converting Concat (invalid model: " + rule + ")"
    told = titles.happening(case, ACCEPTED, None, "accepts-invalid:attribute", "Concat", rule=rule)
    assert told == "Concat with an invalid attribute is accepted without an error: " + rule
    said = behaviour("the ONNX reference evaluator", case, ACCEPTED, None, "accepts-invalid:attribute", 60)
    assert "should refuse it" in said.expected and said.actual == "It is compiled and run without a word."


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        (
            "[ShapeInferenceError] Inference error(s): (op_type:TopK): [ShapeInferenceError] Invalid value of axis",
            "Invalid value of axis",
        ),
        (
            "[ShapeInferenceError] (op_type:Ceil): X typestr: T, has unsupported type: tensor(int64)",
            "X has unsupported type: tensor(int64)",
        ),
        (
            "[ShapeInferenceError] Inference error(s): (op_type:Q): [TypeInferenceError] dtype is no type in node Q.",
            "dtype is no type",
        ),
        ("Required attribute 'axis' is missing.", "Required attribute 'axis' is missing"),
        ("[ShapeInferenceError] " + "word " * 20, ""),
    ],
)
def test_a_title_tells_the_rule_that_an_invalid_model_breaks(said: str, rule: str) -> None:
    assert broken_rule(f"the model is invalid (rejected by onnx.checker: {said})") == rule
    assert broken_rule(said) == ""


@pytest.mark.parametrize("symptom", ["accepts-invalid:rank", "asserts-on-invalid:KeyError"])
def test_it_is_of_low_severity(symptom: str) -> None:
    assert severity(symptom)[0] == "low" and "invalid" in severity(symptom)[1]


def test_the_court_rules_against_the_compiler(runner: Runner) -> None:
    judgement = Court(runner, catalogue.target("reference"), 60).hear(broken(), ACCEPTS)
    assert judgement.verdict is Ruling.COMPILER_BUG
    assert any("must refuse it with a clear error" in each.sentence for each in judgement.evidence)


def test_the_same_model_that_nobody_meant_to_break_is_no_test(runner: Runner) -> None:
    case = replace(broken(), origin=Origin("t"))
    verdict = Judge(runner, catalogue.target("reference")).examine(case, ACCEPTS)
    assert verdict.status is Status.INVALID and verdict.failure is None


def test_a_reduction_must_break_the_same_rule(runner: Runner) -> None:
    judge = Judge(runner, catalogue.target("reference"))
    like = judge.examine(broken(), ACCEPTS).failure
    assert like is not None and like.symptom == "accepts-invalid:attribute"
    interesting = same_signature(judge, like, Signer(runner).sign)
    assert interesting(broken("Concat <axis = 12> (x, x)"))
    assert not interesting(broken("Concat (x, x)"))
    assert not interesting(broken("Concat <axis = 0> (x, x)"))
