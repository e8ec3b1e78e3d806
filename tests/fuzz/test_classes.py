"""The classes of graph-based fuzzing."""

from __future__ import annotations

import pytest

from fuzz.case import Stage, Status
from fuzz.classes import Class, classify


@pytest.mark.parametrize(
    ("status", "stage", "expected"),
    [
        (Status.OK, Stage.RUN, Class.PASS),
        (Status.WRONG, Stage.RUN, Class.COMPARISON_FAILURE),
        (Status.EXCEPTION, Stage.LOAD, Class.CONVERSION_FAILURE),
        (Status.SIGNAL, Stage.CONVERT, Class.CONVERSION_FAILURE),
        (Status.TIMEOUT, Stage.COMPILE, Class.INFERENCE_FAILURE),
        (Status.OOM, Stage.RUN, Class.INFERENCE_FAILURE),
        (Status.UNSUPPORTED, Stage.CONVERT, None),
        (Status.SKIPPED, Stage.LOAD, None),
        (Status.INVALID, Stage.START, None),
        (Status.FLAKY, Stage.RUN, None),
    ],
)
def test_an_outcome_is_of_one_class_or_proves_nothing(status: Status, stage: Stage, expected: Class | None) -> None:
    assert classify(status, stage) is expected
