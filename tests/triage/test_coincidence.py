"""When results that fit have fitted by more than chance."""

from __future__ import annotations

import numpy as np

from triage.coincidence import Fitting


def convinced(*witnesses: tuple[object, object], dtype: str = "float32") -> bool:
    fitting = Fitting()
    for got, want in witnesses:
        fitting.see([np.array(got, dtype)], [np.array(want, dtype)])
    return fitting.convinces


def test_different_wrong_numbers_convince_and_one_number_again_and_again_does_not() -> None:
    assert convinced(([1.5, 2.5, 3.5, 4.5], [2, 3, 4, 5]))
    assert not convinced(([1.5, 1.5, 1.5, 1.5], [2, 3, 4, 5]))
    assert not convinced(([1.5, 2.5], [2, 3]))


def test_elements_that_are_right_prove_nothing() -> None:
    assert not convinced(([1.5, 2.5, 3.5, 4.5], [1.5, 2.5, 3.5, 5.5]))
    assert not convinced(([1.5, 2.5, 3.5, 4.5], [1.5001, 2.5001, 3.5001, 4.5001]))


def test_zeros_alone_convince_nobody_however_many() -> None:
    assert not convinced(*[([0.0] * 9, [1, 2, 3, 4, 5, 6, 7, 8, 9])] * 3)


def test_nan_alone_convinces_where_many_witnesses_have_it_in_the_right_places() -> None:
    """A cast that never saturates gives nothing but NaN, and only where a number is too large."""
    nan, wanted = [np.nan, 1.0, np.nan], [448, 1, -448]
    assert convinced(*[(nan, wanted)] * 4) and not convinced(*[(nan, wanted)] * 3)
    assert not convinced(*[([np.nan], [448])] * 4)


def test_infinities_alone_convince_as_nan_does() -> None:
    """What does not saturate in a type that has infinities."""
    wrong, wanted = [np.inf, 1.0, np.inf], [57344, 1, 57344]
    assert convinced(*[(wrong, wanted)] * 4) and not convinced(*[(wrong, wanted)] * 3)


def test_truth_values_convince_where_there_are_many_of_both_and_not_in_one_witness() -> None:
    both = ([True, False] * 4, [False, True] * 4)
    assert convinced(both, both, dtype="bool")
    assert not convinced(both, dtype="bool")
    assert not convinced(([True] * 8, [False] * 8), ([True], [False]), dtype="bool")


def test_a_wrong_shape_counts_with_all_it_holds_and_text_with_nothing() -> None:
    assert convinced(([1.5, 2.5, 3.5, 4.5], [1.5, 2.5]))
    fitting = Fitting()
    fitting.see([np.array(["a"], object), None], [np.array(["b"], object), None])
    assert not fitting.convinces
