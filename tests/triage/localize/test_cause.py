"""The guess at a root cause: made only where the symptom points to one class."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.wire import Value
from triage.localize import cause
from triage.localize.location import Location

CASE = Case("onnx", b"", {}, Origin("test"))
TARGET = Target("tvm", Revision("1"))


def crash(symptom: str, message: str) -> Failure:
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error(symptom.partition(":")[2], message))
    return Failure(CASE, TARGET, outcome, None, "crash", symptom, message)


def wrong(symptom: str, expected: Value, actual: Value) -> Failure:
    reference = Outcome(Status.OK, Stage.RUN, outputs=(("y", expected),))
    return Failure(
        CASE, TARGET, Outcome(Status.WRONG, Stage.RUN, outputs=(("y", actual),)), reference, "i", symptom, ""
    )


@pytest.mark.parametrize(
    ("symptom", "message", "expected"),
    [
        ("exception:KeyError", "'num_heads'", cause.LOGIC),
        ("exception:AttributeError", "'Var' object has no attribute 'value'", cause.LOGIC),
        ("exception:ValueError", "Binary operators must have the same datatype", cause.TYPE),
        ("exception:ValueError", "Concat expects all input tensors to have same ndim", cause.SHAPE),
        ("exception:ValueError", "the shape and the dtype do not fit", ""),
        ("exception:ValueError", "no value in Constant", ""),
        ("exception:ValueError", "", ""),
        ("crash:SIGSEGV", "", ""),
        ("hang", "", ""),
        ("oom", "", cause.MEMORY),
        ("dies-on-invalid:SIGFPE", "", cause.HANDLING),
    ],
)
def test_a_crash_points_to_a_cause_or_to_none(symptom: str, message: str, expected: str) -> None:
    assert cause.locate(crash(symptom, message), Location()).root_cause == expected


@pytest.mark.parametrize(
    ("symptom", "expected", "actual", "guess"),
    [
        ("wrong:dtype", np.int64([1]), np.int32([1]), cause.TYPE),
        ("wrong:shape", np.zeros((2, 1)), np.zeros(2), cause.SHAPE),
        ("wrong:values", np.arange(6.0).reshape(2, 3), np.arange(6.0)[::-1].reshape(2, 3), cause.LOGIC),
        ("wrong:values", np.arange(6.0), np.arange(6.0) * 2, cause.NUMERICAL),
        ("wrong:values", np.arange(6.0), np.array([9.0, 0.3, -7, 1, 8, 0.5]), ""),
    ],
)
def test_a_wrong_result_points_to_a_cause_or_to_none(symptom: str, expected: Value, actual: Value, guess: str) -> None:
    found = cause.locate(wrong(symptom, expected, actual), Location())
    assert found.root_cause == guess
    assert all("perhaps" in sentence for sentence in found.evidence)  # a guess is called one


def test_a_result_that_varies_with_fresh_memory_is_a_problem_of_memory() -> None:
    failure = wrong("wrong:values", np.arange(6.0), np.arange(6.0) * 2)
    assert cause.locate(failure, Location(), perturbed=True).root_cause == cause.MEMORY
