"""The bot keeps GitHub's limits on writing, on a clock that the test moves."""

from __future__ import annotations

import random

from bot.github.pace import Pace
from tests.bot.github.outgoing import Clock


def test_eighty_writes_a_minute_are_made_at_once_and_the_next_waits_for_the_first_to_be_a_minute_ago() -> None:
    clock = Clock()
    pace = Pace(clock)
    for _ in range(80):
        assert pace.wait() == 0
        pace.wrote()
        clock.now += 0.1
    assert abs(pace.wait() - (60 - 8)) < 1e-6
    clock.now += pace.wait() + 1e-6
    assert pace.wait() == 0


def test_no_window_ever_holds_more_than_it_may_however_the_writes_come() -> None:
    clock, dice = Clock(), random.Random(1)
    pace = Pace(clock)
    writes: list[float] = []
    while len(writes) < 1500:
        wait = pace.wait()
        if wait:
            clock.now += wait + 1e-6
            continue
        pace.wrote()
        writes.append(clock.now)
        clock.now += dice.choice((0, 0.5, 1, 20))
    for most, seconds in ((80, 60.0), (500, 3600.0)):
        later = writes[most:]
        assert all(after - before >= seconds for before, after in zip(writes, later, strict=False))


def test_what_github_asks_for_is_kept_and_never_shortened() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.hold(60)
    pace.hold(5)
    assert pace.wait() == 60
    clock.now += 60
    assert pace.wait() == 0


def test_writes_of_the_process_before_count() -> None:
    pace = Pace(Clock(), [(2, 60.0)])
    pace.wrote(ago=10)
    pace.wrote(ago=50)
    assert pace.wait() == 10
    pace.wrote()
    assert pace.wait() == 50
