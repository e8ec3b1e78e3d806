"""A wrong result that only values equal to a limit show: ``>`` where ``>=`` should be, or the reverse.

Ask the reference for the same model with the limit moved a little to either side. On one side nothing changes, and the
compiler is right there; on the other the right result is what the compiler gives for the limit itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import AttributeProto, helper

from fuzz.case import Case, Failure
from fuzz.judge import Judge
from triage.inquiry import Condition, Inquiry
from triage.likeness import fits, with_attribute
from triage.literals import Array
from triage.schemas import formal_name, schema_of
from triage.seen import same_operator
from triage.submodel import load, tensors, with_tensors

#: How far a limit is moved, as a share of it. A result that follows the number smoothly moves too little to be wrong.
_SHARE = 1e-3
#: More elements than this are too many to read; runs and seconds that another witness is worth.
MOST_ELEMENTS, MOST_RUNS = 64, 12


#: What is held against a limit, where its name says so.
_HELD = {"iou_threshold": "an IoU", "score_threshold": "a score"}


def _called(limit: str) -> str:
    return _HELD.get(limit, "a value")


@dataclass(frozen=True)
class _Limit:
    """A number of a case that may be a limit, by the name that the specification has for it; `tensor` is "" for an
    attribute."""

    name: str
    number: float
    tensor: str = ""

    def moved(self, case: Case, number: float) -> Case:
        """The case with another number in its place."""
        if not self.tensor:
            return with_attribute(case, helper.make_attribute(self.name, number))
        model = load(case)
        before: Array = tensors(case, model)[self.tensor]
        return with_tensors(case, model, {self.tensor: np.full_like(before, number)})


def equality(inquiry: Inquiry, seen: Sequence[Case] = ()) -> Condition | None:
    """The limit that a value of a failing case is equal to, as a condition; None where there is none.

    Asked are the failing case and the `seen` ones, other failing cases of the same bug: reducing makes zeros of
    numbers, and of a limit of zero nobody can say whether it is the zero that matters.
    """
    if not inquiry.failure.symptom.startswith("wrong:"):
        return None
    for limit in _limits(inquiry.failure.case):
        found = _at(inquiry, inquiry.failure.case, limit)
        if found is not None:
            return found
    return next((found for _, found in _in_others(inquiry, seen)), None)


def _in_others(inquiry: Inquiry, seen: Sequence[Case]) -> Iterator[tuple[Case, Condition]]:
    """The other cases that show a limit, for limits that are zero in the failing case, and where that matters.

    Else the other case may show another bug.
    """
    case = inquiry.failure.case
    zeros = {limit.name for limit in _limits(case) if not limit.number and _matters(inquiry, case, limit)}
    for other in seen if zeros else ():
        for limit in _limits(other):
            found = _at(inquiry, other, limit) if limit.name in zeros else None
            if found is not None:
                yield other, found


def _matters(inquiry: Inquiry, case: Case, limit: _Limit) -> bool:
    return any(inquiry.passes(limit.moved(case, number)) for number in (_SHARE, -_SHARE))


def _at(inquiry: Inquiry, case: Case, limit: _Limit) -> Condition | None:
    failing = _failure(inquiry, case) if limit.number else None
    if failing is None or failing.reference is None:
        return None
    for share, side, other in ((_SHARE, "above", "below"), (-_SHARE, "below", "above")):
        wrong, right = (limit.moved(case, limit.number * (1 + one)) for one in (share, -share))
        jumps = fits(inquiry.judge, wrong, failing.outcome) and fits(inquiry.judge, right, failing.reference)
        if jumps and inquiry.passes(right):
            held = _called(limit.name)
            sentence = (
                f"With `{limit.name}` slightly {other} {limit.number:g} the same model passes, and the wrong result is "
                f"the right one for `{limit.name}` slightly {side} it: what differs is {held} equal to it."
            )
            return Condition("value", f"{held} equal to {limit.name}", sentence, needed=True)
    return None


def witness(judge: Judge, failure: Failure, seen: Sequence[Case]) -> Failure | None:
    """The failure of the first of the `seen` cases that shows a limit, where the reduced one does not; else None.

    It is small enough to be read, and has failed with the same symptom in a fresh process.
    """
    alike = [one for one in seen if same_operator(failure.case, one) and _size(one) <= MOST_ELEMENTS]
    inquiry = Inquiry(judge, failure, MOST_RUNS)
    if not alike or not failure.symptom.startswith("wrong:") or equality(inquiry) is not None:
        return None
    case = next((one for one, _ in _in_others(inquiry, alike)), None)
    found = judge.examine(case, failure.target).failure if case else None
    return found if found is not None and found.symptom == failure.symptom else None


def _size(case: Case) -> int:
    return sum(array.size for array in tensors(case, load(case)).values())


def _failure(inquiry: Inquiry, case: Case) -> Failure | None:
    if case is inquiry.failure.case:
        return inquiry.failure
    verdict = inquiry.verdict(case)
    return verdict.failure if verdict else None


def _limits(case: Case) -> Iterator[_Limit]:
    """The floating-point attributes of the only node, and its inputs of a single number behind the first."""
    model = load(case) if case.kind == "onnx" else None
    schema = schema_of(model.graph.node[0], model) if model and len(model.graph.node) == 1 else None
    if model is None or schema is None:
        return
    node = model.graph.node[0]
    given = {one.name: one for one in node.attribute}
    for name, known in sorted(schema.attributes.items()):
        attribute = given.get(name, known.default_value)
        if attribute.type == AttributeProto.FLOAT:
            yield _Limit(name, attribute.f)
    arrays = tensors(case, model)
    for tensor in dict.fromkeys(node.input[1:]):
        array = arrays.get(tensor)
        if array is not None and array.dtype.kind == "f" and array.size == 1 and np.isfinite(array).all():
            yield _Limit(formal_name(model, tensor), float(array.ravel()[0]), tensor)
