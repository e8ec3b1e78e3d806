"""The clock puts rows where somebody finds them; two clocks never tick together."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from structlog.testing import capture_logs

from bot import clock, cron, settings
from bot.settings import Settings
from tests.databases import NewDatabase
from triage import campaign_control
from triage.ledger import Ledger
from triage.ledger.records import Planned, Work
from triage.ledger.rows import ScheduleRow
from triage.store import open_store

START = datetime(2026, 1, 1, tzinfo=UTC)
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
    assert clock.planned(known) == [Planned("tvm", "tvm", "30 2 * * 1", "2h", ("onnx_node",))]


def wound_back(ledger: Ledger, days: int) -> None:
    """As if the last ring had been so many days ago."""
    with ledger.store.writing() as session:
        for row in session.exec(select(ScheduleRow)):
            row.rung = datetime.now(UTC) - timedelta(days=days)


def hunts(ledger: Ledger) -> list[Work]:
    return ledger.work.listed(kind="hunt")


def test_what_was_due_while_nobody_had_the_clock_is_made_up_for_once(known: Settings, ledger: Ledger) -> None:
    ledger.schedules.agree(clock.planned(known))
    wound_back(ledger, days=22)  # three Mondays
    for _ in range(2):
        with clock.running(known, ledger):
            deadline = time.monotonic() + 300
            while not hunts(ledger):
                assert time.monotonic() < deadline
                time.sleep(0.05)
    [work] = hunts(ledger)
    rung = ledger.schedules.listed()[0].rung
    assert rung is not None and work.payload["rung"] == rung.isoformat(), "it rang when it was made up for"


def test_a_schedule_that_is_new_does_not_ring_for_the_past(known: Settings, ledger: Ledger) -> None:
    with clock.running(known, ledger):
        time.sleep(1)
    assert not [each for each in hunts(ledger) if datetime.now(UTC).strftime("%a %H:%M") != "Mon 02:30"]


def test_what_was_due_while_it_was_paused_is_not_made_up_for(known: Settings, ledger: Ledger) -> None:
    ledger.schedules.agree(clock.planned(known))
    campaign_control.pause(ledger.store, "tvm")
    wound_back(ledger, days=22)
    with clock.running(known, ledger):
        deadline = time.monotonic() + 300
        while cron.missed("30 2 * * 1", ledger.schedules.listed()[0].rung or START, datetime.now(UTC)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    campaign_control.resume(ledger.store, "tvm")
    assert hunts(ledger) == []


def rung(ledger: Ledger) -> set[tuple[str, str]]:
    return {(work.kind, work.project) for work in ledger.work.listed()}


@pytest.mark.parametrize("soon", [0.2, -0.2], ids=["in time", "after a start that took longer than that"])
def test_missed_deliveries_old_bugs_and_new_releases_are_looked_for_soon_after_the_start(
    known: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, soon: float
) -> None:
    monkeypatch.setattr(clock, "SOON", clock.timedelta(seconds=soon))
    with clock.running(known, ledger) as holds:
        assert holds()
        deadline = time.monotonic() + 300
        while not (wanted := {("missed", ""), ("collect", ""), ("release", "tvm")}) <= (found := rung(ledger)):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
    assert found - wanted <= {("hunt", "tvm")}, "on a Monday at half past two"


def test_only_one_process_of_a_database_has_the_clock(known: Settings, ledger: Ledger) -> None:
    with clock.running(known, ledger) as first, clock.running(known, ledger) as second:
        assert (first(), second()) == (True, False)
    with clock.running(known, ledger) as later:
        assert later()


@contextmanager
def keeping(known: Settings, ledger: Ledger) -> Iterator[None]:
    """A process that keeps the clock, as a thread."""
    stop = threading.Event()
    thread = threading.Thread(target=clock.keep, args=(known, ledger, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def running_elsewhere(ledger: Ledger) -> Iterator[threading.Event]:
    """Another process has the clock until the event is set."""
    over = threading.Event()
    began = threading.Event()

    def have() -> None:
        with ledger.store.sole("clock"):
            began.set()
            over.wait()

    thread = threading.Thread(target=have)
    thread.start()
    began.wait()
    try:
        yield over
    finally:
        over.set()
        thread.join()


def until(events: list[MutableMapping[str, Any]], *wanted: str) -> None:
    """Wait until so much has been said of the clock, in this order."""
    deadline = time.monotonic() + 300
    while (said := [str(one["event"]) for one in events if str(one["event"]).startswith("clock_")]) != list(wanted):
        assert time.monotonic() < deadline and len(said) <= len(wanted), said
        time.sleep(0.05)


def test_whoever_waits_for_the_clock_has_it_once_it_is_free(
    known: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "LOOK", 0.05)
    with capture_logs() as said, running_elsewhere(ledger) as over, keeping(known, ledger):
        until(said, "clock_is_elsewhere")
        over.set()
        until(said, "clock_is_elsewhere", "clock_is_ours")


def test_a_server_that_ends_the_clocks_session_stops_it_and_another_process_goes_on(
    known: Settings, postgres: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a restart does, which all sessions lose their locks by."""
    monkeypatch.setattr(clock, "LOOK", 0.05)
    url = postgres()
    with (
        open_store(url, create=True) as one,
        open_store(url, create=True) as two,
        clock.running(known, Ledger(one)) as holds,
    ):
        assert holds()
        with two.writing() as session:
            session.connection().exec_driver_sql(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        with capture_logs() as said, keeping(known, Ledger(two)):
            until(said, "clock_is_ours")
            assert not holds() and not holds(), "and it does not come back by another session"
