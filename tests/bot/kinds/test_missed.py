"""Deliveries that never arrived are fetched from GitHub's list."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from bot import dispatch
from bot.desk import Desk
from bot.events import read
from bot.github.access import PerThread
from bot.github.errors import Later
from bot.kinds import Done, missed
from tests.github.faults import FAULTS, Fault, How
from tests.github.support import World
from triage.ledger import Ledger
from triage.ledger.records import NewDelivery, NewWork
from triage.store import open_store


@pytest.fixture
def ledger(github_world: World) -> Iterator[Ledger]:
    with open_store(github_world.settings().database, create=True) as store:
        yield Ledger(store)


def look(world: World, ledger: Ledger, **settings: object) -> Done:
    """One turn, as the bot takes it."""
    told = world.settings(**settings)  # type: ignore[arg-type]
    access = PerThread(told)
    ledger.work.add(NewWork("missed", "missed", ""))
    work = ledger.work.claim(["missed"])
    assert work is not None
    try:
        answer = missed.run(work, Desk(told, ledger, access.client, access.app))
    except Later:
        ledger.work.again(work, 0, "")
        raise
    assert isinstance(answer, Done)
    ledger.work.done(work, answer.note)
    return answer


def waiting(ledger: Ledger) -> list[str]:
    return [each.id for each in ledger.deliveries.waiting(1000)]


def test_what_nobody_took_is_stored_as_if_it_had_arrived(github_world: World, ledger: Ledger) -> None:
    github_world.fake.hook.url = "http://localhost:9"  # nobody listens
    assert github_world.send("issues", "closed", guid="first") == 0
    assert github_world.send("push", guid="second") == 0
    answer = look(github_world, ledger)
    assert answer.note == "2 attempts listed, 2 deliveries missed: 2 fetched"
    assert waiting(ledger) == ["first", "second"], "the oldest first"
    first, second = (read(each) for each in ledger.deliveries.waiting())
    assert (first.name, first.action, first.repository) == ("issues", "closed", github_world.repository)
    assert second.name == "push"
    assert first.payload == github_world.fake.deliveries[0]["payload"]


def test_what_arrived_is_left_alone_whatever_github_thinks_of_it(github_world: World, ledger: Ledger) -> None:
    """The acknowledgement may have been lost with the server."""
    github_world.send("issues", "closed", guid="known")
    ledger.deliveries.add_many([NewDelivery("known", "issues", b"{}")])
    ledger.deliveries.handled("known")
    assert "0 deliveries missed: none" in look(github_world, ledger).note
    assert waiting(ledger) == []


def test_several_attempts_at_one_delivery_are_one_delivery(github_world: World, ledger: Ledger) -> None:
    for _ in range(3):
        github_world.send("issues", "closed", guid="same")
    assert look(github_world, ledger).note == "3 attempts listed, 1 deliveries missed: 1 fetched"
    assert "0 deliveries missed" in look(github_world, ledger).note
    assert waiting(ledger) == ["same"]


def test_a_list_of_several_pages_is_read_to_its_end(github_world: World, ledger: Ledger) -> None:
    payload = {"action": "closed", "repository": {"full_name": github_world.repository}}
    ledger.deliveries.add_many([NewDelivery(f"{number}", "issues", b"{}") for number in range(5, 230)])
    for number in range(230):
        entry = {"id": number + 1, "guid": f"{number}", "event": "issues", "payload": payload, "redelivery": False}
        github_world.fake.deliveries.append(entry | {"status_code": 0, "delivered_at": at(timedelta())})
    assert "230 attempts listed, 5 deliveries missed: 5 fetched" in look(github_world, ledger).note


def at(ago: timedelta) -> str:
    return (datetime.now(UTC) - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_only_what_came_since_the_last_look_is_looked_at_and_a_little_more(github_world: World, ledger: Ledger) -> None:
    ledger.switches.set(missed.CURSOR, datetime.now(UTC).isoformat())
    for guid, ago in (("old", 2 * missed.OVERLAP), ("late", missed.OVERLAP / 2), ("new", timedelta())):
        github_world.send("issues", "closed", guid=guid)
        github_world.fake.deliveries[-1]["delivered_at"] = at(ago)
    assert "2 deliveries missed" in look(github_world, ledger).note
    assert waiting(ledger) == ["late", "new"]


def test_a_new_bot_does_not_begin_with_what_happened_before_it(github_world: World, ledger: Ledger) -> None:
    github_world.send("issues", "closed", guid="old")
    github_world.fake.deliveries[-1]["delivered_at"] = at(timedelta(days=1))
    assert look(github_world, ledger).note == "0 attempts listed, 0 deliveries missed: none"


def test_a_look_that_comes_too_late_says_what_may_be_lost(github_world: World, ledger: Ledger) -> None:
    ledger.switches.set(missed.CURSOR, (datetime.now(UTC) - timedelta(days=4)).isoformat())
    with capture_logs() as lines:
        look(github_world, ledger)
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["deliveries_gone"]


def test_a_delivery_without_its_payload_is_asked_for_again_once(github_world: World, ledger: Ledger) -> None:
    github_world.send("issues", "closed", guid="bare")
    github_world.fake.deliveries[0]["payload"] = None
    assert "1 asked for again" in look(github_world, ledger).note
    while len(github_world.fake.deliveries) < 2 or not github_world.proxy.idle():
        time.sleep(0.01)
    assert [each["redelivery"] for each in github_world.fake.deliveries] == [False, True]
    assert "1 lost" in look(github_world, ledger).note


def test_a_delivery_that_github_no_longer_has_keeps_nothing_back(github_world: World, ledger: Ledger) -> None:
    for guid in ("gone", "there"):
        github_world.send("issues", "closed", guid=guid)
    github_world.proxy.fail(1, Fault(How.ANSWER, 404, "Not Found"))
    assert "1 fetched, 1 lost" in look(github_world, ledger).note
    assert waiting(ledger) == ["there"]


@pytest.mark.parametrize("name", ["500", "secondary limit", "429", "dropped", "half", "garbled"])
@pytest.mark.parametrize("call", range(3))
def test_a_call_that_fails_loses_nothing(name: str, call: int, github_world: World, ledger: Ledger) -> None:
    for guid in ("one", "two"):
        github_world.send("issues", "closed", guid=guid)
    github_world.proxy.fail(call, FAULTS[name], times=3)
    with contextlib.suppress(Later):
        look(github_world, ledger)
    github_world.proxy.restart({})
    look(github_world, ledger)
    assert waiting(ledger) == ["one", "two"]


def test_a_plain_token_has_no_list(github_world: World, ledger: Ledger) -> None:
    assert "only an App has a list" in look(github_world, ledger, with_token=True).note


def test_what_was_fetched_becomes_work_like_everything_else(github_world: World, ledger: Ledger) -> None:
    github_world.send("ping", guid="ping")
    look(github_world, ledger)
    assert dispatch.once(ledger, github_world.settings()) == 1
