"""The same run in fresh processes: is it the same failure every time, with the same values?"""

from __future__ import annotations

import numpy as np

from fuzz import judge
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing
from triage.passes._instances import named_tensors

SYMPTOMS = ("wrong", "death")


def gather(hearing: Hearing) -> Evidence:
    """Never settles anything alone: what varies may read uninitialised memory, which is the compiler's fault."""
    outcomes = [hearing.outcome, *hearing.repeated]
    symptom = hearing.symptom[0]
    same = 1 + sum(
        judge.symptom(each, hearing.known, judge.rule(hearing.target))[0] == symptom
        or (hearing.is_near_miss and bool(measure.near_miss(judge.values(each), hearing.expected)))
        for each in hearing.repeated
    )
    varies = hearing.compares_values and any(not _equal(hearing, at) for at in range(len(hearing.repeated)))
    steady = not hearing.compares_values or all(
        measure.steady(judge.values(each), hearing.actual) for each in hearing.repeated
    )
    figures = {"runs": len(outcomes), "same": same, "values_vary": varies, "steady": steady, "whole": _whole(hearing)}
    if same == len(outcomes) and not varies:
        values = "with equal values each time" if steady else "with slightly other values each time"
        told = values if hearing.manner == "wrong" else "the same way each time"
        return Evidence("repeats", Side.AGAINST, f"it fails in {same} of {same} fresh processes, {told}", figures)
    varying = ", with other values each time" if varies else ""
    return Evidence("repeats", Side.NEUTRAL, f"it fails in {same} of {len(outcomes)} fresh processes{varying}", figures)


def _whole(hearing: Hearing) -> bool:
    """Whether nothing but whole numbers and truths goes in and comes out, in which rounding has no part."""
    given = [*hearing.case.inputs.values(), *named_tensors(hearing.case).values(), *hearing.expected]
    return all(isinstance(value, np.ndarray) and value.dtype.kind in "iub" for value in given)


def _equal(hearing: Hearing, at: int) -> bool:
    """Whether a further run gave the first one's values, up to the tolerance."""
    again = judge.values(hearing.repeated[at])
    return measure.comparable(again, hearing.actual) and not measure.near_miss(again, hearing.actual)
