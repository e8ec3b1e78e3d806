"""From a mutant that fails beside its original to a model that fails by itself, which the other steps can work on.

Where two results of one compiler part by more than rounding, at least one of them is not what float64 gives. So the
mutations are minimised first, and then the reference tells which of the two models the compiler gets wrong.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from fuzz import generators
from fuzz.case import Case, Failure
from fuzz.generators import mtdlcomp
from fuzz.judge import Judge
from fuzz.mutants import judging
from fuzz.mutants.smallest import smallest

#: What is told of a bug that cannot go on.
ONLY_BESIDE = "only beside its original: the reference's tolerance hides it, or the compiler is right about both models"


def by_itself(judge: Judge, failure: Failure, deadline: float | None = None) -> Failure | None:
    """The failure as one of a model without an original; None where no model fails by itself with the same symptom.

    A failure of a case that has no original is returned as it is. `deadline` (monotonic s) ends the minimisation.
    """
    original = generators.original(failure.case)
    if original is None:
        return failure
    for case in _candidates(judge, failure, original, deadline):
        found = judge.examine(case, failure.target).failure
        if found is not None and found.symptom == failure.symptom:
            return found
    return None


def _candidates(judge: Judge, failure: Failure, original: Case, deadline: float | None) -> Iterator[Case]:
    """Models that may be at fault: the smallest mutant, the whole one, the original."""
    if failure.case.origin.generator == mtdlcomp.NAME:
        yield _plain(_smallest(judge, failure, original, deadline))
    yield _plain(failure.case)
    yield original


def _plain(case: Case) -> Case:
    return replace(case, origin=replace(case.origin, variant="plain"))


def _smallest(judge: Judge, failure: Failure, original: Case, deadline: float | None) -> Case:
    beside = judging.Judge(judge.runner, original, failure.target)
    subject, mutations = mtdlcomp.again(failure.case)
    finding = beside.examine(failure.case)
    if finding.kind not in (judging.WRONG, judging.DIED):
        return failure.case
    return smallest(
        beside, subject, mutations, finding, over=lambda: deadline is not None and time.monotonic() >= deadline
    ).case
