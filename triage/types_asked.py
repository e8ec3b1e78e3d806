"""Which types a failure needs: the ordinary one in the place of each unusual one, and the types of its kin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from fuzz.case import Case, Status
from triage.construct_meaning import parsed
from triage.inquiry import Condition, Inquiry
from triage.numbers_alike import numbers_alike
from triage.schemas import CASTS
from triage.variants import call_types, dtypes
from triage.wording import enumerated


def of_types(inquiry: Inquiry) -> Iterator[Condition]:
    """For each unusual type of a model whether the ordinary one of its kind passes, and its kin."""
    case = inquiry.failure.case
    casts = any(node.op_type in CASTS for node in parsed(case.model).graph.node)
    data = () if casts else chain(dtypes.of_data(case), dtypes.of_value(case))
    for one in chain(dtypes.alternatives(case), data):
        told = _plainly(inquiry, one) or _by_kin(inquiry, one, casts=casts)
        yield from [told] if told else []


def with_kin(inquiry: Inquiry, condition: Condition) -> Condition:
    """A type that a call's failure needs, beside those of its kin that fail as well."""
    kin = call_types.kin(inquiry.failure.case, condition.text) if condition.needed else ()
    fails = tuple(name for name, case in kin if inquiry.passes(case) is False)
    if not fails:
        return condition
    also = f"with {enumerated(fails)} in the place of {condition.text} it fails as well."
    return replace(condition, also=fails, sentence=f"{condition.sentence.rstrip('.')}; {also}")


def _plainly(inquiry: Inquiry, one: dtypes.Alternatives) -> Condition | None:
    """The answer of the ordinary type where that settles it: it fails as well, or with its own limits it does."""
    if one.plain is None:
        return None
    name, plain = one.plain
    ordinary = inquiry.passes(plain)
    if ordinary is False:
        return Condition("dtype", one.name, f"In {name} instead of {one.name} the same model fails as well.", False)
    if ordinary and one.limits and inquiry.passes(one.limits[1]) is False:
        but = f"but with the {one.limits[0]} of {name} in the place of {one.name}'s it fails as well."
        said = f"In {name} instead of {one.name} the same model passes, {but}"
        return Condition("dtype", one.name, said, needed=False, refuted=True)
    return None


def _by_kin(inquiry: Inquiry, one: dtypes.Alternatives, *, casts: bool) -> Condition | None:
    """The answers of the ordinary type and of the kin together; None where nothing was answered."""
    answers = {other: _in_kin(inquiry, changed, casts=casts) for other, changed in one.kin}
    fails = tuple(other for other, answer in answers.items() if answer is False)
    right = [other for other, answer in answers.items() if answer]
    otherwise = [name for name, other in one.kin if answers[name] is None and inquiry.passes(other) is False]
    ordinary = inquiry.passes(one.plain[1]) if one.plain else None
    passes = _said_of_the_plain(inquiry, one)
    if fails:
        said = f"{'; with' if passes else 'With'} {enumerated(fails)} in the place of {one.name} it fails as well."
        told = passes or right or casts or one.plain is None  # without a plain type nothing but kin was asked
        return Condition("dtype", one.name, passes + said, False, also=fails if told else ())
    if otherwise:
        said = f"With {enumerated(otherwise)} in the place of {one.name} the result is wrong in other numbers."
        return Condition("dtype", one.name, said, needed=False)
    if ordinary or right:
        said = passes if ordinary else f"With {enumerated(right)} in the place of {one.name} the same model passes"
        return Condition("dtype", one.name, f"{said}.", True)
    return None


def _said_of_the_plain(inquiry: Inquiry, one: dtypes.Alternatives) -> str:
    """What was seen in the ordinary type, in words; "" where it says nothing."""
    if one.plain is None:
        return ""
    name, plain = one.plain
    asked = inquiry.verdict(plain)
    if inquiry.passes(plain):
        return f"In {name} instead of {one.name} the same model passes"
    if asked is not None and asked.failure is not None and asked.status is not Status.INVALID:
        return f"In {name} instead of {one.name} the same model fails in another way"
    return ""


def _in_kin(inquiry: Inquiry, case: Case, *, casts: bool) -> bool | None:
    """Whether a case in a type of the same kind passes. A cast that gives other numbers there has another bug."""
    passes = inquiry.passes(case)
    verdict = inquiry.verdict(case) if casts and passes is False else None
    if verdict is None or verdict.failure is None or numbers_alike(inquiry.failure, verdict.failure):
        return passes
    return None
