"""Results whose numbers are drawn at random: all that can be wrong of them is their type and their shape. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuzz.case import Case, Failure, Outcome, Status
from fuzz.oracles import undefined
from fuzz.wire import Raw, Value
from triage.differ import describe, summary
from triage.literals import as_array


def drawn(case: Case, reference: Outcome) -> frozenset[int]:
    """The positions of the outputs that a random operator reaches. Raises ValueError if the model cannot be read."""
    if undefined.nondeterministic(case.kind, case.model, case.inputs) is None:
        return frozenset()
    if case.kind != "onnx":
        return frozenset(range(len(reference.outputs)))
    return frozenset(
        at
        for at, (name, _) in enumerate(reference.outputs)
        if undefined.nondeterministic(case.kind, case.model, case.inputs, {name}) is not None
    )


def form_alone(case: Case, outcome: Outcome, reference: Outcome) -> frozenset[int]:
    """The positions of the drawn outputs of which nothing but type and shape is worth a word.

    None where nothing but numbers of such outputs is wrong: then what is wrong stands beside the random ones in them.
    """
    random = drawn(case, reference)
    if not random or outcome.status is not Status.WRONG or len(outcome.outputs) != len(reference.outputs):
        return random
    for at, ((name, want), (_, got)) in enumerate(zip(reference.outputs, outcome.outputs, strict=True)):
        if summary(want) != summary(got) or (at not in random and describe(name, want, got)):
            return random
    return frozenset()


def settled(failure: Failure) -> Failure:
    """The failure as if the reference had drawn the numbers that the compiler drew, where the shapes allow it.

    What still differs then differs for no other reason than the draw.
    """
    reference, outcome = failure.reference, failure.outcome
    if reference is None or len(reference.outputs) != len(outcome.outputs):
        return failure
    random = form_alone(failure.case, outcome, reference)
    if not random:
        return failure
    outputs = [
        (name, _with_numbers(want, got) if at in random else want)
        for at, ((name, want), (_, got)) in enumerate(zip(reference.outputs, outcome.outputs, strict=True))
    ]
    return replace(failure, reference=replace(reference, outputs=tuple(outputs)))


def _with_numbers(want: Value, got: Value) -> Value:
    if not isinstance(want, np.ndarray) or not isinstance(got, np.ndarray | Raw):
        return want
    numbers = as_array(got)
    if numbers.shape != want.shape or want.dtype.kind in "OUS" or numbers.dtype.kind in "OUS":
        return want
    with np.errstate(all="ignore"):
        return numbers.astype(want.dtype)
