"""How far a bug reaches: operators of the family that fail on the same data, sizes that spoil the shape, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

import numpy as np

from fuzz.case import Case, Failure, Status, Verdict
from fuzz.judge import values
from fuzz.oracles import differential
from triage.construct_meaning import parsed
from triage.effect import effect
from triage.inquiry import Condition, Inquiry
from triage.messages import core
from triage.mutants import mutants, sizes
from triage.numbers_alike import given_numbers, numbers_of
from triage.operators import value_names
from triage.related_calls import related
from triage.siblings import siblings, unary
from triage.signature import normalise
from triage.sufficiency import is_option
from triage.variants import Variant
from triage.wording import enumerated

#: The kinds of these conditions.
KIND = "siblings"
SHAPE = "shape"
#: Other sizes that are tried.
MOST_SIZES = 16
#: Other data on which an operator is tried that is right on the witness's.
MOST_ELSEWHERE = 4
#: How much of two messages must be the same.
_ALIKE = 0.93
#: Operators that a title and a sentence name; the others are counted.
_NAMED, _LISTED = 2, 8


def extent(inquiry: Inquiry, variant: Variant | None, on_type: str) -> Condition | None:
    """The operators that fail as well; None where there are none, or none could be tried.

    `variant` makes the failure go away, if anything does: then it must do so for the other operators too, else the
    wrong values must be the same. So must they where it is numbers that make it go away: on infinities the reference
    itself may be wrong about another operator. Where the failure hangs `on_type`, a type's name, all operators of one
    tensor are of the family; "" means that it hangs on none. A death has no words: without a `variant` nothing is told.
    """
    failure = inquiry.failure
    died = failure.outcome.status is Status.SIGNAL
    if failure.outcome.status not in (Status.WRONG, Status.EXCEPTION) and not (died and variant):
        return None
    special = variant is not None and variant.kind == "value" and failure.outcome.status is Status.WRONG
    without = dict(_others(variant.cases[0])) if variant and not special else {}
    failing: list[str] = []
    typed: list[str] = []
    passing: list[tuple[str, Case]] = []
    cast = on_type if on_type and not _is_given(failure.case, on_type) else ""
    in_type = {name for name, _ in unary(failure.case, cast)} if cast else set()
    for name, case in _others(failure.case, on_type):
        if inquiry.over():
            break
        verdict = inquiry.verdict(case)
        other = verdict.failure if verdict else None
        if verdict is not None and verdict.status is Status.OK and name in without:
            passing.append((name, case))
        if other is None and verdict is not None and _holds_the_fill(inquiry, verdict):
            failing.append(name)
        if other is None or other.outcome.status is not failure.outcome.status:
            continue
        if died and (other.symptom, other.outcome.stage) != (failure.symptom, failure.outcome.stage):
            continue
        if failure.outcome.status is Status.EXCEPTION and other.symptom != failure.symptom:
            continue
        if (not died and _is_alike(inquiry, other)) or (name in without and inquiry.passes(without[name])):
            (typed if name in in_type else failing).append(name)
    option = variant is not None and failure.case.kind == "onnx" and is_option(variant.kind, variant.text)
    elsewhere = [name for name, case in passing if _fails_elsewhere(inquiry, case, without[name])] if option else []
    return _condition(failing, elsewhere, typed, cast) if failing or elsewhere or typed else None


def _is_given(case: Case, dtype: str) -> bool:
    """Whether the data are of a type already: what a cast hangs on may be the type of its result."""
    return all(isinstance(one, np.ndarray) and one.dtype.name == dtype for one in case.inputs.values())


def _fails_elsewhere(inquiry: Inquiry, case: Case, without: Case) -> bool:
    """Whether an operator that is right as it happens fails on other numbers or sizes, and not without the option."""
    plain = {one.change: one.case for one in mutants(without)}
    for mutant in islice((one for one in mutants(case) if one.change in plain), MOST_ELSEWHERE):
        if inquiry.over():
            break
        if inquiry.passes(mutant.case) is False and inquiry.passes(plain[mutant.change]):
            return True
    return False


def of_seen(inquiry: Inquiry, variant: Variant | None, seen: Sequence[Case]) -> Condition | None:
    """The operators of `seen`, tests of one node that fail where this one fails; else None.

    Of deaths, whose place may tell little, they must pass without what makes this failure go away, its `variant`.
    """
    failure = inquiry.failure
    if failure.case.kind != "onnx":
        return None
    if failure.outcome.status is not Status.SIGNAL:
        variant = None
    without = dict(siblings(variant.cases[0])) if variant else {}
    nodes = [parsed(one.model).graph.node for one in (failure.case, *seen) if one.kind == "onnx"]
    own, *others = [[node.op_type for node in each] for each in nodes]
    names = sorted({each[0] for each in others if len(each) == 1 and each != own}) if len(own) == 1 else []
    failing = [name for name in names if not variant or (name in without and inquiry.passes(without[name]))]
    if failing and failure.outcome.status is not Status.SIGNAL:
        return Condition(KIND, "", f"Tests of {_listed(failing)} fail as well.", needed=False)
    return _condition(failing) if failing else None


def shape_too(inquiry: Inquiry, variant: Variant) -> Condition | None:
    """The first other sizes with which even the shape is wrong, where it is right as it happens; else None.

    `variant` is the case without the option that the compiler ignores: with these sizes it must pass, too.
    """
    if inquiry.failure.symptom != "wrong:values":
        return None
    without = {one.change: one.case for one in sizes(variant.cases[0])}
    for mutant in islice(sizes(inquiry.failure.case), MOST_SIZES):
        verdict = inquiry.verdict(mutant.case)
        found = verdict.failure if verdict else None
        if found and found.symptom == differential.SHAPE and inquiry.passes(without[mutant.change]):
            sentence = f"With {mutant.said} even the shape is wrong: {found.detail}."
            return Condition(SHAPE, mutant.said, sentence, needed=False)
    return None


def _condition(
    names: Sequence[str], elsewhere: Sequence[str] = (), typed: Sequence[str] = (), dtype: str = ""
) -> Condition:
    """`names` fail on the very data, those `elsewhere` on others, and the `typed` on the same of `dtype`.

    Of these last no title speaks, which names the types of the failing operator alone.
    """
    pairs = (("In its place", names), ("With other data", elsewhere), (f"On data of {dtype}", typed))
    said = [
        f"{where} {_listed(each)} {'fails' if len(each) == 1 else 'fail'} in the same way."
        for where, each in pairs
        if each
    ]
    told = [*names, *elsewhere]
    return Condition(KIND, _text(told) if told else "", " ".join(said), needed=False)


def _listed(names: Sequence[str]) -> str:
    if len(names) > _LISTED:
        return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} more operators"
    return enumerated(names)


def _text(names: Sequence[str]) -> str:
    """``also ReduceMax and 7 more``."""
    if len(names) <= _NAMED:
        return f"also {' and '.join(names)}"
    return f"also {names[0]} and {len(names) - 1} more"


def _others(case: Case, on_type: str = "") -> Iterator[tuple[str, Case]]:
    if case.kind != "onnx":
        yield from related(case)
        return
    yield from siblings(case)
    if on_type:
        yield from unary(case, on_type)


def _is_alike(inquiry: Inquiry, other: Failure) -> bool:
    """Whether another operator's failure is told in the same words, or gives what nobody wrote as well.

    Two exceptions of one family may differ in a word: the least value of a type is unknown, or the largest.
    """
    failure = inquiry.failure
    if inquiry.judge.perturb is not None and failure.outcome.status is Status.WRONG:
        mine = given_numbers(failure)
        return bool(mine) and mine <= given_numbers(other)
    told, too = _told(failure), _told(other)
    if failure.outcome.status is not Status.EXCEPTION:
        return told == too
    return SequenceMatcher(None, told, too, autojunk=False).ratio() >= _ALIKE


def _holds_the_fill(inquiry: Inquiry, verdict: Verdict) -> bool:
    """Whether a result that passes is what filled memory holds, which may be as good as a zero."""
    passed, failure = verdict.outcome, inquiry.failure
    if inquiry.judge.perturb is None or failure.outcome.status is not Status.WRONG or passed is None:
        return False
    mine, theirs = given_numbers(failure), numbers_of(values(passed))
    return bool(mine) and theirs == mine and 0.0 not in mine and passed.status is Status.OK


def _told(failure: Failure) -> str:
    """What is wrong, in words that two operators can share."""
    error = failure.outcome.error
    if failure.outcome.status is not Status.WRONG or failure.reference is None:
        return f"{failure.symptom} {normalise(core(error.message), value_names(failure.case)) if error else ''}"
    pairs = zip(values(failure.reference), values(failure.outcome), strict=False)
    return next((told for want, got in pairs if (told := effect(want, got, failure.case.inputs))), "")
