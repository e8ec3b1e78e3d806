"""Whether some order of equal, or of nearly equal, values gives a result of ArgMax, TopK, Hardmax or MaxPool."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from triage.court.evidence import Ruling, Side
from triage.court.kinds import ties
from triage.court.picks import RULES, alternatives, as_large

TIED = np.float32([[1, 3, 3, 0], [2, 2, 2, 2]])
LARGE = np.array([2**60, 2**60 + 1, 2**60])
#: operator, values picked from, noise, results, attributes, whether an order explains them
PICKS: dict[str, tuple[str, np.ndarray, float, dict[int, Any], dict[str, Any], bool]] = {
    "any of the largest": ("ArgMax", TIED, 0, {0: [[2], [3]]}, {"axis": 1}, True),
    "one that is not the largest": ("ArgMax", TIED, 0, {0: [[0], [3]]}, {"axis": 1}, False),
    "a place that does not exist": ("ArgMax", TIED, 0, {0: [[7], [3]]}, {"axis": 1}, False),
    "without the reduced axis": ("ArgMin", TIED, 0, {0: [3, 1]}, {"axis": -1, "keepdims": 0}, True),
    "a near one within the noise": ("ArgMin", np.float32([1, 1.0001]), 1e-4, {0: [1]}, {}, True),
    "a near one beyond the noise": ("ArgMin", np.float32([1, 1.01]), 1e-4, {0: [1]}, {}, False),
    "large integers that differ by one": ("ArgMax", LARGE, 0, {0: [0]}, {}, False),
    "the largest of large integers": ("ArgMax", LARGE, 0, {0: [1]}, {}, True),
    "the top in another order": ("TopK", TIED, 0, {0: [[3, 3], [2, 2]], 1: [[2, 1], [3, 0]]}, {"axis": 1}, True),
    "the same place twice": ("TopK", TIED, 0, {0: [[3, 3], [2, 2]], 1: [[1, 1], [3, 0]]}, {"axis": 1}, False),
    "values from elsewhere": ("TopK", TIED, 0, {0: [[3, 1], [2, 2]], 1: [[2, 1], [3, 0]]}, {"axis": 1}, False),
    "a larger one left out": ("TopK", TIED, 0, {0: [[3, 1], [2, 2]], 1: [[2, 0], [3, 0]]}, {"axis": 1}, False),
    "the wrong way round": ("TopK", TIED, 0, {0: [[1, 3, 3]], 1: [[0, 1, 2], [0, 1, 2]]}, {"axis": 1}, False),
    "the smallest": ("TopK", TIED, 0, {0: [[0], [2]], 1: [[3], [2]]}, {"axis": 1, "largest": 0}, True),
    "values in fewer bits": (
        *("TopK", np.array([0.1, 0.97246836767, 0.97246836768]), 1e-10),
        *({0: [np.float64(np.float32(0.97246836767))] * 2, 1: [1, 2]}, {"axis": 0}, True),
    ),
    "unsorted": ("TopK", TIED, 0, {0: [[1, 3, 3], [2] * 3], 1: [[0, 2, 1], [0, 1, 2]]}, {"axis": 1, "sorted": 0}, True),
    "one of several maxima": ("Hardmax", TIED, 0, {0: [[0, 0, 1, 0], [0, 0, 0, 1]]}, {"axis": 1}, True),
    "all of several maxima": ("Hardmax", TIED, 0, {0: [[0, 1, 1, 0], [0, 0, 0, 1]]}, {"axis": 1}, False),
    "another equal maximum": ("MaxPool", np.ones((1, 1, 3), "f"), 0, {0: [[[1, 1]]], 1: [[[1, 2]]]}, {}, True),
    "a place of another value": ("MaxPool", np.float32([[[1, 2, 1]]]), 0, {0: [[[2, 2]]], 1: [[[0, 1]]]}, {}, False),
}


@pytest.mark.parametrize(
    ("values", "moved", "ruling"),
    [
        ([9, 9, 1, 1], [0, 0, 0, 0], None),
        ([9, 9, 1, 1], [0, 0, 1e-7, 1e-7], None),  # rounding moves what nobody picks
        ([9, 9, 1, 1], [1e-7, 1e-7, 0, 0], Ruling.NOISE),
    ],
)
def test_an_order_is_broken_where_what_is_picked_from_is_exact(
    values: list[float], moved: list[float], ruling: Ruling | None
) -> None:
    node = helper.make_node("Hardmax", ["x"], ["y"])
    second = {0: np.float32([[0, 1, 0, 0]])}
    found = ties._judged(ties._Pick(node, 13, np.float32([values]), np.array([moved]), second, {}))
    assert found is not None and found.settles is ruling
    assert (found.side is Side.AGAINST) is (ruling is None)


@pytest.mark.parametrize("name", PICKS)
def test_an_order_of_equal_values_explains_a_pick_or_none_does(name: str) -> None:
    operator, values, noise, results, given, explained = PICKS[name]
    found = {at: np.array(value) for at, value in results.items()}
    assert RULES[operator](values, np.full(values.shape, float(noise)), found, given) is explained


ALTERNATIVES: dict[str, tuple[str, np.ndarray, Any, dict[str, Any], list[Any]]] = {
    "the largest": ("ArgMax", np.float32([1, 3, 3, 0]), [1], {"axis": 0}, [[1], [2]]),
    "one of each line": ("ArgMax", TIED, [1, 0], {"axis": 1}, [[1, 0], [2, 1], [1, 2], [2, 3]]),
    "several of a line": ("TopK", TIED[:1], [[1, 2]], {}, [[[1, 1]], [[2, 2]]]),
    "several of a column": ("TopK", TIED[:1].T, [[1], [2]], {"axis": 0}, [[[1], [1]], [[2], [2]]]),
    "beside one that has no equal": ("TopK", np.float32([9, 1, 1]), [0, 1], {}, [[0, 1], [0, 2]]),
    "nothing is equal": ("ArgMin", np.float32([3, 1, 2]), [1], {"axis": 0}, []),
    "large numbers that only look equal": ("ArgMax", LARGE, [1], {"axis": 0}, []),
    "no number is equal to none": ("ArgMax", np.float32([np.nan, np.nan]), [0], {"axis": 0}, []),
}


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_every_equal_value_may_be_picked_instead_and_no_other(name: str) -> None:
    operator, x, places, given, expected = ALTERNATIVES[name]
    found = alternatives(operator, x, np.array(places), given)
    assert [each.tolist() for each in found] == expected


def test_a_pooled_value_is_the_largest_whichever_was_taken_or_none() -> None:
    largest = np.float32([[[3, np.nan, -np.inf]]])
    assert as_large(np.float32([[[3, 7, -np.inf]]]), largest, np.zeros(6)), "what the largest of NaN is, is open"
    assert not as_large(np.float32([[[2, 7, -np.inf]]]), largest, np.zeros(6))
    assert as_large(np.float32([[[2.5, 7, -np.inf]]]), largest, np.full(6, 0.6)), "as far as rounding may move it"
    assert as_large(None, largest, np.zeros(6))
    assert not as_large(np.float32([[[3, 7, -3]]]), largest, np.zeros(6)), "nothing is near infinity"
