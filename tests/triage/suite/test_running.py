"""The suite on one build, on a replay that is told what cases do."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from fuzz.case import Status
from tests.triage.suite.support import BASE, Scripted, entry
from triage.suite import running
from triage.suite.journal import Journal
from triage.suite.order import Order
from triage.suite.turns import Deadline, turns

ENTRIES = [entry(operator, size) for operator in ("Relu", "Abs", "Neg") for size in range(2, 22)]


def test_every_entry_is_run_once_and_told_with_its_status(tmp_path: Path) -> None:
    replay = Scripted(ENTRIES, {"base": {"Relu2": "U", "Abs3": "C", "Neg4": "S"}})
    with Journal({}, folder=tmp_path) as journal:
        done = running.run(ENTRIES, Order(ENTRIES), replay, BASE, journal, jobs=2)
    found = {one.name: (one.letter, one.status) for one in done.results}
    assert len(found) == done.of == len(ENTRIES)
    assert found["Relu2"] == ("E", Status.UNSUPPORTED)
    assert found["Abs3"] == ("C", Status.SIGNAL)
    assert found["Neg4"] == ("?", Status.SKIPPED)
    assert set(replay.ran.values()) == {1}


def test_no_budget_means_no_runs_but_an_honest_count(tmp_path: Path) -> None:
    with Journal({}, folder=tmp_path) as journal:
        done = running.run(ENTRIES, Order(ENTRIES), Scripted(ENTRIES, {}), BASE, journal, budget=0.0)
    assert (done.results, done.of) == ((), len(ENTRIES))


def test_what_an_interrupted_run_has_seen_is_told_and_not_run_again(tmp_path: Path) -> None:
    replay = Scripted(ENTRIES, {})
    told: list[running.Ran] = []

    def stop(one: running.Ran) -> None:
        told.append(one)
        if len(told) == 6:
            raise KeyboardInterrupt

    with Journal({}, folder=tmp_path) as journal, pytest.raises(KeyboardInterrupt):
        running.run(ENTRIES, Order(ENTRIES), replay, BASE, journal, tell=stop)
    with Journal({}, folder=tmp_path) as journal:
        kept = {record["name"] for record in journal.records}
        before = dict(replay.ran)
        done = running.run(ENTRIES, Order(ENTRIES), replay, BASE, journal)
    assert len(kept) == 6
    assert all(replay.ran["base", name] == before["base", name] for name in kept)
    assert len(done.results) == len(ENTRIES)


def test_the_order_is_asked_only_when_there_is_a_free_hand() -> None:
    asked: list[int] = []

    def order() -> itertools.count[int]:
        return itertools.count()

    endless = (asked.append(at) or at for at in order())  # type: ignore[func-returns-value]
    results = turns(endless, lambda number, positions: list(positions), jobs=2, deadline=Deadline(), batch=3)
    assert sorted(itertools.islice(results, 3))[0] in (0, 3)
    assert len(asked) <= 9
    results.close()  # type: ignore[attr-defined]
