"""What a report says of the result that should be there."""

from __future__ import annotations

import numpy as np

from fuzz.case import Error, Outcome, Stage, Status
from triage.behaviour import behaviour

RAISED = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("RuntimeError", "no"))
DRAWN = Outcome(Status.OK, Stage.RUN, outputs=(("y", np.array([0.8018])),))


def test_of_numbers_that_are_drawn_at_random_none_is_shown() -> None:
    said = behaviour("eager PyTorch", RAISED, DRAWN, "exception:RuntimeError", 60, drawn=True)
    assert said.expected == "A result such as eager PyTorch gives, whose numbers are drawn at random."
    assert not said.expected_text and "no" in said.actual_text


def test_any_other_result_is_shown() -> None:
    said = behaviour("eager PyTorch", RAISED, DRAWN, "exception:RuntimeError", 60)
    assert said.expected == "The result of eager PyTorch:" and "0.8018" in said.expected_text
