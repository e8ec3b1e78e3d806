"""Deliveries become work: each once, in order, and none holds up the others."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bot import dispatch, settings
from bot.settings import Project, Settings
from tests.bot.web import programs
from tests.bot.web.support import REPOSITORY, configured, payload
from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import Delivery, DeliveryState, NewDelivery
from triage.store import StoreError, open_store

HANDLED, IGNORED, FAILED, NEW = (DeliveryState(name) for name in ("handled", "ignored", "failed", "new"))


@pytest.fixture(autouse=True)
def planted() -> Iterator[None]:
    """The event `planted`, and no log lines: drawing a traceback for people takes a second."""
    programs.plant()
    with structlog.testing.capture_logs():
        yield
    programs.uproot()


@pytest.fixture
def told(tmp_path: Path) -> Settings:
    return settings.load(configured(tmp_path, 0))


@pytest.fixture
def ledger(told: Settings) -> Iterator[Ledger]:
    with open_store(told.database, create=True) as store:
        yield Ledger(store)


def arrive(ledger: Ledger, *bodies: bytes, event: str = "planted") -> None:
    """Deliveries called 0, 1, …"""
    ledger.deliveries.add_many([NewDelivery(str(at), event, body) for at, body in enumerate(bodies)])


def ends(told: Settings) -> list[tuple[str, str, int]]:
    """Every delivery's state, note and attempts."""
    with sqlite3.connect(told.database) as database:
        return list(database.execute("SELECT state, note, attempts FROM delivery ORDER BY id"))


def works(ledger: Ledger) -> list[object]:
    """The numbers of the work, in the order in which it was queued."""
    return [each.payload["number"] for each in reversed(ledger.work.listed(kind="planted"))]


def settle(ledger: Ledger, told: Settings, passes: int = 6) -> None:
    for _ in range(passes):
        dispatch.once(ledger, told)


def test_each_delivery_becomes_work_in_its_turn(ledger: Ledger, told: Settings) -> None:
    arrive(ledger, *(payload(number) for number in range(25)))
    settle(ledger, told)
    assert works(ledger) == list(range(25))
    assert ledger.deliveries.counts() == {HANDLED: 25}
    assert {each.project for each in ledger.work.listed()} == {"one"}
    assert dispatch.once(ledger, told) == 0


def test_every_project_of_the_repository_gets_its_work_and_no_other(ledger: Ledger, told: Settings) -> None:
    more = {
        "two": Project(name="two", repository=REPOSITORY.upper(), compiler="tvm"),
        "other": Project(name="other", repository="octo/other", compiler="tvm"),
    }
    arrive(ledger, payload(1))
    dispatch.once(ledger, told.model_copy(update={"projects": {**told.projects, **more}}))
    assert sorted(each.project for each in ledger.work.listed()) == ["one", "two"]


@pytest.mark.parametrize(
    ("event", "body", "why"),
    [
        ("star", payload(), "the event star means nothing here"),
        ("_reading", payload(), "means nothing here"),
        ("planted", b'{"repository": {"full_name": "octo/unknown"}}', "no project has the repository 'octo/unknown'"),
        ("planted", b'{"repository": {"full_name": 7}}', "no project has the repository ''"),
        ("planted", b'{"repository": []}', "no project has the repository ''"),
        ("planted", payload(nothing="it is a draft"), "it is a draft"),
        ("ping", b'{"zen": "Keep it logically awesome."}', "the webhook works"),
        ("installation", b'{"action": "created"}', "installation"),
    ],
)
def test_what_means_nothing_is_put_aside_with_the_reason(
    event: str, body: bytes, why: str, ledger: Ledger, told: Settings
) -> None:
    arrive(ledger, body, event=event)
    assert dispatch.once(ledger, told) == 1
    ((state, note, _),) = ends(told)
    assert state == IGNORED and why in note
    assert ledger.work.listed() == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'"' + b"x" * 300_000], ids=lambda b: b[:3]
)
def test_what_cannot_be_read_is_kept_as_failed(body: bytes, ledger: Ledger, told: Settings) -> None:
    ledger.deliveries.add_many([NewDelivery("bad", "planted", body), NewDelivery("good", "planted", payload(1))])
    dispatch.once(ledger, told)
    assert [state for state, _, _ in ends(told)] == [FAILED, HANDLED]
    assert "no JSON" in ends(told)[0][1]


def test_a_handler_that_raises_is_called_three_times_and_holds_up_nobody(ledger: Ledger, told: Settings) -> None:
    bad = payload(0, **{"raise": True})
    arrive(ledger, bad, payload(1), payload(2, unsaveable=True), payload(3))
    dispatch.once(ledger, told)
    assert works(ledger) == [1, 3]
    assert ends(told)[0] == (NEW, "", 1)
    settle(ledger, told)
    (first, note, attempts), second, (third, _, _), fourth = ends(told)
    assert (first, attempts) == (FAILED, 3) and "3 times: ZeroDivisionError: planted" in note
    assert third == FAILED and second[0] == fourth[0] == HANDLED
    assert works(ledger) == [1, 3]


def test_a_full_batch_of_raising_handlers_holds_up_nobody_for_long(ledger: Ledger, told: Settings) -> None:
    bad = payload(0, **{"raise": True})
    arrive(ledger, *[bad] * dispatch.BATCH)
    ledger.deliveries.add_many([NewDelivery("z", "planted", payload(7))])
    settle(ledger, told)
    assert works(ledger) == [7]


def test_a_fault_is_counted_once_in_a_process_that_trusts_what_came_after_it_began(
    ledger: Ledger, told: Settings
) -> None:
    since = now()
    arrive(ledger, payload(0, **{"raise": True}), payload(1))
    dispatch.once(ledger, told, since)
    assert [attempts for _, _, attempts in ends(told)] == [1, 0]
    for _ in range(3):
        dispatch.once(ledger, told, since)
    assert ends(told)[0][::2] == (FAILED, 3)


def test_trouble_of_the_database_is_not_the_deliverys_fault(
    ledger: Ledger, told: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trouble between two transactions is played by an exception: locking the file would stop the first look."""

    def troubled(delivery: Delivery, ledger: Ledger, told: Settings) -> object:
        raise StoreError("bot.db: database is locked")

    arrive(ledger, payload(1))
    with monkeypatch.context() as patched:
        patched.setattr(dispatch, "_settled", troubled)
        for _ in range(dispatch.TRIES + 1):
            with pytest.raises(StoreError):
                dispatch.once(ledger, told, now())
    dispatch.once(ledger, told)
    assert [state for state, _, _ in ends(told)] == [HANDLED]


def test_a_delivery_that_ends_the_process_each_time_is_given_up_and_nothing_else(
    ledger: Ledger, told: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed is played by an exception that nothing catches: what was committed before is all there is."""
    real = dispatch._settled

    def deadly(delivery: Delivery, ledger: Ledger, told: Settings) -> object:
        if delivery.id == "1":
            raise KeyboardInterrupt
        return real(delivery, ledger, told)

    monkeypatch.setattr(dispatch, "_settled", deadly)
    arrive(ledger, *(payload(number) for number in range(4)))
    deaths = 0
    while ledger.deliveries.oldest() is not None:
        try:
            dispatch.once(ledger, told)
        except KeyboardInterrupt:
            deaths += 1
    assert deaths == dispatch.BEGINNINGS
    assert [state for state, _, _ in ends(told)] == [HANDLED, FAILED, HANDLED, HANDLED]
    assert "never came to an end" in ends(told)[1][1]
    assert sorted(map(str, works(ledger))) == ["0", "2", "3"]


def test_two_dispatchers_at_once_do_nothing_twice(ledger: Ledger, told: Settings) -> None:
    arrive(ledger, *(payload(number) for number in range(200)))
    stop = threading.Event()
    threads = [threading.Thread(target=dispatch.run, args=(ledger, told, stop)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while ledger.deliveries.oldest() is not None:
        stop.wait(0.05)
    stop.set()
    for thread in threads:
        thread.join()
    assert sorted(each.payload["number"] for each in ledger.work.listed(limit=1000)) == list(range(200))


def test_a_database_that_cannot_be_written_is_tried_again(
    ledger: Ledger, told: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "TROUBLE", 0.05)
    with sqlite3.connect(told.database) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON work BEGIN SELECT RAISE(FAIL, 'disk is full'); END")
    arrive(ledger, payload(1))
    stop = threading.Event()
    thread = threading.Thread(target=dispatch.run, args=(ledger, told, stop))
    with structlog.testing.capture_logs() as lines:
        thread.start()
        while not any(line["event"] == "deliveries_not_handled" for line in lines):
            stop.wait(0.02)
        assert ledger.deliveries.counts() == {NEW: 1}
        with sqlite3.connect(told.database) as other:
            other.execute("DROP TRIGGER full")
        while ledger.deliveries.oldest() is not None:
            stop.wait(0.02)
    stop.set()
    thread.join()
    assert works(ledger) == [1]
