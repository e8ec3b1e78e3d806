"""The metrics agree with what one computes by hand, whatever order and costs."""

from __future__ import annotations

import pytest

from fuzz.ranking import metrics

BUGS = {"a": [3], "b": [0, 4]}


def test_apfd_is_the_papers_formula() -> None:
    # Ranks 4 and 1 of 5 tests, 2 bugs.
    assert metrics.ranks(range(5), BUGS) == {"a": 4, "b": 1}
    assert metrics.apfd(range(5), BUGS) == pytest.approx(1 - 5 / 10 + 1 / 10)


def test_a_bug_counts_from_the_first_test_that_shows_it() -> None:
    assert metrics.apfd([4, 3, 0, 1, 2], BUGS) == pytest.approx(1 - 3 / 10 + 1 / 10)


def test_with_equal_costs_the_cost_aware_value_is_the_plain_one() -> None:
    for order in ([0, 1, 2, 3, 4], [4, 2, 3, 1, 0]):
        assert metrics.apfdc(order, BUGS, [2.0] * 5) == pytest.approx(metrics.apfd(order, BUGS))


def test_a_dear_test_before_the_bugs_lowers_the_cost_aware_value_only() -> None:
    cheap, dear = [1.0] * 5, [1.0, 96.0, 1.0, 1.0, 1.0]
    order = [1, 3, 0, 2, 4]
    assert metrics.apfdc(order, BUGS, dear) < 0.05 < metrics.apfdc(order, BUGS, cheap)


def test_where_nothing_costs_anything_the_plain_value_is_given() -> None:
    assert metrics.apfdc(range(5), BUGS, [0.0] * 5) == metrics.apfd(range(5), BUGS)


def test_an_ideal_order_has_an_area_of_one_for_every_k() -> None:
    for k in (1, 2, 3, 5, 50):
        assert metrics.rauc([0, 3, 1, 2, 4], BUGS, k) == pytest.approx(1)
    assert metrics.rauc([1, 2, 4, 3, 0], BUGS, 2) == 0


def test_time_to_a_bug_includes_the_test_that_shows_it() -> None:
    assert metrics.times([2, 0, 3, 1, 4], BUGS, [1, 10, 100, 1000, 1]) == {"a": 1101, "b": 101}


def test_without_bugs_or_for_a_bug_that_nothing_shows_there_is_no_value() -> None:
    with pytest.raises(ValueError, match="no bugs"):
        metrics.apfd(range(5), {})
    with pytest.raises(ValueError, match="'c'"):
        metrics.apfd(range(5), {"c": [7]})
