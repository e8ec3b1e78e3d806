"""The bound of the reducer's benchmark: what Kraft's inequality says of any reducer beside delta debugging."""

from __future__ import annotations

import math

import pytest

from benchmarks import reducer_bound
from benchmarks.planting import plant
from tests.triage.test_reduce import record


@pytest.mark.parametrize(("needed", "runs"), [((0,), 3), ((1,), 4), ((2,), 4), ((3,), 5)])
def test_delta_debugging_of_four_nodes_halves_the_list_twice(needed: tuple[int, ...], runs: int) -> None:
    # All, the first half, perhaps the second, then a node of it and perhaps the other one.
    assert reducer_bound.delta_debugging(4)[needed] == runs


def test_a_search_that_tells_every_bug_from_all_others_in_as_few_runs_as_can_be_sums_up_to_one() -> None:
    count = 16
    perfect = {(node,): int(math.log2(count)) for node in range(count)}
    assert reducer_bound.kraft(perfect, [0] * count) == 1.0


def test_each_thing_that_may_matter_doubles_the_bugs_of_a_node_and_of_its_pairs() -> None:
    runs = {(0,): 3, (1,): 4, (0, 1): 6}
    assert reducer_bound.kraft(runs, [1, 2]) == 2 * 2.0**-3 + 4 * 2.0**-4 + 8 * 2.0**-6


@pytest.mark.parametrize("kind", ["attribute", "scattered"])
def test_no_reducer_that_simplifies_can_stay_at_delta_debuggings_runs_on_every_bug(kind: str) -> None:
    found = reducer_bound.sums(plant, kind, 60, 0, record)
    assert found.nodes < 1 < found.simplified
