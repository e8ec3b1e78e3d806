"""Which tests of a suite are likely to change, learnt from those that have run.

A logistic regression over what tests have in common (operators, element types, attributes, the operator set), fitted
as outcomes come in: a test's outcome speaks for the tests that resemble it, whatever their operator. Steps are those
of AdaGrad (Duchi, Hazan, Singer: Adaptive Subgradient Methods, 2011). Decision 012 tells what it brings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from fuzz.case import Case
from fuzz.ranking.features import Kind, features
from fuzz.ranking.item import Item, Tensor

#: What a test is expected to be worth before anything is known, as a logit, and the length of a first step.
PRIOR, STEP = float(np.log(0.05 / 0.95)), 2.0
#: So much of a squared error is taken to be seen before the first one.
_SEEN = 0.01
#: Properties of parameters that say something by themselves.
_TELLING = (Kind.VALUE, Kind.RARE, Kind.CORNER, Kind.EMPTY)

Trait = Hashable


class Promise:
    """What tests promise. Tests are known by their position in `traits`, which tells what each has."""

    def __init__(self, traits: Sequence[Collection[Trait]]) -> None:
        count = Counter(trait for own in traits for trait in set(own))
        known = {trait: at for at, trait in enumerate(trait for trait, tests in count.items() if tests > 1)}
        # What only one test has tells nothing of others. Every test has one at least, so that sums are of something.
        nothing = len(known)
        self._rows = [
            np.array(sorted({known[trait] for trait in own if trait in known}) or [nothing], np.intp) for own in traits
        ]
        self._flat = np.concatenate([*self._rows, np.empty(0, np.intp)])
        self._starts = np.cumsum([0, *(len(row) for row in self._rows)])[:-1]
        self._weights = np.zeros(nothing + 1)
        self._errors = np.full(nothing + 1, _SEEN)

    def learn(self, at: int, worth: float) -> None:
        """Learn what a test was worth, from 0 to 1."""
        row = self._rows[at]
        error = worth - 1 / (1 + np.exp(-(PRIOR + self._weights[row].sum())))
        self._errors[row] += error * error
        self._weights[row] += STEP * error / np.sqrt(self._errors[row] * len(row))

    def values(self) -> NDArray[np.float64]:
        """What each test promises, as the logit that is added to what all promise. Before anything is learnt: 0."""
        if not self._rows:
            return np.zeros(0)
        found: NDArray[np.float64] = np.add.reduceat(self._weights[self._flat], self._starts)
        return found


def traits(case: Case, item: Item, operators: Sequence[str]) -> set[Trait]:
    """What a test may have in common with others. `operators` are all of its model, the one that it is about first."""
    first = operators[0] if operators else ""
    variant = case.origin.variant
    found: set[Trait] = {("about", first, "expanded" in variant), ("variant", variant), ("set", _operator_set(case))}
    found |= {("uses", operator) for operator in operators}
    found |= {("type", dtype) for call in item.calls for dtype in _types((*call.parameters.values(), *call.results))}
    found |= {("type of", first, dtype) for dtype in _types((*item.call.parameters.values(), *item.call.results))}
    for feature in features(item.call):
        if feature.kind in _TELLING:
            found.add(("has", first, feature.parameter, feature.property))
    return found


def _types(values: Sequence[object]) -> set[str]:
    return {value.dtype for value in values if isinstance(value, Tensor)}


def _operator_set(case: Case) -> int:
    """The version of ONNX's operators that a model asks for, 0 for anything else."""
    if case.kind != "onnx":
        return 0
    try:
        asked = onnx.ModelProto.FromString(case.model).opset_import
    except DecodeError:
        return 0
    return max((each.version for each in asked if each.domain in ("", "ai.onnx")), default=0)
