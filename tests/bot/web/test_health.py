"""What `/healthz` says."""

from __future__ import annotations

import sqlite3

import pytest

from bot.settings import Settings
from bot.web import health
from tests.bot.web.support import ask, deliver, payload
from triage.ledger import Ledger


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question is answered by a new look."""
    monkeypatch.setattr(health, "HOLDS", 0.0)


def test_all_is_well(port: int) -> None:
    reply = ask(port, "GET", "/healthz")
    assert reply.status == 200
    assert reply.json == {"ok": True, "database": "writable", "stopped": False, "waiting_seconds": 0.0}


def test_the_emergency_stop_is_told_but_not_its_reason(port: int, ledger: Ledger) -> None:
    ledger.switches.set("stop", "because of octo", "someone")
    reply = ask(port, "GET", "/healthz")
    assert reply.status == 200 and reply.json["stopped"] is True
    assert b"octo" not in reply.body


def test_a_delivery_that_nobody_handles_is_told_by_its_age(port: int, told: Settings, ledger: Ledger) -> None:
    deliver(port, payload(), "one")
    with sqlite3.connect(told.database) as other:
        other.execute("UPDATE delivery SET received = datetime(received, '-90 seconds')")
    assert 89 < ask(port, "GET", "/healthz").json["waiting_seconds"] < 1000
    ledger.deliveries.ignored("one", "")
    assert ask(port, "GET", "/healthz").json["waiting_seconds"] == 0.0


def test_a_database_that_cannot_be_written_is_no_health(port: int, told: Settings) -> None:
    with sqlite3.connect(told.database) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON switch BEGIN SELECT RAISE(FAIL, 'disk is full'); END")
    reply = ask(port, "GET", "/healthz")
    assert (reply.status, reply.json["ok"], reply.json["database"]) == (503, False, "cannot be written")
    assert b"disk" not in reply.body


def test_a_database_that_is_locked_for_long_is_no_health(
    port: int, told: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PATIENCE", 0.3)
    other = sqlite3.connect(told.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert ask(port, "GET", "/healthz").status == 503
    other.execute("COMMIT")
    other.close()


def test_many_questions_are_one_look(port: int, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "HOLDS", 3600.0)
    assert ask(port, "GET", "/healthz").json["stopped"] is False
    ledger.switches.set("stop", "why")
    assert ask(port, "GET", "/healthz").json["stopped"] is False
