"""What is wrong with a wrong result: a class, and one sentence with the evidence. Pure (issue 3, "Signature").

The classes explain; they are not part of the key by which failures are one bug (decision 008): a case that is
reduced to one element has a constant offset, a constant factor and the wrong sign all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.oracles import differential
from fuzz.oracles.differential import compare
from fuzz.wire import Raw, Value, dtype_name
from triage import symptom_order
from triage.literals import Array, as_array
from triage.symptom_elements import DETECTORS, OF_ALL, Kind, Pair

__all__ = ["Kind", "Symptom", "classify"]


@dataclass(frozen=True)
class Symptom:
    """A class and the sentence that gives its evidence; `where` is a clause on the places, "" for all of them."""

    kind: Kind
    sentence: str
    where: str = ""

    @property
    def told(self) -> str:
        """Sentence and places together."""
        return f"{self.sentence}; {self.where}" if self.where else self.sentence


def classify(expected: Sequence[Value], actual: Sequence[Value]) -> Symptom | None:
    """What is wrong with `actual`, told of the first output that differs; None when nothing does.

    What differs is decided by the oracle (`fuzz.oracles.differential`), so a symptom is never seen in noise.
    """
    difference = compare(actual, expected)
    if difference is None:
        return None
    if difference.symptom == differential.COUNT:
        return Symptom(Kind.COUNT, difference.detail)
    return _of_value(expected[difference.output], actual[difference.output])


def _of_value(expected: Value, actual: Value) -> Symptom:
    if isinstance(expected, list) and isinstance(actual, list):
        return classify(expected, actual) or Symptom(Kind.VALUES, "the items differ")
    if not isinstance(expected, np.ndarray | Raw) or not isinstance(actual, np.ndarray | Raw):
        return Symptom(Kind.MISSING, f"{dtype_name(actual)} instead of {dtype_name(expected)}")
    want, got = as_array(expected), as_array(actual)
    if dtype_name(expected) != dtype_name(actual):
        return Symptom(Kind.DTYPE, _dtype(want, got))
    if want.shape != got.shape:
        return Symptom(Kind.SHAPE, _shape(want, got))
    if want.dtype.kind not in "biufcV":
        return Symptom(Kind.TEXT, "other strings")
    pair = Pair.of(want, got)
    for kind, detect in DETECTORS:
        sentence = detect(pair)
        if sentence:
            return Symptom(kind, sentence, "" if kind in OF_ALL else symptom_order.places(pair.wrong))
    return Symptom(
        Kind.VALUES, f"{pair.count} of {pair.wrong.size} elements are wrong", symptom_order.places(pair.wrong)
    )


# ---------------------------------------------------------------- whole outputs


def _dtype(want: Array, got: Array) -> str:
    text = f"{dtype_name(got)} instead of {dtype_name(want)}"
    if want.shape != got.shape:
        return text
    if not _numeric(want) or not _numeric(got):
        return text
    wide = np.complex128 if "c" in want.dtype.kind + got.dtype.kind else np.float64
    same = np.array_equal(want.astype(wide), got.astype(wide), equal_nan=True)
    return f"{text}; the numbers are right" if same else f"{text}; the numbers differ as well"


def _shape(want: Array, got: Array) -> str:
    text = f"shape {list(got.shape)} instead of {list(want.shape)}"
    if want.size == got.size and want.size > 1 and np.array_equal(want.ravel(), got.ravel()):
        return f"{text}; the elements are the right ones in the right order"
    if sorted(want.shape) == sorted(got.shape):
        return f"{text}: the axes are in another order"
    ones = [size for size in want.shape if size != 1], [size for size in got.shape if size != 1]
    if ones[0] == ones[1]:
        return f"{text}: only axes of size 1 are too many or too few"
    if not got.size and want.size:
        return f"{text}: empty"
    return text


def _numeric(array: Array) -> bool:
    return array.dtype.kind in "biufcV"
