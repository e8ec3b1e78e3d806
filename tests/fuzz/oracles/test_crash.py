"""The crash oracle: which outcomes count, and what they are called."""

import pytest

from fuzz.case import Error, Outcome, Stage, Status
from fuzz.oracles import crash


def outcome(status: Status, **error: str) -> Outcome:
    return Outcome(status, Stage.RUN, error=Error(**error) if error else None)


@pytest.mark.parametrize(
    ("found", "symptom"),
    [
        (outcome(Status.EXCEPTION, type="tvm.error.InternalError"), "exception:tvm.error.InternalError"),
        (outcome(Status.EXCEPTION, type="Exit"), "exception:Exit"),
        (outcome(Status.SIGNAL, signal="SIGSEGV"), "crash:SIGSEGV"),
        (outcome(Status.TIMEOUT, message="x"), "hang"),
        (outcome(Status.OOM, message="x"), "oom"),
        (outcome(Status.OK), ""),
        (outcome(Status.UNSUPPORTED, type="ValueError"), ""),
        (outcome(Status.SKIPPED, type="ValueError"), ""),
        (outcome(Status.INVALID), ""),
    ],
)
def test_every_way_to_fail_has_a_name_and_the_rest_has_none(found: Outcome, symptom: str) -> None:
    assert crash.symptom(found) == symptom


@pytest.mark.parametrize(
    ("found", "symptom"),
    [
        (outcome(Status.EXCEPTION, type="ValueError"), ""),
        (outcome(Status.UNSUPPORTED, type="ValueError"), ""),
        (outcome(Status.OK), ""),
        (outcome(Status.EXCEPTION, type="Exit"), "dies-on-invalid:exception:Exit"),
        (outcome(Status.SIGNAL, signal="SIGABRT"), "dies-on-invalid:crash:SIGABRT"),
        (outcome(Status.TIMEOUT), "dies-on-invalid:hang"),
        (outcome(Status.OOM), "dies-on-invalid:oom"),
    ],
)
def test_on_an_invalid_model_an_exception_is_right_and_a_death_is_not(found: Outcome, symptom: str) -> None:
    assert crash.dies_on_invalid(found) == symptom
