"""What tests show changes which ones come next."""

from __future__ import annotations

from itertools import islice

from fuzz.ranking.item import Tensor
from fuzz.ranking.replay import learning_order
from fuzz.ranking.schedule import Schedule, Seen
from fuzz.ranking.suspicion import family, possibilities, queues
from tests.fuzz.ranking.support import company, item, spread, tensor


def test_every_test_comes_once_whatever_is_observed() -> None:
    items = spread(7, 9)
    schedule = Schedule(items, (), 0, failed={5: ["one"], 11: ["two"]})
    found = []
    for at in schedule:
        found.append(at)
        schedule.observe(at, list(Seen)[at % 4])
    assert sorted(found) == list(range(len(items)))


def test_every_operator_has_a_turn_before_any_has_many() -> None:
    items = [item(at, "Big", axis=at) for at in range(50)] + [item(50 + n, f"Small{n}") for n in range(10)]
    found = list(Schedule(items, (), 3))
    assert {items[at].operator for at in found[:20]} == {each.operator for each in items}


def test_an_operator_that_is_refused_waits() -> None:
    items = spread(4, 20)
    for seen, early in ((Seen.REFUSED, False), (Seen.NEW, True)):
        schedule = Schedule(items, (), 0)
        for at in islice(schedule, 8):
            schedule.observe(at, seen if items[at].operator == "Op0" else Seen.PASSED)
        following = [items[at].operator for at in islice(schedule, 12)]
        assert (following.count("Op0") > 3) is early, (seen, following)


def _turns(first: Seen, later: Seen, dtype: str = "float") -> int:
    """How many of the first 60 tests are of the operator that shows that; 5 others pass, 20 tests each."""
    items = [item(at, f"Op{at % 6}", x=tensor(2, dtype=dtype), axis=at // 6) for at in range(120)]
    schedule, mine = Schedule(items, (), 0), 0
    for at in islice(schedule, 60):
        own = items[at].operator == "Op0"
        schedule.observe(at, (later if mine else first) if own else Seen.PASSED)
        mine += own
    return mine


def test_a_refusal_says_little_of_an_operator_that_was_converted_once() -> None:
    never, once = _turns(Seen.REFUSED, Seen.REFUSED), _turns(Seen.PASSED, Seen.REFUSED)
    assert never < 5 < once


def test_a_refusal_of_a_rare_element_type_says_little_of_the_operator() -> None:
    usual, rare = (_turns(Seen.REFUSED, Seen.REFUSED, dtype) for dtype in ("float", "float8e4m3fn"))
    assert usual < rare


def test_what_broke_other_operators_comes_next() -> None:
    names = ("int32", "int64", "double", "bool")
    items = [
        item(20 * row + at, f"Op{at}", x=tensor(2, dtype=name)) for row, name in enumerate(names) for at in range(20)
    ]
    orders = []
    for broken in names:
        schedule, order = Schedule(items, (), 0), []
        for at in schedule:
            order.append(at)
            schedule.observe(at, Seen.NEW if items[at].call.parameters["x"].dtype == broken else Seen.PASSED)
        wanted = range(20 * names.index(broken), 20 * names.index(broken) + 20)
        orders.append(sum(order.index(at) for at in wanted) / 20)
    assert max(orders) < 30  # 39.5 without learning


def test_an_observation_of_a_test_that_another_source_gave_does_no_harm() -> None:
    items = spread(3, 5)
    schedule = Schedule(items, (), 0)
    schedule.observe(7, Seen.NEW)
    schedule.observe(8, Seen.PASSED)
    assert sorted(schedule) == list(range(len(items)))


def test_of_each_bug_that_was_seen_before_one_test_comes_first_one_of_each_operator_in_turn() -> None:
    items = spread(5, 6)
    failed = {at: [f"{items[at].operator} {at < 15}"] for at in range(30) if items[at].operator in ("Op1", "Op3")}
    found = list(Schedule(items, (), 0, failed))
    assert sorted(failed[at][0] for at in found[:4]) == ["Op1 False", "Op1 True", "Op3 False", "Op3 True"]
    assert {items[at].operator for at in found[:2]} == {"Op1", "Op3"}
    assert sorted(found) == list(range(30))


def test_a_test_that_showed_several_bugs_stands_for_all_of_them() -> None:
    items = spread(3, 4)
    both = next(at for at in Schedule(items, (), 0) if items[at].operator == "Op1")
    failed = {both: ["a", "b"], **{at: ["b"] for at in range(12) if at != both and items[at].operator == "Op1"}}
    found = list(Schedule(items, (), 0, failed))
    assert found[0] == both and items[found[1]].operator != "Op1"


def test_a_corner_comes_before_more_of_the_same() -> None:
    items = [item(at, x=tensor(2, 3), axis=1) for at in range(20)] + [item(20, x=tensor(0, 3), axis=-1)]
    assert list(Schedule(items, (), 0)).index(20) <= 1


def test_a_corner_is_another_one_where_a_parameter_is_known_when_the_model_is_compiled() -> None:
    axes = Tensor("int64", (1,))
    given = [item(at, x=tensor(0, 3), axes=axes) for at in range(20)]
    frozen = item(20, x=tensor(0, 3), axes=Tensor("int64", (1,), constant=True))
    others = [item(21 + at, x=tensor(2, 3), axes=axes, keep=at) for at in range(3)]
    ways = [
        way
        for test in (given[0], frozen)
        for key in possibilities(test)
        if key[1:3] == ("x", "empty")
        for way in key[3:]
    ]
    assert ways == [False, True]
    assert list(Schedule([*given, frozen, *others], (), 0)).index(20) <= 4


def test_an_empty_tensor_of_another_type_is_another_corner() -> None:
    usual = [item(at, x=tensor(2, 3, dtype=("float", "bool")[at % 2])) for at in range(20)]
    empty = [item(20, x=tensor(0, 3)), item(21, x=tensor(0, 3, dtype="bool"))]
    assert all({20, 21} == set(list(Schedule([*usual, *empty], (), seed))[:2]) for seed in range(5))


def test_a_rare_element_type_comes_before_another_usual_one() -> None:
    usual = [item(at, x=tensor(2, dtype=name)) for at, name in enumerate(("float", "int32", "int64", "double"))]
    rare = item(4, x=tensor(2, dtype="float8e4m3fn"))
    assert all(list(Schedule([*usual, rare], (), seed)).index(4) == 0 for seed in range(5))


def test_an_element_type_that_a_library_tests_everywhere_is_none_of_the_rare() -> None:
    types = ("float32", "int32", "int64", "bfloat16", "bool")
    tests = [item(at, "torch.add", x=tensor(2, dtype=name)) for at, name in enumerate(types)]
    assert {next(Schedule(tests, (), seed)) for seed in range(20)} == {1, 2, 3, 4}


def test_what_the_compilers_own_tests_have_waits() -> None:
    items = [item(0, mode="linear"), item(1, mode="cubic")]
    assert next(Schedule(items, [items[0]], 0)) == 1
    assert next(Schedule(items, [items[1]], 0)) == 0


def test_a_model_of_several_operators_comes_after_tests_of_one() -> None:
    items = [company(0, "Mul", "Add", "Exp"), item(1, "Mul"), item(2, "Add"), item(3, "Exp")]
    assert list(Schedule(items, (), 0))[-1] == 0


def test_spellings_of_one_operation_share_a_queue() -> None:
    names = ("torch.add", "torch.Tensor.__add__", "torch.Tensor.add_", "torch.nn.Conv2d", "torch.nn.functional.conv2d")
    assert [family(name) for name in names] == ["add", "add", "add", "conv2d", "conv2d"]
    assert family("Add") == "Add"
    assert len(queues([item(at, name) for at, name in enumerate(names)], (), 0)) == 2


def test_a_dear_test_gives_way_to_cheap_ones_of_equal_promise() -> None:
    items = [item(at, f"Op{at}") for at in range(6)]
    priced = [type(each)(each.id, each.calls, each.text, 60.0 if at == 2 else 0.1) for at, each in enumerate(items)]
    assert list(Schedule(priced, (), 0))[-1] == 2


def test_a_replay_learns_from_the_recorded_outcomes() -> None:
    items = spread(6, 40)
    refused = [each.operator != "Op5" for each in items]
    bugs = {"late": [max(at for at in range(240) if items[at].operator == "Op5")]}
    learned = learning_order(items, (), 0, bugs, refused)
    assert sorted(learned) == list(range(240))
    still = list(Schedule(items, (), 0))
    assert learned.index(bugs["late"][0]) < still.index(bugs["late"][0])
