"""Distances: in ulp, in multiples of the noise, and to whom a third result is nearer."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from triage.court import measure


def test_an_ulp_is_the_distance_to_the_next_number_of_the_dtype() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        values = np.array([1.0, 1.5, 0.1, 1000.0, 3e-5], dtype)
        expected = np.abs(np.spacing(values)).astype(np.float64)
        assert measure.ulp(values.astype(np.float64), np.dtype(dtype).name) == pytest.approx(expected)
    assert measure.ulp(np.array([1.0]), "bfloat16") == float(ml_dtypes.finfo(ml_dtypes.bfloat16).eps)
    assert measure.ulp(np.array([7.0]), "int32") == 1.0


def test_equal_infinities_and_nans_are_no_distance_apart() -> None:
    one = np.array([np.inf, np.nan, -np.inf, 1.0, np.inf])
    other = np.array([np.inf, np.nan, np.inf, np.nan, 5.0])
    assert measure.distance(one, other).tolist() == [0.0, 0.0, np.inf, np.inf, np.inf]


def test_noise_without_bound_explains_everything_and_no_noise_nothing() -> None:
    error, noise = np.array([0.0, 1.0, np.inf, 2.0]), np.array([0.0, 0.0, np.inf, 4.0])
    assert measure.excess(error, noise).tolist() == [0.0, np.inf, 0.0, 0.5]


def test_a_near_miss_lies_between_the_two_tolerances() -> None:
    want = [np.float32([1.0, 2.0])]
    assert measure.near_miss([np.float32([1.0015, 2.0])], want).startswith("1 of 2 elements of output 0")
    assert not measure.near_miss([np.float32([1.0005, 2.0])], want)
    assert not measure.near_miss([np.float32([1.0015])], want)


def test_a_vote_goes_to_whoever_is_much_nearer() -> None:
    actual, expected = [np.float32([1.5, 2.0])], [np.float32([1.0, 2.0])]
    assert measure.nearer([np.float32([1.49, 2.0])], actual, expected) == 1
    assert measure.nearer([np.float32([1.0, 2.1])], actual, expected) == -1
    assert measure.nearer([np.float32([1.25, 2.0])], actual, expected) == 0
    assert measure.nearer([np.float32([1.0])], actual, expected) == 0


def test_a_vote_on_a_shape_goes_to_whoever_shares_it() -> None:
    actual, expected = [np.zeros((2, 1), "f")], [np.zeros(2, "f")]
    assert measure.nearer([np.zeros((2, 1), "f")], actual, expected) == 1
    assert measure.nearer([np.zeros(2, "f")], actual, expected) == -1
    assert measure.nearer([np.zeros(3, "f")], actual, expected) == 0


def test_the_worst_element_is_the_least_explained_one() -> None:
    wide = np.array([1.0, 100.0, 5.0])
    noise = np.array([0.0, 90.0, 0.0])
    found = measure.worst([np.float32([1.01, 150.0, 5.0])], [wide.astype("f")], [wide], [noise])
    assert found is not None and found.index == (0,)
    assert (found.beyond, found.explained) == (2, 1)
    assert found.excess > 1e4 and found.reference_excess == 0.0
    assert measure.worst([wide.astype("f")], [wide.astype("f")], [wide], [noise]) is None


def test_strings_and_sequences_have_no_worst_element() -> None:
    text = np.array(["a"], dtype=object)
    assert measure.worst([text, [text]], [text, [text]], [None, None], [None, None]) is None


def test_a_voter_sides_with_the_compiler_only_if_it_has_its_result() -> None:
    actual, expected, still = [np.float32([0.30, 2.0])], [np.float32([0.80, 2.0])], [np.zeros(2)]
    where = measure.parted(actual, expected)
    assert where[0].tolist() == [True, False]
    assert measure.agrees([np.float32([0.3002, 5.0])], actual, where, still)  # elsewhere is not asked
    assert not measure.agrees([np.float32([0.34, 2.0])], actual, where, still)
    assert measure.agrees([np.float32([0.34, 2.0])], actual, where, [np.float64([0.03, 0])])  # noise may be there
    assert not measure.agrees([np.array(["a"], object)], [np.array(["b"], object)], where, [None])


NOISY = np.random.default_rng(3).standard_normal(64)


def test_errors_of_one_factor_are_no_rounding_unless_rounding_makes_such() -> None:
    truth = np.float64(NOISY + 3)
    scaled = (truth * (1 + 0.016 * (1 + 0.01 * NOISY))).astype("f")
    assert measure.pattern(scaled, truth, (0.3, 0.3)) == "the same proportion (1.016)"
    assert measure.pattern(scaled, truth, (0.99, 0.3)) == ""  # one rounded number divides them all
    assert measure.pattern(scaled.astype(np.float16), truth, (0.3, 0.3)) == ""  # long sums stop growing there
    uneven = (truth * (1 + 0.016 * (1 + 0.25 * NOISY))).astype("f")  # a wrong epsilon: one sign, not quite one factor
    assert measure.pattern(uneven, truth, (0.3, 0.3)) and not measure.pattern(uneven, truth, (0.45, 0.45))
    assert measure.pattern(scaled[:4], truth[:4], (0.3, 0.3)) == ""
    assert measure.pattern((truth * (1 + 0.016 * NOISY)).astype("f"), truth, (0.3, 0.3)) == ""
    assert measure.pattern((truth + 0.02).astype("f"), truth, (0.3, 0.3)).startswith("the same direction")
    assert measure.pattern(truth.astype("f"), np.full(64, np.nan), (0.3, 0.3)) == ""


def test_runs_of_one_program_are_steady_where_they_differ_by_rounding_alone() -> None:
    one = [np.float32([1.0, 1e-9]), np.array([3])]
    assert measure.steady([np.float32([1.000001, 2e-9]), np.array([3])], one)
    assert not measure.steady([np.float32([1.0, 1e-9]), np.array([4])], one)
    assert not measure.steady([np.float32([1.1, 1e-9]), np.array([3])], one)
    assert measure.steady([np.float32([np.nan, np.inf])], [np.float32([np.nan, np.inf])])
    assert not measure.steady([np.float32([np.nan])], [np.float32([1])])


def test_what_memory_happened_to_hold_is_not_steady_though_it_is_within_the_tolerance() -> None:
    """As zeros, or as huge numbers: all runs are alike up to the tolerance."""
    assert not measure.steady([np.float32([-7.98e-22])], [np.float32([-7.99e-22])])
    assert not measure.steady([np.float32([-2.1471e36])], [np.float32([-2.1482e36])])
