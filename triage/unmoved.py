"""A wrong result that is the same whatever numbers go in: it is not computed from them, but read from elsewhere.

TVM's select with a negative index gives 0 for 2, and for any other number, too: it reads what lies before the tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from fuzz.case import Case, Outcome
from fuzz.oracles import differential
from triage.bits import identical
from triage.construct_meaning import parsed
from triage.inquiry import Condition, Inquiry, wrong_outputs
from triage.literals import Array
from triage.passes._instances import named_tensors, with_arrays
from triage.submodel import with_tensors

#: The kind of the condition.
KIND = "unmoved"
#: So many other numbers must give the same.
_OTHERS = 2


def unmoved(inquiry: Inquiry) -> Condition | None:
    """That other numbers give the same wrong result, where the right one is another; None where one of them does not.

    Only of wrong values: a wrong shape is as wrong for any numbers.
    """
    failure = inquiry.failure
    if failure.symptom in differential.FORMS or not failure.symptom.startswith("wrong:") or inquiry.judge.perturb:
        return None
    wrong, heard = wrong_outputs(failure), 0
    for other in _with_other_numbers(failure.case):
        verdict = inquiry.verdict(other)
        found = verdict.failure if verdict else None
        if found is None or wrong_outputs(found) != wrong:
            return None
        if not _same(failure.outcome, found.outcome, wrong) or _same(failure.reference, found.reference, wrong):
            return None
        heard += 1
    if heard < _OTHERS:
        return None
    sentence = "Other numbers in the input give the very same wrong result, where the right one differs."
    return Condition(KIND, "", sentence, needed=False)


def _with_other_numbers(case: Case) -> Iterator[Case]:
    """The case with other numbers in every tensor of floats that is fed, twice; small ones at first, since what
    saturates is the same for many large ones."""
    known = named_tensors(case) if case.kind == "instance" else case.inputs if case.kind == "onnx" else {}
    floats = {name: value for name, value in known.items() if isinstance(value, np.ndarray) and value.dtype.kind == "f"}
    for other in (_counted, _turned) if floats else ():
        yield _with(case, {name: other(value) for name, value in floats.items()})


def _counted(array: Array) -> Array:
    return (np.arange(array.size).reshape(array.shape) % 5 + 4).astype(array.dtype)


def _turned(array: Array) -> Array:
    with np.errstate(all="ignore"):
        return (5 - array).astype(array.dtype)


def _with(case: Case, changed: Mapping[str, Array]) -> Case:
    return with_tensors(case, parsed(case.model), changed) if case.kind == "onnx" else with_arrays(case, changed)


def _same(one: Outcome | None, other: Outcome | None, at: Collection[int]) -> bool:
    """Whether two outcomes have the same tensors at some positions, to the bit."""
    if one is None or other is None or len(one.outputs) != len(other.outputs):
        return False
    pairs = [(one.outputs[each], other.outputs[each]) for each in at]
    return identical(
        replace(one, outputs=tuple(a for a, _ in pairs)), replace(other, outputs=tuple(b for _, b in pairs))
    )
