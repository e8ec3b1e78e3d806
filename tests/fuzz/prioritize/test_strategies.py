"""Every strategy orders all tests, steadily for one seed; each does what its paper says."""

from __future__ import annotations

import pytest

from fuzz import prioritize
from fuzz.prioritize.opera import frequency
from fuzz.prioritize.opera_coded import untested_share
from tests.fuzz.ranking.support import item, spread, tensor

NAMES = prioritize.names()


def test_a_strategy_is_a_file() -> None:
    assert {"opera", "opera-coded", "random", "fast", "coverage-total", "coverage-additional", "round-robin"} < {*NAMES}
    with pytest.raises(prioritize.UnknownStrategy, match="choose one of coverage-additional, "):
        prioritize.load("best")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [0, 1, 60])
def test_an_order_holds_every_test_once_and_is_the_same_for_one_seed(name: str, count: int) -> None:
    items, order = spread(6, 10)[:count], prioritize.load(name)
    found = order(items, items[:7], 5)
    assert sorted(found) == list(range(count))
    assert found == order(items, items[:7], 5)


@pytest.mark.parametrize("name", NAMES)
def test_tests_that_are_all_alike_are_no_trouble(name: str) -> None:
    assert sorted(prioritize.load(name)([item(at) for at in range(30)], (), 1)) == list(range(30))


@pytest.mark.parametrize("name", ["random", "round-robin", "fast", "opera-coded", "graphwarden"])
def test_the_seed_matters_where_tests_are_equal(name: str) -> None:
    items = [item(at) for at in range(40)]
    assert len({tuple(prioritize.load(name)(items, (), seed)) for seed in range(4)}) > 1


def test_total_coverage_takes_the_largest_and_additional_what_is_new() -> None:
    items = [item(0, a=1, b=1, c=1), item(1, a=1, b=1), item(2, "Other", a=1)]
    assert prioritize.load("coverage-total")(items, (), 0) == [0, 1, 2]
    assert prioritize.load("coverage-additional")(items, (), 0) == [0, 2, 1]


def test_round_robin_gives_each_operator_its_turn() -> None:
    items = spread(5, 4)
    found = prioritize.load("round-robin")(items, (), 0)
    for turn in range(0, 20, 5):
        assert len({items[at].operator for at in found[turn : turn + 5]}) == 5


def test_fast_takes_an_unlike_text_before_likenesses() -> None:
    items = [item(at, "Convolution", pads=[1, 1], strides=[2, 2]) for at in range(20)] + [item(20, "Erf", y=3.5)]
    assert all(prioritize.load("fast")(items, (), seed).index(20) <= 1 for seed in range(5))


def test_operas_formula_counts_the_librarys_tests_over_the_compilers_plus_one() -> None:
    assert frequency([{}] * 6, [], {}) == 6
    assert frequency([{}] * 6, [{}] * 2, {}) == 2


def test_to_opera_a_tensor_is_one_parameter_with_its_type_and_shape() -> None:
    given = [
        item(0, x=tensor(2), k="a", m="u"),
        item(1, x=tensor(2, 3, dtype="float16"), k="a", m="u"),  # then new: x, with k, with m: 3 of 6
        item(2, x=tensor(2), k="b", m="v"),  # then new: k, m, both, each with x: 5 of 6
    ]
    orders = [prioritize.load("opera")(given, (), seed) for seed in range(12)]
    assert {tuple(found) for found in orders if found[0] == 0} == {(0, 2, 1)}


def test_the_coded_score_is_the_share_of_subspaces_that_the_compiler_leaves_out() -> None:
    assert untested_share([{"axis": 1}], [], {}) == 1
    # axis: 1 of 2 values; mode: 1 of 1; the pair: 1 of 2.
    assert untested_share([{"axis": 1, "mode": "a"}], [{"axis": 0, "mode": "a"}], {}) == 1 - 1 / 4


def test_the_coded_order_puts_what_is_not_new_last() -> None:
    items = [item(0, axis=-3), item(1, axis=-7), item(2, axis=0), item(3, axis=1)]
    for seed in range(5):
        found = prioritize.load("opera-coded")(items, [item(9, axis=0)], seed)
        assert 2 in found[2:] and len({0, 1} & set(found[:2])) == 1


def test_an_operator_without_a_test_of_the_compiler_comes_before_one_that_has_them_all() -> None:
    items = [item(0, "Tested", x=tensor(2)), item(1, "New", x=tensor(2))]
    for name in ("opera", "opera-coded", "graphwarden"):
        assert prioritize.load(name)(items, items[:1] * 3, 0) == [1, 0]
