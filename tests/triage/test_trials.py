"""Starts of the predicate: counted, remembered, repeated, limited."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz.case import Case, Origin
from triage.submodel import load, rename, with_model
from triage.trials import Answer, Journal, Over, Trials, content

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'


def case_of(op_type: str, size: int = 2) -> Case:
    text = f"g (float[{size}] x) => (float[{size}] y) {{ y = {op_type}(x) }}"
    model = parser.parse_model(HEAD + text).SerializeToString()
    return Case("onnx", model, {"x": np.ones(size, np.float32)}, Origin("test"))


def renamed(case: Case) -> Case:
    model = load(case)
    rename(model, {"x": "something", "y": "else"})
    return with_model(case, model, {"something": case.inputs["x"]})


class Counting:
    """A predicate that says what it is told and remembers what it was asked."""

    def __init__(self, *answers: Answer | bool) -> None:
        self.answers, self.asked = list(answers), list[Case]()

    def __call__(self, case: Case) -> Answer | bool:
        self.asked.append(case)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def test_only_the_same_failure_is_true() -> None:
    assert [bool(answer) for answer in (Answer.SAME, Answer.PASSES, Answer.OTHER)] == [True, False, False]


def test_no_case_is_asked_about_twice() -> None:
    predicate = Counting(True, False)
    trials = Trials(predicate)
    one, other = case_of("Neg"), case_of("Abs")
    assert trials.ask([one, other, one], "x") == [True, False, True]
    assert trials.ask([other, one], "x") == [False, True]
    assert trials.runs == len(predicate.asked) == 2


def test_a_refused_model_is_refused_under_other_names_too_and_an_accepted_one_is_asked_about() -> None:
    predicate = Counting(False, True, True)
    trials = Trials(predicate)
    assert trials.ask([case_of("Neg")], "x") == [False]
    assert trials.ask([renamed(case_of("Neg"))], "x") == [False] and trials.runs == 1
    assert trials.ask([case_of("Abs")], "x") == [True]
    assert trials.ask([renamed(case_of("Abs"))], "x") == [True] and trials.runs == 3


def test_the_content_of_a_model_is_what_names_do_not_change() -> None:
    assert content(case_of("Neg")) == content(renamed(case_of("Neg")))
    assert len({content(case) for case in (case_of("Neg"), case_of("Abs"), case_of("Neg", 3))}) == 3
    other_values = Case("onnx", case_of("Neg").model, {"x": np.zeros(2, np.float32)}, Origin("test"))
    assert content(other_values) != content(case_of("Neg"))


def test_a_candidate_counts_only_if_the_predicate_says_so_every_time() -> None:
    predicate = Counting(True, True, False)
    trials = Trials(predicate, repeats=3)
    assert trials.ask([case_of("Neg")], "x") == [False]
    assert trials.runs == 3
    steady = Trials(Counting(True), repeats=3)
    assert steady.ask([case_of("Neg")], "x") == [True] and steady.runs == 3
    refused = Trials(Counting(False), repeats=3)
    assert refused.ask([case_of("Neg")], "x") == [False] and refused.runs == 1


def test_several_candidates_run_at_a_time() -> None:
    together = threading.Barrier(3, timeout=600)

    def waits_for_the_others(case: Case) -> bool:
        together.wait()
        return True

    trials = Trials(waits_for_the_others, jobs=3)
    assert trials.ask([case_of("Neg"), case_of("Abs"), case_of("Exp")], "x") == [True] * 3
    assert trials.runs == 3


def test_the_cap_and_the_deadline_end_it_before_the_next_start() -> None:
    trials = Trials(Counting(True), most_runs=1)
    trials.ask([case_of("Neg")], "x")
    assert trials.ask([case_of("Neg")], "x") == [True]  # known already
    with pytest.raises(Over):
        trials.ask([case_of("Abs")], "x")
    late = Trials(Counting(True), deadline=5.0, clock=lambda: 6.0)
    with pytest.raises(Over):
        late.ask([case_of("Neg")], "x")
    assert late.first(case_of("Neg"))


def test_a_killed_reduction_goes_on_with_the_answers_that_it_had(tmp_path: Path) -> None:
    path = tmp_path / "small.onnx.journal"
    first = Trials(Counting(True, False), journal=Journal(path, "model and check"))
    first.ask([case_of("Neg"), case_of("Abs")], "x")
    with path.open("a") as file:
        file.write('{"case": "0123", "ans')  # the kill came here
    journal = Journal(path, "model and check")
    predicate = Counting(True)
    second = Trials(predicate, journal=journal)
    assert second.ask([case_of("Neg"), case_of("Abs"), case_of("Exp")], "x") == [True, False, True]
    assert len(predicate.asked) == 1 and second.runs == 3
    again = Trials(Counting(False), journal=Journal(path, "model and check"))
    assert again.runs == 3 and again.ask([case_of("Exp")], "x") == [True]
    journal.finish()
    assert not path.exists()


def test_the_journal_of_another_reduction_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Trials(Counting(True), journal=Journal(path, "one")).ask([case_of("Neg")], "x")
    trials = Trials(Counting(False), journal=Journal(path, "other"))
    assert trials.runs == 0 and trials.ask([case_of("Neg")], "x") == [False]


@pytest.mark.parametrize("text", ["", "no json\n", "[]\n", '{"case": 3}\n{"subject": "one"}\n', "\x00\xff\n"])
def test_a_damaged_journal_is_no_obstacle(text: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text(text)
    assert Trials(Counting(True), journal=Journal(path, "one")).ask([case_of("Neg")], "x") == [True]


def test_models_with_bodies_or_functions_are_known_by_their_bytes() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (float[2] x) => (float[2] y) { y = own.twice(x) }
    <domain: "own", opset_import: ["": 21]> twice (a) => (b) { b = Neg(a) }"""
    model: onnx.ModelProto = parser.parse_model(text)
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    assert content(case) == case.id
