"""Forms of a model held against each other two by two: what parts, and what counts as no answer."""

from __future__ import annotations

import numpy as np

from fuzz.case import Error, Outcome, Stage, Status
from fuzz.oracles.levels import partings


def ran(*scores: float) -> Outcome:
    return Outcome(Status.OK, Stage.RUN, outputs=(("y", np.array(scores, np.float32)),))


def died(status: Status) -> Outcome:
    return Outcome(status, Stage.COMPILE, error=Error("ValueError", "no", signal="SIGSEGV"))


def test_forms_that_give_the_same_do_not_part() -> None:
    assert partings({"original": ran(0.1, 0.9), "optimised": ran(0.1, 0.90001), "mutated": ran(0.1, 0.9)}) == []


def test_every_pair_is_compared_in_its_values() -> None:
    found = partings({"original": ran(0.1, 0.9), "optimised": ran(0.1, 0.8), "mutated": ran(0.1, 0.9)})
    assert [(each.like, each.form) for each in found] == [("original", "optimised"), ("optimised", "mutated")]
    assert {each.symptom for each in found} == {"wrong:score"}


def test_a_form_that_dies_parts_from_an_original_that_runs() -> None:
    forms = {"original": ran(0.1), "optimised": died(Status.SIGNAL), "mutated": died(Status.EXCEPTION)}
    assert [(each.form, each.symptom) for each in partings(forms)] == [
        ("optimised", "crash:SIGSEGV"),
        ("mutated", "exception:ValueError"),
    ]


def test_nothing_is_said_where_the_original_does_not_run_or_a_form_is_unsupported() -> None:
    assert partings({"original": died(Status.EXCEPTION), "optimised": ran(0.1)}) == []
    assert partings({"original": ran(0.1), "optimised": died(Status.UNSUPPORTED)}) == []
