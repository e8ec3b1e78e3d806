"""The order of nodes: insertion before a name, comparison, and labels given anew when a gap is used up."""

from __future__ import annotations

import random

from fuzz.mutants.order import Order


def test_names_are_inserted_before_others_and_compare() -> None:
    order = Order(["a", "b"])
    order.insert(["c", "d"], "b")
    order.insert(["e"], "")
    assert list(order) == ["a", "c", "d", "b", "e"]
    assert order.before("c", "d") and order.before("e", "") and order.before("input", "a")
    assert not order.before("b", "d") and not order.before("b", "b")


def test_the_order_stays_right_however_often_one_place_is_used() -> None:
    order, known, draw = Order(["z"]), ["z"], random.Random(1)
    for number in range(3000):
        place = "z" if number % 2 else draw.choice(known)
        known.insert(known.index(place), str(number))
        order.insert([str(number)], place)
    assert list(order) == known
    for _ in range(1000):
        one, other = draw.sample(range(len(known)), 2)
        assert order.before(known[one], known[other]) == (one < other)
