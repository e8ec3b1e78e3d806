"""The clock puts rows where somebody finds them; two clocks never tick together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import clock, settings
from bot.settings import Settings
from triage.ledger import Ledger
from triage.store import open_store

CONFIGURATION = """
[projects.tvm]
repository = "apache/tvm"
compiler = "tvm"
[[schedule]]
project = "tvm"
cron = "30 2 * * 1"
budget = "2h"
"""


@pytest.fixture
def known(tmp_path: Path) -> Settings:
    path = tmp_path / "graphwarden.toml"
    path.write_text(CONFIGURATION)
    return settings.load(path)


@pytest.fixture
def ledger(known: Settings) -> Iterator[Ledger]:
    with open_store(known.database, create=True) as store:
        yield Ledger(store)


def test_hunts_are_due_by_their_cron_expression_and_know_their_budget(known: Settings) -> None:
    ((trigger, hunt),) = [each for each in clock.due(known) if each[1].kind == "hunt"]
    assert "day_of_week='mon'" in str(trigger) and "hour='2'" in str(trigger) and "minute='30'" in str(trigger)
    assert (hunt.project, hunt.payload) == ("tvm", {"budget": "2h", "sources": ["onnx_node"]})


def rung(ledger: Ledger) -> set[tuple[str, str]]:
    return {(work.kind, work.project) for work in ledger.work.listed()}


@pytest.mark.parametrize("soon", [0.2, -0.2], ids=["in time", "after a start that took longer than that"])
def test_missed_deliveries_old_bugs_and_new_releases_are_looked_for_soon_after_the_start(
    known: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, soon: float
) -> None:
    monkeypatch.setattr(clock, "SOON", clock.timedelta(seconds=soon))
    with clock.running(known, ledger) as mine:
        assert mine
        deadline = time.monotonic() + 300
        while not (wanted := {("missed", ""), ("collect", ""), ("release", "tvm")}) <= (found := rung(ledger)):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
    assert found - wanted <= {("hunt", "tvm")}, "on a Monday at half past two"


def test_only_one_process_of_a_database_has_the_clock(known: Settings, ledger: Ledger) -> None:
    with clock.running(known, ledger) as first, clock.running(known, ledger) as second:
        assert (first, second) == (True, False)
    with clock.running(known, ledger) as later:
        assert later
