"""Which inputs a compiler wants as constants, by the failing tests of a bug: its reduced case may be too small to tell.

MNN takes a BatchNormalization of one dimension for something else once all its parameters are constants, and is wrong
in another way then. The test that it was found by has four dimensions, and passes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from fuzz.case import Case, Failure
from fuzz.judge import Judge
from triage.inquiry import Condition, Inquiry
from triage.localize.trial import words
from triage.seen import same_operator
from triage.variants import Variant, inputs

#: Tests that are asked, and runs for each.
MOST_TESTS, MOST_RUNS = 2, 8


def feeding(judge: Judge, failure: Failure, seen: Sequence[Case]) -> Condition | None:
    """The inputs of which a test passes with constants instead, one of which the reduced case has, too; else None."""
    own = {name for variant in inputs.variants(failure.case) for name in _names(variant)}
    tests = (one for one in seen if same_operator(failure.case, one) and one.origin.test.startswith("test_"))
    for test in islice(tests, MOST_TESTS if own else 0):
        found = judge.examine(test, failure.target).failure
        if found is None or (found.symptom, words(found)) != (failure.symptom, words(failure)):
            continue
        inquiry = Inquiry(judge, found, MOST_RUNS)
        for variant in inputs.variants(test):
            if not own.isdisjoint(_names(variant)) and all(inquiry.passes(case) for case in variant.cases):
                sentence = f"In {test.origin.test}: {variant.sentence[0].lower()}{variant.sentence[1:]}"
                return Condition(variant.kind, variant.text, sentence, needed=True)
    return None


def _names(variant: Variant) -> set[str]:
    """The inputs that a variant has as constants, by the specification's names; none for any other variant."""
    told = variant.text.removeprefix(inputs.NON_CONSTANT)
    return set(re.split(rf", |{inputs.OR}", told)) if told != variant.text else set()
