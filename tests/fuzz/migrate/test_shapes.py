"""Documented shapes and sizes for them."""

from __future__ import annotations

import random

import pytest

from fuzz.migrate._shapes import ANY, Shape, alternatives, sizes


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("(N, C, L)", [("N", "C", "L")]),
        (r"(\text{minibatch} , \text{in\_channels} , iW)", [("minibatch", "in_channels", "iW")]),
        (r"(O, \frac{\text{in}}{\text{groups}}, kW)", [("O", "in/groups", "kW")]),
        (r"(n \times m)", [("n", "m")]),
        ("(N, *)", [("N", ANY)]),
        ("(N, d_1, d_2, ..., d_K)", [("N", "d_1", "d_2", ANY)]),
        ("(C) or (N, C)", [("C",), ("N", "C")]),
        ("(N, H_{in}, 2)", [("N", "H_in", "2")]),
        (r"(\text{padding_left}, f(x) = 2)", []),
        ("no shape", []),
    ],
)
def test_a_tuple_in_mathematics_is_a_shape(text: str, dims: list[tuple[str, ...]]) -> None:
    assert alternatives(text) == tuple(Shape(each) for each in dims)


def test_one_symbol_has_one_size_in_a_call() -> None:
    known: dict[str, int] = {}
    rng = random.Random(0)
    first, second = sizes(Shape(("n", "m")), known, rng), sizes(Shape(("m", "p")), known, rng)
    assert first[1] == second[0] == known["m"]


def test_any_dimensions_are_the_same_ones_everywhere_in_a_call() -> None:
    for seed in range(20):
        known: dict[str, int] = {}
        rng = random.Random(seed)
        assert sizes(Shape(("N", ANY)), known, rng) == sizes(Shape(("N", ANY)), known, rng)


def test_sizes_are_computed_from_others() -> None:
    known = {"C": 6, "groups": 2}
    assert sizes(Shape(("C/groups", "C+1", "2C", "3")), known, random.Random(0)) == [3, 7, 12, 3]
