"""What plain halving of a list would find soon."""

from __future__ import annotations

import numpy as np

from triage import halving


def test_a_node_at_the_front_takes_a_run_for_each_halving_and_one_at_the_back_two() -> None:
    singles = [(at,) for at in range(64)]
    found = halving.soon(singles, np.arange(64), 64)
    assert found[0] == 2.0**-6 and found[63] == 2.0**-12


def test_a_pair_within_a_half_is_found_sooner_than_one_across_the_middle() -> None:
    inside, across = halving.soon([(8, 9), (31, 32)], np.arange(2), 64)
    assert inside > 100 * across


def test_of_several_occurrences_the_one_that_is_found_first_counts() -> None:
    both = halving.soon([(63,), (0,)], np.zeros(2, int), 64)
    assert both.tolist() == [2.0**-6]


def test_all_together_need_no_more_runs_than_there_are() -> None:
    singles = [(at,) for at in range(100)]
    assert halving.soon(singles, np.arange(100), 100).sum() < 1


def test_nothing_is_found_where_nothing_is() -> None:
    assert halving.soon([], np.zeros(0, int), 10).size == 0
