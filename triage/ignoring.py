"""Whether a compiler does not look at an option at all: with and without, other witnesses give the same bits, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuzz.case import Case, Status
from triage.bits import identical
from triage.inquiry import Inquiry
from triage.mutants import Mutant, mutants
from triage.variants import Variant, arguments

#: Failing witnesses that must agree, and those of other sizes, if there are any.
WITNESSES, OTHER_SIZES = 2, 3
#: How a run ends that has computed something.
_COMPUTED = (Status.OK, Status.WRONG)


def is_ignored(inquiry: Inquiry, variant: Variant) -> bool:
    """Whether the compiler gives the same bits with and without an option, here and on other witnesses.

    Some of them have other sizes, as long as there are any: a shape may be that without the option by chance.
    """
    failure = inquiry.failure
    if not failure.symptom.startswith("wrong:"):
        return False
    here = inquiry.verdict(variant.cases[0])
    if here is None or here.outcome is None or not identical(here.outcome, failure.outcome):
        return False
    if _is_heeded(inquiry, variant):
        return False
    without = {one.change: one.case for one in mutants(variant.cases[0])}
    others = list(mutants(failure.case))
    sized = _heard(inquiry, [one for one in others if not one.name], without, OTHER_SIZES, failing=False)
    return sized is not None and _heard(inquiry, others, without, WITNESSES) is not None


def _is_heeded(inquiry: Inquiry, variant: Variant) -> bool:
    """Whether another number in an argument of a call gives something else: a fraction that is cut off is looked at."""
    if inquiry.failure.case.kind != "instance":
        return False
    asked = (inquiry.verdict(other) for _, _, other in arguments.others(inquiry.failure.case, variant.text))
    outcomes = [each.outcome for each in asked if each and each.outcome and each.status is not Status.UNSUPPORTED]
    return any(one.status not in _COMPUTED or not identical(one, inquiry.failure.outcome) for one in outcomes)


def _heard(
    inquiry: Inquiry, others: Sequence[Mutant], without: Mapping[str, Case], wanted: int, *, failing: bool = True
) -> int | None:
    """So many witnesses, `wanted` at most, give the same bits with and without the option; None if one does not.

    Those that pass are looked at, too, and are counted unless `failing` ones are asked for.
    """
    heard = 0
    for mutant in others:
        other = without.get(mutant.change)
        if heard >= wanted or inquiry.over():
            break
        one, two = inquiry.verdict(mutant.case), inquiry.verdict(other) if other else None
        outcomes = [each.outcome for each in (one, two) if each and each.outcome and each.status in _COMPUTED]
        if len(outcomes) < 2:
            continue
        if not identical(outcomes[0], outcomes[1]):
            if two is not None and two.failure is not None:
                continue  # another bug, which does not need the option, shows here
            return None
        heard += not failing or (one is not None and one.failure is not None)
    return heard
