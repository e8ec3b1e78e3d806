"""Results whose numbers are drawn at random: all that can be wrong of them is their type and their shape. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuzz.case import Case, Failure, Outcome
from fuzz.oracles import undefined
from fuzz.wire import Raw, Value
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


def settled(failure: Failure) -> Failure:
    """The failure as if the reference had drawn the numbers that the compiler drew, where the shapes allow it.

    What still differs then differs for no other reason than the draw.
    """
    reference, outcome = failure.reference, failure.outcome
    if reference is None or len(reference.outputs) != len(outcome.outputs):
        return failure
    random = drawn(failure.case, reference)
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
