"""What broke some operators makes likelier those tests of others that have it, too."""

from __future__ import annotations

import pytest

from fuzz.ranking.item import Item
from fuzz.ranking.neighbours import Neighbours
from tests.fuzz.ranking.support import item, tensor


def _operators(count: int) -> list[Item]:
    """Of each operator a plain test (even positions) and one with an empty tensor."""
    return [item(at, f"Op{at // 2}", x=tensor(0 if at % 2 else 2, 3)) for at in range(2 * count)]


def _shown(items: list[Item], broken: set[int], count: int) -> Neighbours:
    """After the first `count` tests, all of equal worth, of which those `broken` showed a bug each."""
    neighbours = Neighbours(items)
    for at in range(count):
        neighbours.give(at, 1.0)
        neighbours.saw(at, at in broken)
    return neighbours


def test_before_any_bug_all_tests_are_as_likely_as_their_worth() -> None:
    neighbours = _shown(_operators(6), set(), 8)
    assert [neighbours.likelihood(at) for at in (8, 9)] == [1.0, 1.0]


def test_what_broke_other_operators_is_likelier_to_break_this_one() -> None:
    neighbours = _shown(_operators(6), {1, 3, 5, 7}, 8)
    assert neighbours.likelihood(8) < neighbours.likelihood(9)
    neighbours.give(8, 1.0)  # then nothing but the empty tensor is fresh
    assert neighbours.likelihood(9) > 1


def test_what_the_operator_has_been_shown_already_counts_no_more() -> None:
    items = [*_operators(6), item(12, "Op5", x=tensor(0, 3))]
    neighbours = _shown(items, {1, 3, 5, 7}, 8)
    neighbours.give(10, 1.0)
    assert neighbours.likelihood(12) > 1
    neighbours.give(11, 1.0)  # Op5 with an empty tensor
    assert neighbours.likelihood(12) == 1.0


def test_tests_that_promised_more_say_more_when_they_pass() -> None:
    items = [*_operators(5), item(10, "Broken", mode="a")]
    likely = []
    for worth in (1.0, 10.0):
        neighbours = Neighbours(items)
        for at in (*range(8), 10):
            neighbours.give(at, worth if at % 2 else 1.0)
            neighbours.saw(at, at == 10)
        neighbours.give(8, 1.0)
        likely.append(neighbours.likelihood(9))
    assert likely[1] < likely[0] < 1


def test_of_a_model_of_several_operators_each_ones_properties_count() -> None:
    empty = item(12, "Op9", x=tensor(0, 3))
    plain, both = (Item(13 + at, (item(0, "Op5", axis=1).call, empty.call), "two") for at in range(2))
    items = [*_operators(6), item(12, "Op5", axis=1), plain, both]
    neighbours = _shown(items, {1, 3, 5, 7}, 8)
    before = neighbours.likelihood(13)
    neighbours.give(12, 1.0)
    assert neighbours.likelihood(13) != before  # what Op5 had been shown is left out
    neighbours.give(13, 1.0)
    assert neighbours.likelihood(14) == 1.0


@pytest.mark.parametrize(("dtype", "rare"), [("float8e4m3fn", True), ("bfloat16", True), ("int64", False)])
def test_a_rare_element_type_is_known(dtype: str, rare: bool) -> None:
    assert Neighbours([item(0, x=tensor(2, dtype=dtype))]).is_rare(0) is rare
