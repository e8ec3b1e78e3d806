"""Oracle 3: labels and scores of original and mutant, and which deviations rounding explains."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.oracles.metamorphic import compare, is_numeric
from fuzz.wire import Value

SCORES = np.array([[0.1, 2.0, 1.99995, -3.0]], np.float32)


def moved(by: float, at: int = 0) -> np.ndarray:
    found = SCORES.copy()
    found[0, at] += by
    return found


def test_scores_within_delta_with_the_same_label_agree() -> None:
    assert compare([moved(5e-5)], [SCORES]) is None
    assert compare([moved(0.01)], [SCORES], delta=0.1) is None
    assert compare([np.array([np.nan, np.inf])], [np.array([np.nan, np.inf])]) is None


@pytest.mark.parametrize(
    ("mutant", "symptom"),
    [
        ([moved(2e-4)], "wrong:score"),
        ([moved(6e-5, at=2)], "wrong:label"),  # within delta, and yet another class
        ([moved(np.nan)], "wrong:nan"),
        ([moved(np.inf)], "wrong:inf"),
        ([SCORES.astype(np.float64)], "wrong:dtype"),
        ([SCORES[0]], "wrong:shape"),
        ([SCORES, SCORES], "wrong:count"),
        ([[SCORES]], "wrong:dtype"),
    ],
)
def test_a_deviation_is_named(mutant: list[Value], symptom: str) -> None:
    found = compare(mutant, [SCORES])
    assert found is not None and found.symptom == symptom
    assert found.detail and found.distance > 0


def test_integers_are_compared_exactly_and_sequences_by_item() -> None:
    ones = np.ones(3, np.int64)
    assert compare([ones], [ones]) is None and compare([ones + 1], [ones]) is not None
    assert compare([[SCORES]], [[moved(1e-6)]]) is None and compare([[SCORES]], [[moved(1.0)]]) is not None
    assert compare([None], [None]) is None and compare([None], [SCORES]) is not None


def test_a_deviation_within_the_noise_of_both_graphs_is_numeric_and_beyond_it_is_not() -> None:
    def noise(size: float) -> list[Value]:
        return [np.full(SCORES.shape, size)]

    assert is_numeric([moved(0.9)], [SCORES], [noise(0.5), noise(0.5)])
    assert not is_numeric([moved(1.1)], [SCORES], [noise(0.5), noise(0.5)])
    assert not is_numeric([moved(np.nan)], [SCORES], [noise(0.5), noise(0.5)])
    assert is_numeric([moved(np.nan)], [SCORES], [noise(np.inf), noise(0.5)])


def test_noise_explains_neither_shapes_nor_an_output_that_it_says_nothing_of() -> None:
    wide: list[Value] = [np.full(SCORES.shape, np.inf)]
    assert not is_numeric([SCORES[0]], [SCORES], [wide, wide])
    assert not is_numeric([moved(1.0)], [SCORES], [wide, [None]])
    assert not is_numeric([SCORES, SCORES], [SCORES], [wide, wide])
