"""When a hunt has found enough to work on for the rest of its budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.backlog import FEW, SECONDS, Backlog
from tests.triage.test_store import case, failing
from triage.lifecycle import State
from triage.store import Store, open_store


@dataclass
class Clock:
    """A pace of which so much is spent."""

    total: float | None
    share: float

    def spent(self) -> float:
        return self.share


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def with_bugs(store: Store, number: int) -> None:
    store.record(0, [], [failing(case(f"m{at}"), f"bug {at}") for at in range(number)])


def test_a_hunt_has_enough_once_what_waits_takes_as_long_as_is_left(store: Store) -> None:
    with_bugs(store, 6)
    clock = Clock(total=2 * 6 * SECONDS, share=0.4)
    backlog = Backlog(store, clock, jobs=1)  # type: ignore[arg-type]
    assert not backlog.is_full()
    clock.share = 0.5
    assert backlog.is_full()
    backlog.jobs = 2
    assert not backlog.is_full(), "two workers do it in half of the time"
    backlog.jobs, clock.total = 1, None
    assert not backlog.is_full(), "without a budget there is time for all"


def test_a_hunt_looks_for_bugs_in_any_case_at_its_beginning(store: Store) -> None:
    with_bugs(store, 6)
    assert not Backlog(store, Clock(total=1.0, share=0.1), jobs=1).is_full()  # type: ignore[arg-type]


def test_what_a_bug_takes_is_learnt_from_the_work(store: Store) -> None:
    with_bugs(store, FEW + 1)
    backlog = Backlog(store, Clock(total=100.0, share=0.5), jobs=2)  # type: ignore[arg-type]

    def work() -> None:
        for bug in store.bugs([State.NEW])[:FEW]:
            store.advance(bug.id, State.NEW, State.FLAKY, note="planted")

    assert backlog.is_full() and (FEW + 1) * SECONDS >= 100.0
    backlog.worked(work)
    assert 0 < backlog.seconds < SECONDS and not backlog.is_full()
