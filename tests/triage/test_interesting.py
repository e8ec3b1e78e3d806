"""When two failures are the same bug for the reducer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Frame, Origin, Outcome, Stage, Status, Target, Verdict
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage.interesting import recorded, same_signature
from triage.signature import Signature, sign
from triage.trials import Answer

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'


def case_of(text: str, **inputs: np.ndarray) -> Case:
    return Case("onnx", parser.parse_model(HEAD + text).SerializeToString(), inputs, Origin("test"))


CASE = case_of("g (float[2] x) => (float[2] y) { y = Neg(x) }", x=np.ones(2, np.float32))
DIVISION = case_of(
    "g (int32[2] a, int32[2] b) => (int32[2] y) { y = Div(a, b) }", a=np.ones(2, "i4"), b=np.ones(2, "i4")
)


class Scripted(Judge):
    """A judge that knows beforehand how each case ends; reference and recording are real."""

    endings: dict[str, Outcome]
    wanted: dict[str, Outcome]

    def examine(self, case: Case, target: Target, *, fresh: bool = True, perturb: int | None = None) -> Verdict:
        outcome = self.endings[case.id]
        return Verdict(case, target, outcome.status, "", outcome, failure(case, outcome, self.wanted.get(case.id)))


def failure(case: Case, outcome: Outcome, reference: Outcome | None = None) -> Failure:
    symptom = {Status.SIGNAL: "crash:SIGFPE", Status.WRONG: "wrong:values"}.get(outcome.status, "exception:ValueError")
    oracle = "inconsistency" if outcome.status is Status.WRONG else "crash"
    return Failure(case, catalogue.target("tvm"), outcome, reference, oracle, symptom, "")


def signed(found: Failure) -> Signature:
    return sign(found, [("", "Neg", 17)], [""])


def raised(message: str, function: str = "", stage: Stage = Stage.CONVERT) -> Outcome:
    error = Error("ValueError", message, (Frame("/x/frontend.py", 3, "convert"),), conversion_function=function)
    return Outcome(Status.EXCEPTION, stage, error=error)


def result(*numbers: float) -> Outcome:
    return Outcome(Status.WRONG, Stage.RUN, outputs=(("y", np.array(numbers, np.float32)),))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as started:
        yield started


def same(runner: Runner, like: Failure, case: Case, outcome: Outcome, reference: Outcome | None = None) -> bool:
    judge = Scripted(runner, catalogue.target("reference"))
    object.__setattr__(judge, "endings", {case.id: outcome})
    object.__setattr__(judge, "wanted", {case.id: reference} if reference else {})
    return same_signature(judge, like, signed)(case)


def test_the_same_message_about_another_value_name_is_the_same(runner: Runner) -> None:
    long = case_of("g (float[2] x) => (float[2] y) { lv6 = Abs(x) y = Neg(lv6) }", x=np.ones(2, np.float32))
    like = failure(long, raised("the power of lv6 is wrong"))
    assert same(runner, like, CASE, raised("the power of x is wrong"))
    assert not same(runner, like, CASE, raised("the power of other is wrong"))
    assert not same(runner, like, CASE, raised("the power of x is wrong indeed"))


def test_another_stage_or_conversion_function_is_another_bug(runner: Runner) -> None:
    like = failure(CASE, raised("no", "Neg._impl_v13"))
    assert same(runner, like, CASE, raised("no", "Neg._impl_v13"))
    assert not same(runner, like, CASE, raised("no", "Abs._impl_v13"))
    assert not same(runner, like, CASE, raised("no", "Neg._impl_v13", Stage.COMPILE))


def test_the_same_check_reached_from_another_line_is_another_bug(runner: Runner) -> None:
    def at(line: int) -> Outcome:
        frames = (Frame("c/resize.py", line, "get_inx"), Frame("c/expr.py", 9, "divide"))
        return Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("E", "divide by zero", frames))

    like = failure(CASE, at(150))
    assert same(runner, like, CASE, at(150))
    assert not same(runner, like, CASE, at(162))


def test_a_candidate_that_fails_in_another_way_is_told_and_one_that_passes_is_not(runner: Runner) -> None:
    told: list[Failure] = []
    judge = Scripted(runner, catalogue.target("reference"))
    other = case_of("g (float[2] x) => (float[2] y) { y = Abs(x) }", x=np.ones(2, np.float32))
    object.__setattr__(judge, "endings", {CASE.id: raised("no"), other.id: raised("no, and why")})
    object.__setattr__(judge, "wanted", {})
    interesting = same_signature(judge, failure(CASE, raised("no")), signed, slipped=told.append)
    assert [interesting(CASE), interesting(other)] == [Answer.SAME, Answer.OTHER]
    assert [found.case.id for found in told] == [other.id]


def test_validity_is_the_references_word_and_asked_for_once(runner: Runner) -> None:
    values = recorded(runner, catalogue.target("reference"))
    assert values.valid(CASE) and values.valid(CASE)
    wrong = case_of("g (float[2] x) => (float[2] y) { y = Reshape(x, x) }", x=np.ones(2, np.float32))
    assert not values.valid(wrong)
    assert dict(values(wrong)) == dict(wrong.inputs)


def test_a_grossly_wrong_result_must_not_shrink_to_noise(runner: Runner) -> None:
    like = failure(CASE, result(5, 5), result(1, 1))
    assert same(runner, like, CASE, result(2, 1), result(1, 1))
    assert not same(runner, like, CASE, result(1.003, 1), result(1, 1))
    noisy = failure(CASE, result(1.003, 1), result(1, 1))
    assert same(runner, noisy, CASE, result(1.004, 1), result(1, 1))


def test_a_crash_must_not_slide_into_a_division_by_zero(runner: Runner) -> None:
    crash = Outcome(Status.SIGNAL, Stage.RUN, error=Error(signal="SIGFPE"))
    by_zero = replace(DIVISION, inputs={"a": np.ones(2, "i4"), "b": np.zeros(2, "i4")})
    assert same(runner, failure(DIVISION, crash), DIVISION, crash)
    assert not same(runner, failure(DIVISION, crash), by_zero, crash)
    assert same(runner, failure(by_zero, crash), by_zero, crash)


def test_what_is_refused_must_not_become_random(runner: Runner) -> None:
    """A report would show an expected result that nobody sees again."""
    tensor = '"tensors": [{"dtype": "float32", "shape": [2], "values": [1, 2]}]'
    head = f'{{"library": "torch", "api": "torch.nn.functional.dropout", "args": [{{"tensor": 0}}], {tensor}'
    every, some = (
        Case("instance", f'{head}, "kwargs": {{"p": {share}, "training": true}}}}'.encode(), {}, Origin("test"))
        for share in (0.0, 0.5)
    )
    assert same(runner, failure(every, raised("no")), every, raised("no"))
    assert not same(runner, failure(every, raised("no")), some, raised("no"))
    assert same(runner, failure(some, raised("no")), some, raised("no")), "what was random may stay so"


def test_what_another_implementation_takes_must_stay_something_that_it_takes(runner: Runner) -> None:
    text = "g (int64[1] i, int64 depth, float[2] v) => (float[1, n] y) { y = OneHot(i, depth, v) }"
    given = {"i": np.zeros(1, np.int64), "v": np.float32([0, 1])}
    three = case_of(text, **given, depth=np.array(3, np.int64))
    none = case_of(text, **given, depth=np.array(0, np.int64))
    assert same(runner, failure(three, raised("no")), three, raised("no"))
    assert not same(runner, failure(three, raised("no")), none, raised("no"))
    assert same(runner, failure(none, raised("no")), none, raised("no"))


def test_recording_gives_inputs_intermediates_and_outputs(runner: Runner) -> None:
    case = case_of("g (float[2] x) => (float[2] y) { t = Abs(x) y = Neg(t) }", x=np.array([-1, 2], np.float32))
    values = recorded(runner, catalogue.target("reference"))(case)
    assert {name: np.asarray(value).tolist() for name, value in values.items()} == {
        "x": [-1, 2],
        "t": [1, 2],
        "y": [-1, -2],
    }


def test_recording_a_case_that_the_reference_rejects_gives_its_inputs(runner: Runner) -> None:
    broken = replace(CASE, inputs={"x": np.ones((2, 7, 1), np.float32)}, model=CASE.model.replace(b"Neg", b"Nog"))
    assert list(recorded(runner, catalogue.target("reference"))(broken)) == ["x"]


def test_a_wrong_result_keeps_the_options_that_it_needs(runner: Runner) -> None:
    def softmax(axis: int) -> Case:
        text = f"g (float[2] x) => (float[2] y) {{ y = Softmax <axis = {axis}> (x) }}"
        return case_of(text, x=np.ones(2, np.float32))

    like, other = softmax(0), softmax(-1)
    judge = Scripted(runner, catalogue.target("reference"))
    object.__setattr__(judge, "endings", {case.id: result(5, 5) for case in (like, other)})
    object.__setattr__(judge, "wanted", {case.id: result(1, 1) for case in (like, other)})
    failing = failure(like, result(5, 5), result(1, 1))
    plain = same_signature(judge, failing, signed)
    strict = same_signature(judge, failing, signed, needs=frozenset({"axis"}))
    assert plain(like) and plain(other) and strict(like)
    assert not strict(other)  # the default axis: wrong for another reason
