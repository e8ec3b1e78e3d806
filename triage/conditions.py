"""What a bug needs to show: neighbours of the failing case are run, and those that pass prove a condition.

A title names an attribute or a kind of value only when this evidence is there, and when no further neighbour without
it fails in the same way (`triage.contrasts`). An option counts as ignored only if other witnesses say so, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeAlias

import numpy as np

from fuzz.case import Case, Failure, Status
from fuzz.judge import Judge
from fuzz.judge import values as values_of
from fuzz.oracles import differential
from triage.challenges import Key, settled
from triage.construct_meaning import parsed
from triage.contrasts import OR_EMPTY
from triage.equality import equality
from triage.extent import extent, of_seen, shape_too
from triage.feeding import feeding
from triage.ignored_beside import ignored_beside
from triage.ignoring import is_ignored
from triage.inquiry import FUSE, Condition, Inquiry
from triage.leftout import KIND as LEFT_OUT
from triage.leftout import left_out, with_defaults
from triage.likeness import KIND as LIKE
from triage.likeness import likeness
from triage.likeness_call import likeness_of_call
from triage.messages import part
from triage.misread import misread
from triage.mutants import sizes as other_sizes
from triage.older import MOST_RUNS as MOST_OLDER
from triage.older import in_older
from triage.operators import value_names
from triage.precise import MODE, superseded
from triage.seen import does_without, same_operator
from triage.sufficiency import passing
from triage.swept import swept
from triage.types_asked import of_types, with_kin
from triage.unmoved import unmoved
from triage.unsupported import unsupported
from triage.variants import (
    Variant,
    arguments,
    as_attribute,
    attributes,
    backwards,
    call_types,
    declared,
    fed_sequences,
    given,
    inputs,
    kernels,
    relations,
    sharing,
    shorter,
    sizes,
    stretched,
    told_types,
    turned,
    unread,
    values,
    whole_sizes,
    zero_points,
)
from triage.wording import telling

__all__ = ["ANOTHER_WAY", "Condition", "conditions"]

#: Runs of the compiler that a report is worth.
MOST_RUNS = 48
#: Neighbours that may be conditions.
MOST_NEIGHBOURS = 16
#: Runs with other attributes in the place of an ignored one.
MOST_AKIN = 6
#: Runs with many numbers at once.
MOST_SWEEPS = 2
#: Other sizes that are tried where a model is invalid without an option.
MOST_SIZES = 24
#: Runs that are worth the question which other operators fail.
MOST_SIBLINGS = 16
#: With more nodes than this a title names the operators and nothing else.
MOST_NODES = 3

#: Kinds of variants that leave something out which a compiler may fail to look at.
_OPTIONS = ("attribute", "input")
#: How a condition begins that is about how a value comes to the operator; which value it is may matter as well.
_FEEDING = ("constant ", inputs.NON_CONSTANT, inputs.ALONE)
#: Numbers that saturate or cancel out as well as any.
_ORDINARY = ("negative", "zero", "scalar", "fractional", "odd", "non-zero")
#: The kind of what is said where an inquiry was cut off: on a quieter machine the report may say more.
CUT = "cut"
#: How a sentence goes on of what is wrong without a type, too, but otherwise.
ANOTHER_WAY = " is wrong in another way"
_CUT = Condition(
    CUT, "", f"Not all was asked: no further neighbour was tried after {FUSE:g} s, so it may need more.", needed=False
)
#: How relations begin that are told beside an option that matters, since they are no matter of few dimensions.
_OWN = (sharing.TEXT, unread.TEXT, kernels.TEXT, kernels.APART, whole_sizes.TEXT)
#: Kinds of variants of which a compiler may know only some forms, with all attributes given.
_SHAPED = ("attribute", relations.KIND)
#: How conditions begin of which it is told, too, that the case fails otherwise without them.
_SHAPES = ("empty ", "1-D ")
_DEFAULTS = "all defaults of attributes spelled out"
#: What makes neighbours of a case.
_Maker: TypeAlias = Callable[[Case], Iterator[Variant]]
#: Makers by case kind, those first that tell a maintainer most.
_MAKERS: Mapping[str, tuple[_Maker, ...]] = {
    "onnx": (
        *(attributes.variants, declared.variants, sizes.of_parts),
        *(
            as_attribute.variants,
            given.variants,
            told_types.variants,
            sharing.variants,
            unread.variants,
            kernels.variants,
            kernels.wider,
        ),
        *(whole_sizes.variants, fed_sequences.variants, zero_points.variants, stretched.variants),
        *(values.variants, inputs.variants, relations.variants, shorter.variants, turned.variants, values.uniform),
    ),
    "instance": (backwards.variants, arguments.variants, call_types.variants),
    "keras": (arguments.of_layers,),
}


def conditions(
    judge: Judge,
    failure: Failure,
    most_runs: int = MOST_RUNS,
    seen: Sequence[Case] = (),
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Condition, ...]:
    """The answers of the neighbours of a failing case, in the order of their weight.

    A neighbour that is invalid, refused or excused, or that fails in another way, says nothing. `seen` are other
    failing cases of the same bug, as they were found: what they do without is no condition.
    """
    case = failure.case
    older = in_older(Inquiry(judge, failure, min(MOST_OLDER, most_runs), clock))
    if case.kind == "onnx" and len(parsed(case.model).graph.node) > MOST_NODES:
        return (older,) if older else ()
    inquiry = Inquiry(judge, failure, most_runs, clock)
    makers = _makers(failure)
    found, variants = _neighbours(inquiry, makers)
    types = tuple(of_types(inquiry)) if case.kind == "onnx" else ()
    found |= settled(inquiry, found, variants, seen, makers)
    found = {key: one for key, one in found.items() if one.kind != MODE or not does_without(case, one.text, seen)}
    if case.kind == "instance":
        found = {key: with_kin(inquiry, one) if one.kind == "dtype" else one for key, one in found.items()}
    spelled = list(left_out(inquiry))
    found |= {(one.kind, one.text): one for one, _ in spelled}
    halves = any(one.needed and one.text.startswith(values.HALFWAY) for one in found.values())
    tie = None if halves else equality(inquiry, [one for one in seen if same_operator(case, one)])
    if tie:  # any other numbers are not equal to it any more
        found = {key: one for key, one in found.items() if one.kind != "value"}
        found["value", tie.text] = tie
    elif all(_is_large(one) for one in found.values() if one.needed and one.kind == "value"):
        told_at_once = swept(Inquiry(judge, failure, min(MOST_SWEEPS, most_runs), clock))
        if told_at_once:  # how large is told better
            found = {key: one for key, one in found.items() if not _is_large(one)}
            found[told_at_once.kind, told_at_once.text] = told_at_once
    if case.kind == "onnx" and not any(one.needed for one in (*found.values(), *types)):
        told_by_tests = feeding(judge, failure, seen)
        found |= {(one.kind, one.text): one for one in (told_by_tests,) if one}
    causes = [variants[key] for key, one in found.items() if one.needed and key in variants]
    cause = next(iter([*causes, *(variant for _, variant in spelled)]), None)
    typed = next((one.text for one in types if one.needed), "")
    ignored = any(one.ignored for one in found.values())
    like = shape_too(inquiry, cause) if ignored and cause else None if tie else _likeness(inquiry)
    if judge.perturb is not None:  # what nobody wrote may be right by chance, in some sizes more often than in others
        found = {key: one for key, one in found.items() if one.kind != relations.KIND or _is_of_many(one)}
    overlooked = next((one for one in found.values() if one.ignored and one.kind == "attribute"), None)
    akin = ignored_beside(Inquiry(judge, failure, min(MOST_AKIN, most_runs), clock), overlooked) if overlooked else None
    beside = Inquiry(judge, failure, min(MOST_SIBLINGS, most_runs), clock)
    reach = extent(beside, cause, typed) or of_seen(beside, cause, seen)
    still = None if like or ignored or tie else unmoved(inquiry)
    wider = [*(one for one in (like, reach, older, akin, still) if one), *unsupported(beside)]
    told = list(_telling([*found.values(), *types, *wider]))
    bounded = told if ignored or like or tie else _bounds(inquiry, told, found, variants, makers)
    return (*bounded, *([_CUT] if inquiry.cut or beside.cut else []))


def _likeness(inquiry: Inquiry) -> Condition | None:
    """What a wrong result would be right for."""
    return likeness(inquiry) or misread(inquiry) or likeness_of_call(inquiry)


def _neighbours(inquiry: Inquiry, makers: Sequence[_Maker]) -> tuple[dict[Key, Condition], dict[Key, Variant]]:
    """What the neighbours answer, and the neighbours themselves."""
    found: dict[Key, Condition] = {}
    variants: dict[Key, Variant] = {}
    denied: set[Key] = set()
    for variant in islice(chain.from_iterable(make(inquiry.failure.case) for make in makers), MOST_NEIGHBOURS):
        key = (variant.kind, variant.text)
        if key in found or key in denied:
            continue
        if variant.text == arguments.BROADCAST and not inquiry.gives_the_same(variant.cases[0]):
            continue  # it is no call that broadcasts: of other shapes it computes something else
        answer = _answer(inquiry, variant) or _resized(inquiry, variant) or _spelled_out(inquiry, variant)
        if variant.kind == "value" and any(inquiry.passes(one) is False for one in variant.cases):
            denied.add(key)  # another way to do without it may pass by coincidence
        if answer is None and variant.flag:
            answer = Condition("setting", variant.text, "", needed=False)
        elif answer is None and _is_indispensable(inquiry, variant):
            name = variant.text.partition("=")[0]
            found[MODE, name] = Condition(MODE, name, "", needed=False)
        if answer is not None:
            found[key], variants[key] = answer, variant
    return found, variants


def _is_of_many(condition: Condition) -> bool:
    """Whether a relation is about more dimensions than most kernels are made for: that is no matter of chance."""
    found = relations.RANK.match(condition.text)
    return found is not None and int(found[1]) + ("more than" in found[0]) >= relations.MANY


def _is_indispensable(inquiry: Inquiry, variant: Variant) -> bool:
    """Whether the model is invalid without an attribute: it says what the operator is to do, as a block's size does."""
    model = variant.kind == "attribute" and inquiry.failure.case.kind == "onnx"
    return model and not inquiry.over() and inquiry.verdict(variant.cases[0]) is None


def _bounds(
    inquiry: Inquiry,
    told: Sequence[Condition],
    found: Mapping[Key, Condition],
    variants: Mapping[Key, Variant],
    makers: Sequence[_Maker],
) -> list[Condition]:
    """The conditions after other cases that have all of those that a title would state were tried.

    Any rule of rounding takes every other tie as any other rule does, so ties that pass say nothing.
    """
    causes = {condition: variants[key] for key, condition in found.items() if condition.needed and key in variants}
    stated = [causes[one] for one in told if one in causes]
    bounded = {one for one in told if one in causes and not one.text.startswith(values.HALFWAY)}
    return [_bounded(inquiry, one, causes[one], stated, makers) if one in bounded else one for one in told]


def _makers(failure: Failure) -> tuple[_Maker, ...]:
    """What makes the neighbours: of a wrong result few dimensions say nothing, since in one of them it may be right."""
    if failure.case.kind != "onnx":
        return _MAKERS[failure.case.kind]
    results = values_of(failure.reference) if failure.reference else []
    told = [partial(sizes.variants, result=one.shape) for one in results[:1] if isinstance(one, np.ndarray)]
    fewer = [] if failure.symptom.startswith("wrong:") else [relations.of_few_dimensions]
    return (*told, *_MAKERS["onnx"], *fewer)


def _answer(inquiry: Inquiry, variant: Variant) -> Condition | None:
    answers = {inquiry.passes(case) for case in variant.cases}
    if len(answers) != 1 or None in answers:
        if answers == {None} and variant.kind in ("dtype", "attribute") and inquiry.failure.case.kind == "instance":
            return _wrong_otherwise(inquiry, variant) or _otherwise(inquiry, variant)
        return _otherwise(inquiry, variant) if answers == {None} and variant.text.startswith(_SHAPES) else None
    needed = answers == {True}
    sentence = variant.sentence if needed else variant.sentence.replace(" passes.", " fails as well.")
    ignored = needed and variant.kind in _OPTIONS and is_ignored(inquiry, variant)
    return Condition(variant.kind, variant.text, sentence, needed, ignored)


def _wrong_otherwise(inquiry: Inquiry, variant: Variant) -> Condition | None:
    """What is wrong in an ordinary type, or without an option, too, but in another way: it is not all that matters.

    Where nothing is raised then, or nothing of another type comes out, it matters all the same.
    """
    verdict = inquiry.verdict(variant.cases[0])
    failure = verdict.failure if verdict else None
    if failure is None or not failure.symptom.startswith("wrong:"):
        return None
    said = variant.sentence.replace(" passes.", f"{ANOTHER_WAY}: {failure.detail.rstrip('.')}.")
    return Condition(variant.kind, variant.text, said, needed=_is_beside_numbers(inquiry))


def _is_beside_numbers(inquiry: Inquiry) -> bool:
    return not inquiry.failure.symptom.startswith("wrong:") or inquiry.failure.symptom == differential.DTYPE


def _otherwise(inquiry: Inquiry, variant: Variant) -> Condition | None:
    """What becomes of a case without what the variant lacks where it neither passes nor fails alike: it is refused."""
    verdict = inquiry.verdict(variant.cases[0])
    outcome = verdict.outcome if verdict else None
    if outcome is None or outcome.error is None or outcome.status not in (Status.EXCEPTION, Status.UNSUPPORTED):
        return None
    said = telling(part(outcome.error.message, outcome.error.operator), value_names(variant.cases[0]))
    how = "is not supported" if outcome.status is Status.UNSUPPORTED else "fails in another way"
    sentence = variant.sentence.replace(" passes.", f" {how}{f': {said}' if said else ''}")
    return Condition(variant.kind, variant.text, sentence if sentence.endswith(".") else f"{sentence}.", needed=False)


def _resized(inquiry: Inquiry, variant: Variant) -> Condition | None:
    """The answer for an option without which the case is invalid, or fails otherwise: of the first sizes that pass.

    It counts only where the case fails with these sizes too, or must not have them: else they are what matters.
    """
    if variant.kind != "attribute" or inquiry.failure.case.kind != "onnx":
        return None
    with_option = {one.change: one.case for one in other_sizes(inquiry.failure.case)}
    for mutant in islice(other_sizes(variant.cases[0]), MOST_SIZES):
        if inquiry.over():
            break
        if not inquiry.passes(mutant.case):
            continue
        if inquiry.passes(with_option[mutant.change]):
            return None
        sentence = variant.sentence.replace(" the same model passes.", f", on {mutant.said}, the model passes.")
        return Condition(variant.kind, variant.text, sentence, needed=True)
    return None


def _spelled_out(inquiry: Inquiry, variant: Variant) -> Condition | None:
    """The answer for what fails otherwise as it is, for an attribute that is left out: with all defaults spelled out.

    It counts only where the case fails with these as well.
    """
    spelled = with_defaults(inquiry.failure.case) if variant.kind in _SHAPED else None
    if spelled is None or inquiry.passes(spelled) is not False:
        return None
    others = [with_defaults(case) for case in variant.cases]
    if not all(other is not None and inquiry.passes(other) for other in others):
        return None
    sentence = variant.sentence.replace(" the same model passes.", f" and {_DEFAULTS} the same model passes.")
    return Condition(variant.kind, variant.text, f"{sentence} With nothing but these it fails.", needed=True)


def _bounded(
    inquiry: Inquiry, condition: Condition, variant: Variant, stated: Sequence[Variant], makers: Sequence[_Maker]
) -> Condition:
    """The condition after other cases that have all stated ones were tried: where one passes, it is not enough."""
    said = passing(inquiry, variant, stated, makers)
    if not said:
        return condition
    passes = f"Not every case with {condition.text} fails: with {said} it passes."
    return replace(condition, sentence=f"{condition.sentence} {passes}", partly=True)


def _is_large(condition: Condition) -> bool:
    return condition.kind == "value" and condition.text.startswith("large ")


def _telling(found: Collection[Condition]) -> Iterator[Condition]:
    """Those that tell what is broken. Beside an option that matters, other numbers may merely hide its effect."""
    option = any(
        one.needed and one.kind in (*_OPTIONS, LEFT_OUT) and not one.text.startswith(_FEEDING) for one in found
    )
    better = any(
        (one.needed and one.kind in ("attribute", LEFT_OUT)) or one.ignored or one.kind == LIKE for one in found
    )
    odd = {one.text.removeprefix("odd ") for one in found if one.needed and one.text.startswith("odd ")}
    cut = {one.text.removeprefix("fractional ") for one in found if one.needed and one.text.startswith("fractional ")}
    emptied = next((one for one in found if OR_EMPTY in one.text and one.needed and not superseded(one, found)), None)
    fed = [one for one in found if one.needed and one.text.startswith(inputs.NON_CONSTANT)]
    alone = any(one.needed and one.text == inputs.ALONE for one in found)
    for one in found:
        if superseded(one, found):
            continue
        if alone and one.text.startswith("constant "):
            continue  # any other constant would do
        if one in fed and inputs.OR in one.text and len(fed) > 1:
            continue  # one of them alone is enough
        if OR_EMPTY in one.text and one.needed and one is not emptied:
            continue  # of two kinds of number beside none at all the first says enough
        if one.kind == relations.TYPES and any(part.split()[-1] in cut for part in one.text.split(" and ")):
            continue  # in whole numbers there are no fractions
        if one.text.endswith(relations.LEADING) and any(
            other.needed and other.text == one.text.replace(relations.LEADING, relations.FIRST) for other in found
        ):
            continue  # the first axis alone says more
        if one.kind == relations.KIND and better and not one.text.startswith(_OWN):
            continue  # with fewer dimensions it may make no difference
        if one.text.startswith("non-zero ") and one.text.removeprefix("non-zero ") in odd:
            continue  # an odd number is none
        ordinary = one.kind == "value" and one.text.split()[0] in _ORDINARY and (one.needed or one.refuted)
        if not option or not (ordinary or (one.refuted and one.kind == "input")):
            yield one
