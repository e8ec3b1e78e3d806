"""Counts that differ by chance and counts that do not."""

from __future__ import annotations

import random
from collections import Counter

from triage.apart import apart, ranges_apart
from triage.frequency import several, usual


def test_one_observation_each_shows_nothing_and_four_alike_do() -> None:
    assert not apart(Counter("a"), Counter("b"))
    assert apart(Counter("aaaa"), Counter("bbbb"))


def test_nothing_is_not_apart_from_something() -> None:
    assert not apart(Counter(), Counter("bbbb"))


def test_draws_from_one_pool_are_hardly_ever_apart() -> None:
    draw = random.Random(0)
    pools = [[f"{n}" for n in range(size)] for size in (2, 5, 30) for _ in range(300)]
    found = [apart(Counter(draw.choices(pool, k=9)), Counter(draw.choices(pool, k=14))) for pool in pools]
    assert sum(found) <= 0.01 * len(found)


def test_a_little_noise_does_not_join_two_sources() -> None:
    assert apart(Counter({"a": 40, "x": 5}), Counter({"b": 30, "x": 5}))
    assert not apart(Counter({"a": 40, "b": 35}), Counter({"b": 30, "a": 20}))


def test_ranges_of_lines_are_apart_beyond_their_own_width_and_the_drift() -> None:
    assert ranges_apart([10], [900], drift=0)
    assert not ranges_apart([10], [900], drift=1_000)
    assert not ranges_apart([10, 800], [900], drift=0)
    assert not ranges_apart([], [900], drift=0)
    assert ranges_apart([*range(10, 50), 5_000], [900], drift=30)  # one stray


def test_sizes_tell_only_where_they_are_even() -> None:
    assert usual([30] * 20) == 30
    assert usual([1, 2, 4, 8, 16, 32, 64, 128] * 4) == 0
    assert usual([2] * 50) == usual([30] * 5) == 0
    assert several([28, 31], 30) and not several([10, 9, 11], 30)
    assert not several([28, 31], 0) and not several([40, 8], 30)
