"""What a wrong result would be right for: the same model with another value of one attribute.

A running variance of 1.1 instead of 1.9 says little. That it is what ``momentum=0.1`` should give, where the model says
0.9, says that somebody took one weight for the other. The reference is asked, which costs no run of the compiler; what
fits one witness by chance does not fit the next ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, islice

from onnx import AttributeProto, helper
from onnx.defs import OpSchema

from fuzz.case import Case, Failure, Outcome, Status
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from triage.coincidence import Fitting
from triage.construct_meaning import parsed
from triage.inquiry import Condition, Inquiry, with_true_shapes
from triage.mutants import longer, mutants
from triage.schemas import TYPE_ATTRIBUTES, is_flag, quoted_words, schema_of, value_text
from triage.variants import neighbour

#: The kind of these conditions.
KIND = "likeness"
#: Other witnesses that must fail, and how many are tried: all that are right or wrong must fit.
WITNESSES, MOST_TRIED = 2, 12
#: The formula by which a number loses its fraction.
_CUT_OFF = "int({})"
#: What somebody may have made of a number by mistake; `_others` proposes the same.
_FORMULAS: Mapping[str, Callable[[float], float]] = {
    "1 - {}": lambda number: 1 - number,
    "-{}": lambda number: -number,
    "1 / {}": lambda number: 1 / number,
    _CUT_OFF: math.trunc,
}
#: Numbers with which a formula must hold, too, unless the attribute is that number or near it.
_OTHER_NUMBERS, _APART = (0.75, 0.6), 0.05
#: Those for what is cut off: below one it is zero, which may be what everything becomes.
_CUT_NUMBERS = (1.75, 0.6)


def likeness(inquiry: Inquiry) -> Condition | None:
    """The attribute value that the compiler seems to have used instead of the right one; None where none fits.

    Only for a wrong result of a model with a single node.
    """
    failure = inquiry.failure
    if failure.case.kind != "onnx" or not failure.symptom.startswith("wrong:"):
        return None
    for right, wrong in _changes(failure.case):
        if fits_all(inquiry, partial(with_attribute, attribute=wrong)):
            text = f"{wrong.name} were {value_text(wrong)} instead of {value_text(right)}"
            sentence = (
                f"The wrong result is what `{wrong.name}={value_text(wrong)}` should give, on other inputs as well."
            )
            return _by_formula(inquiry, right, wrong) or Condition(KIND, text, sentence, needed=False)
    return None


def _by_formula(inquiry: Inquiry, right: AttributeProto, wrong: AttributeProto) -> Condition | None:
    """The condition that says what the compiler makes of the attribute, where that fits other values of it as well."""
    case = inquiry.failure.case
    if right.type != AttributeProto.FLOAT:
        return None
    return by_formula(
        inquiry,
        right.name,
        (round(right.f, 6), round(wrong.f, 6)),
        lambda number: with_attribute(case, helper.make_attribute(right.name, number)),
    )


def by_formula(
    inquiry: Inquiry, name: str, change: tuple[float, float], given: Callable[[float], Case]
) -> Condition | None:
    """What the compiler makes of a number, if that fits other numbers, too. `change` holds the right and the wrong one.

    `given` makes the case with another number.
    """
    right, wrong = change
    for formula, computed in _FORMULAS.items():
        if right == 0 or round(computed(right), 6) != wrong:
            continue
        numbers = _CUT_NUMBERS if formula == _CUT_OFF else _OTHER_NUMBERS
        others = [number for number in numbers if abs(number - right) > _APART]
        seen = [number for number in others if _follows(inquiry, given(number), given(computed(number)))]
        if len(seen) == len(others):
            listed = " and ".join(f"`{name}={number:g}`" for number in seen)
            said = formula.format(name)
            sentence = f"The wrong result is what `{said}` should give in the place of `{name}`, with {listed} as well."
            return Condition(KIND, f"{name} were {said}", sentence, needed=False)
    return None


def _follows(inquiry: Inquiry, asked: Case, instead: Case) -> bool:
    """Whether the compiler computes for one case, wrongly, what another one should give."""
    verdict = inquiry.verdict(asked)
    if verdict is None or verdict.failure is None or verdict.outcome is None:
        return False
    return fits(inquiry.judge, instead, verdict.outcome)


def _changes(case: Case) -> Iterator[tuple[AttributeProto, AttributeProto]]:
    """(the attribute as it is or as its default says, one with another value), for all attributes of the only node."""
    model = parsed(case.model)
    schema = schema_of(model.graph.node[0], model) if len(model.graph.node) == 1 else None
    given = {one.name: one for one in model.graph.node[0].attribute} if schema else {}
    for name, known in sorted(schema.attributes.items()) if schema else ():
        right = given.get(name, known.default_value)
        if not right.type or right.ref_attr_name or name in TYPE_ATTRIBUTES:
            continue
        value = helper.get_attribute_value(right)
        for other in dict.fromkeys(_others(right, known)):
            if other != value and other is not None:
                yield right, helper.make_attribute(name, list(other) if isinstance(other, tuple) else other)


def _others(right: AttributeProto, known: OpSchema.Attribute) -> Iterator[float | int | str | tuple[int, ...]]:
    """The values that somebody may have used by mistake."""
    if right.type == AttributeProto.FLOAT:
        number = round(right.f, 6)
        yield from (round(1 - number, 6), -number, 0.0, 1.0, *([round(1 / number, 6)] if number else []))
    elif right.type == AttributeProto.INT and is_flag(right.i, known):
        yield 1 - right.i
    elif right.type == AttributeProto.INT:
        yield from (right.i + 1, right.i - 1, -right.i, 0, 1, -1)
    elif right.type == AttributeProto.STRING:
        yield from (word for word in quoted_words(known) if word != right.s.decode())
    elif right.type == AttributeProto.INTS and right.ints:
        yield from (tuple(reversed(right.ints)), (0,) * len(right.ints), (1,) * len(right.ints))


def with_attribute(case: Case, attribute: AttributeProto) -> Case:
    """The case with the attribute of its only node in the place of the one of that name."""
    model = parsed(case.model)
    node = model.graph.node[0]
    kept = [one for one in node.attribute if one.name != attribute.name]
    del node.attribute[:]
    node.attribute.extend([*kept, attribute])
    return neighbour(case, model)


def fits(judge: Judge, other: Case, outcome: Outcome) -> bool:
    """Whether the reference gives for the other case what an outcome of the compiler holds."""
    case = with_true_shapes(judge, other)
    right = judge.runner.run(case, judge.reference) if case else None
    if right is None or right.status is not Status.OK or not outcome.outputs:
        return False
    return differential.compare(values(outcome), values(right)) is None


def fits_all(inquiry: Inquiry, changed: Callable[[Case], Case]) -> bool:
    """Whether a changed case explains the compiler's results on all witnesses, of which some must be wrong.

    In elements enough that chance does not explain it (`coincidence`). `changed` makes it of a witness.
    """
    failure, failing, fitting = inquiry.failure, 0, Fitting()
    if inquiry.over() or not fits(inquiry.judge, changed(failure.case), failure.outcome):
        return False
    see(fitting, failure)
    wide = longer(failure.case) if failure.case.kind == "instance" else ()
    for mutant in islice(chain(wide, mutants(failure.case)), MOST_TRIED):
        verdict = inquiry.verdict(mutant.case)
        if verdict is None or verdict.outcome is None or verdict.status not in (Status.OK, Status.WRONG):
            continue
        if not fits(inquiry.judge, changed(mutant.case), verdict.outcome):
            return False
        failing += verdict.failure is not None
        see(fitting, verdict.failure)
    return failing >= WITNESSES and fitting.convinces


def see(fitting: Fitting, failure: Failure | None) -> None:
    """Count the wrong elements of a witness that fails."""
    if failure is not None and failure.reference is not None:
        fitting.see(values(failure.outcome), values(failure.reference))
