"""Conditions that other cases may refute: neighbours without them, and the failing tests of the same bug."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from fuzz.case import Case
from triage.contrasts import contrasts
from triage.inquiry import Condition, Inquiry
from triage.numbers_alike import given_numbers
from triage.seen import lacks, same_operator
from triage.variants import Variant, relations
from triage.variants import values as numbers
from triage.variants.values import HALFWAY

#: Answers that may refute one condition.
MOST_CONTRASTS = 6
#: The kind and the words of a condition.
Key: TypeAlias = tuple[str, str]


def settled(
    inquiry: Inquiry,
    found: Mapping[Key, Condition],
    variants: Mapping[Key, Variant],
    seen: Sequence[Case],
    makers: Sequence[Callable[[Case], Iterator[Variant]]],
) -> dict[Key, Condition]:
    """The conditions that are needed after all that could refute them; what another bug refuted stands again.

    `makers` find the neighbours of any case: one that has a condition itself cannot refute it.
    """
    stands: dict[Key, Condition] = {}
    refuters: dict[Key, Case] = {}
    for key, condition in found.items():
        if not condition.needed:
            continue
        unseen = _unseen(condition, variants[key], inquiry.failure.case, seen)
        stands[key], refuter = (unseen, None) if unseen else _challenged(inquiry, condition, variants[key], makers)
        if refuter is not None:
            refuters[key] = refuter
    another = [key for key, refuter in refuters.items() if _of_another_bug(inquiry, refuter, stands)]
    return stands | {key: found[key] for key in another}


def _challenged(
    inquiry: Inquiry,
    condition: Condition,
    variant: Variant,
    makers: Sequence[Callable[[Case], Iterator[Variant]]],
) -> tuple[Condition, Case | None]:
    """The condition after cases without it were tried: as it is, put more widely, or no condition any more.

    Beside it the case that refutes it, if one does. What a compiler ignores it ignores whatever else fails: nothing
    refutes that.
    """
    answered = 0
    for contrast in contrasts(inquiry.failure.case, variant):
        if inquiry.over():
            break
        enough = answered >= MOST_CONTRASTS + MOST_CONTRASTS * bool(contrast.wider)
        if enough or (condition.ignored and not contrast.wider):
            continue  # what would widen the condition comes last
        if not contrast.wider and _has(contrast.case, variant, makers):
            continue
        passes = inquiry.passes(contrast.case)
        answered += passes is not None
        if passes is not False or not _reads_alike(inquiry, contrast.case):
            continue
        passes_else = condition.sentence.rstrip(".")
        if contrast.wider:
            text = condition.text.partition("=")[0] if condition.ignored else contrast.wider
            return replace(
                condition, text=text, sentence=f"{passes_else}; with {contrast.said} it fails as well."
            ), None
        sentence = f"{passes_else}, but with {contrast.said} it fails as well."
        return replace(condition, sentence=sentence, needed=False, refuted=True), contrast.case
    return condition, None


def _reads_alike(inquiry: Inquiry, case: Case) -> bool:
    """Whether a case that fails gives what filled memory holds, where that is what the failure gives.

    ReduceMin of no numbers may return what nobody wrote, and of infinities the largest float, for another reason.
    """
    verdict = inquiry.verdict(case) if inquiry.judge.perturb is not None else None
    if verdict is None or verdict.failure is None:
        return True
    mine = given_numbers(inquiry.failure)
    return not mine or bool(mine & given_numbers(verdict.failure))


def _has(case: Case, variant: Variant, makers: Sequence[Callable[[Case], Iterator[Variant]]]) -> bool:
    """Whether a relation holds in a case, or numbers in it are ties: other sizes, or numbers, may bring them back."""
    if variant.kind != relations.KIND and not variant.text.startswith(HALFWAY):
        return False
    texts = (variant.text, variant.text.replace(relations.LEADING, relations.SECOND))  # one of two axes is enough
    return any(one.kind == variant.kind and one.text in texts for make in makers for one in make(case))


def _of_another_bug(inquiry: Inquiry, refuter: Case, found: Mapping[Key, Condition]) -> bool:
    """Whether a case that refutes a condition fails even without a relation that the failure itself needs.

    Then it fails for another reason, and refutes nothing.
    """
    related = {key for key, one in found.items() if one.needed and one.kind == relations.KIND}
    again = [one for one in relations.variants(refuter) if (one.kind, one.text) in related] if related else []
    return any(all(inquiry.passes(case) is False for case in one.cases) for one in again)


def _unseen(condition: Condition, variant: Variant, case: Case, seen: Sequence[Case]) -> Condition | None:
    """The condition as refuted by a test that fails as well and has other numbers in the same place; else None."""
    if variant.kind != "value" or case.kind != "onnx" or not _is_of_numbers(case, variant):
        return None
    for one in seen:
        if same_operator(case, one) and lacks(one, variant):
            sentence = f"{condition.sentence.rstrip('.')}, but a test that has none there fails as well."
            return replace(condition, sentence=sentence, needed=False, refuted=True)
    return None


def _is_of_numbers(case: Case, variant: Variant) -> bool:
    """Whether the condition is one on numbers that any case has or has not; that a shape says 1 is none of these."""
    return any(one.text == variant.text for one in numbers.variants(case))
