"""Invalid models that only a failure brings to light, judged with real compilers and a really dying one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue, validity
from fuzz.case import Case, Origin, Outcome, Stage, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.wire import Value

HEAD = '<ir_version: 10, opset_import: ["": 20]>\n'
#: What is given to Range is seen to be no scalar by who folds constants only.
RANGE = """g () => (float[k] y)
<float[1] x = {0.0}, int64[SIZES] shape = {ONES}, float limit = {3.0}, float delta = {1.0}> {
  start = Reshape(x, shape) y = Range(start, limit, delta)
}"""
SLICE = "g (float[n] x, int64[2] at, int64[1] to) => (float[k] y) { y = Slice(x, at, to) }"
DIVISION = "g (int32[2] a, int32[2] b) => (int32[2] y) { y = Div(a, b) }"


def case_of(text: str, **inputs: Value) -> Case:
    return Case("onnx", parser.parse_model(HEAD + text).SerializeToString(), inputs, Origin("test"))


def range_from(rank: int) -> Case:
    text = RANGE.replace("SIZES", str(rank)).replace("ONES", ", ".join(["1"] * rank))
    return case_of(text)


def i32(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


@pytest.fixture(scope="module")
def onnxruntime() -> Target:
    return catalogue.target("onnxruntime")


def relu(fault: str, count: int) -> Case:
    """Relu of `count` numbers, of which the model declares three; `fault` is what the planted backend does."""
    model = parser.parse_model(HEAD + "g (float[3] x) => (float[3] y) { y = Relu(x) }")
    model.graph.doc_string = f"fault:{fault};"
    return Case("onnx", model.SerializeToString(), {"x": np.ones(count, np.float32)}, Origin("planted"))


def test_an_exception_on_a_model_that_breaks_the_specification_is_no_failure(judge: Judge, onnxruntime: Target) -> None:
    verdict = judge.examine(range_from(1), onnxruntime)
    assert verdict.outcome is not None and verdict.outcome.status is Status.EXCEPTION
    assert (verdict.status, verdict.failure) == (Status.INVALID, None)
    assert verdict.reason == "breaks the specification: Range: start, limit or delta is not a scalar"


def test_the_same_model_with_a_scalar_passes(judge: Judge, onnxruntime: Target) -> None:
    assert judge.examine(range_from(0), onnxruntime).status is Status.OK


def test_a_compiler_that_computes_an_invalid_model_like_numpy_passes(judge: Judge) -> None:
    """Nothing is recorded of a case that does not fail: the second run of the reference would cost too much."""
    assert judge.examine(range_from(1), catalogue.target("reference")).status is Status.OK


def test_a_wrong_value_of_an_invalid_model_is_no_failure(judge: Judge, faulty: Target) -> None:
    assert judge.examine(relu("wrong_result", 3), faulty).status is Status.WRONG
    verdict = judge.examine(relu("wrong_result", 2), faulty)
    assert (verdict.status, verdict.failure) == (Status.INVALID, None)
    assert verdict.reason.endswith("(declaration) 'x': the input has another shape than the model declares for it")


def test_dying_of_an_invalid_model_is_a_failure_of_its_own_class(judge: Judge, faulty: Target) -> None:
    verdict = judge.examine(relu("null_dereference", 2), faulty)
    assert verdict.status is Status.INVALID
    assert verdict.failure is not None
    assert verdict.failure.symptom == "dies-on-invalid:crash:SIGSEGV"
    assert "breaks the specification" in verdict.failure.detail
    valid = judge.examine(relu("null_dereference", 3), faulty)
    assert valid.failure is not None and valid.failure.symptom == "crash:SIGSEGV"


def test_dying_of_an_invalid_model_counts_only_when_asked_for(judge: Judge, faulty: Target) -> None:
    verdict = replace(judge, counts_invalid=False).examine(relu("null_dereference", 2), faulty)
    assert (verdict.status, verdict.failure) == (Status.INVALID, None)
    assert verdict.reason.startswith("breaks the specification: ")


def test_refusing_to_divide_by_zero_is_a_fair_answer(judge: Judge, onnxruntime: Target) -> None:
    verdict = judge.examine(case_of(DIVISION, a=i32(7, 7), b=i32(0, 1)), onnxruntime)
    assert verdict.outcome is not None and verdict.outcome.status is Status.EXCEPTION
    assert verdict.status is Status.SKIPPED
    assert verdict.reason == "may be refused: Div: an integer is divided by zero"


def test_the_trap_of_a_processor_that_divides_by_zero_is_a_fair_answer_while_the_model_runs(judge: Judge) -> None:
    case = case_of(DIVISION, a=i32(7, 7), b=i32(0, 1))
    verdict = judge.examine(case, catalogue.target("tvm"))
    assert verdict.outcome is not None and verdict.outcome.error is not None
    assert (verdict.outcome.stage, verdict.outcome.error.signal) == (Stage.RUN, "SIGFPE")
    assert verdict.status is Status.SKIPPED
    assert verdict.reason == "may end by SIGFPE: Div: an integer is divided by zero"
    for other in (replace(verdict.outcome, stage=Stage.COMPILE), with_signal(verdict.outcome, "SIGSEGV")):
        assert validity.trapping(case, case.inputs, other) == ""
    whole = case_of(DIVISION, a=i32(7, 7), b=i32(2, 1))
    assert validity.trapping(whole, whole.inputs, verdict.outcome) == ""


def with_signal(outcome: Outcome, signal: str) -> Outcome:
    assert outcome.error is not None
    return replace(outcome, error=replace(outcome.error, signal=signal))


def test_dying_of_an_undefined_division_is_still_a_failure(judge: Judge, onnxruntime: Target) -> None:
    verdict = judge.examine(case_of(DIVISION, a=i32(-(2**31), 7), b=i32(-1, 1)), onnxruntime)
    assert verdict.failure is not None and verdict.failure.symptom == "crash:SIGFPE"


def test_recording_keeps_the_inputs_of_a_case_that_cannot_be_evaluated(judge: Judge) -> None:
    x, at, to = np.ones(3, np.float32), np.zeros(2, np.int64), np.array([1], np.int64)
    case = case_of(SLICE.replace("Slice(x, at, to)", "Reshape(x, at)"), x=x, at=at + 5, to=to)
    recorded = validity.recorded(judge.runner, case, judge.reference)
    assert set(recorded) == {"x", "at", "to"}
    assert validity.violation(case, recorded) == ""


def test_what_is_found_in_the_inputs_alone_needs_no_evaluation() -> None:
    case = case_of(SLICE, x=np.ones(3, np.float32), at=np.zeros(2, np.int64), to=np.array([1], np.int64))
    reason = "breaks the specification: Slice: starts, ends, axes and steps have different lengths"
    assert validity.violation(case, case.inputs) == reason


def test_an_operator_instance_has_nothing_recorded_and_breaks_no_onnx_rule(judge: Judge) -> None:
    case = Case("instance", b'{"api": "torch.relu", "args": [{"dtype": "float32", "shape": [2]}]}', {}, Origin("test"))
    assert validity.recorded(judge.runner, case, judge.reference) == {}
    assert validity.violation(case, {}) == ""
