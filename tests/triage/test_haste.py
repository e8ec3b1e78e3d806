"""Steps may take longer where others keep the machine busy."""

from __future__ import annotations

import math
import time

from triage import haste


def test_an_idle_machine_and_one_that_is_just_full_take_the_usual_time() -> None:
    assert [haste.slowness(load, 4) for load in (0.0, 1.0, 4.0)] == [1.0, 1.0, 1.0]


def test_a_busy_machine_takes_as_many_times_as_long_within_a_limit() -> None:
    assert haste.slowness(12.0, 4) == 3.0
    assert haste.slowness(1e6, 1) == haste.MOST


def test_a_hunt_that_ends_sooner_has_the_last_word() -> None:
    now = time.monotonic()
    assert haste.ends(60.0, now) == now
    assert now + 60.0 <= haste.ends(60.0, None) <= haste.ends(60.0, math.inf)
