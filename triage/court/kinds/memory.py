"""Uninitialised memory: does the result follow the byte that fresh memory is filled with?"""

from __future__ import annotations

from fuzz import judge
from fuzz.case import Outcome
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing
from triage.court.thresholds import thresholds

SYMPTOMS = ("wrong",)


def gather(hearing: Hearing) -> Evidence | None:
    """Runs under different bytes that give different results, each repeatably: the compiler reads what nobody wrote."""
    if hearing.hurried():
        return None
    first, second = thresholds().perturbations
    one, other = _run(hearing, first), _run(hearing, second)
    if _equal(one, other):
        return Evidence(
            "memory", Side.NEUTRAL, "the result does not depend on what fresh memory holds", {"depends": False}
        )
    again, other_again = _run(hearing, first), _run(hearing, second)
    if not (_equal(one, again) and _equal(other, other_again)):
        return None  # it varies for another reason
    sentence = (
        f"reads uninitialised memory: the result changes with the byte that fresh memory is filled with ({first} or "
        f"{second})"
    )
    return Evidence("memory", Side.AGAINST, sentence, {"depends": True, "bytes": [first, second]})


def _run(hearing: Hearing, byte: int) -> Outcome:
    outcome = hearing.runner.run_fresh(hearing.case, hearing.target, perturb=byte, limits=hearing.limits())
    return hearing.heard_of(outcome)


def _equal(one: Outcome, other: Outcome) -> bool:
    mine, theirs = judge.values(one), judge.values(other)
    return one.status is other.status and measure.comparable(mine, theirs) and not measure.near_miss(mine, theirs)
