"""Campaigns are paused, resumed, cancelled and started by a mark; what is repeated does nothing more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from triage import campaign_control as control
from triage.campaign_control import Line, Standing, Unsteerable
from triage.ledger import Ledger
from triage.ledger.records import Planned, WorkState
from triage.ledger.schedules import Rung
from triage.records import CampaignInfo, Mark, Wish
from triage.store import Store, open_store

HUNT = {"targets": ["tvm@1"], "sources": ["onnx_node"], "seed": 0}
NIGHTLY = Planned("nightly", "tvm", "0 2 * * *", "1h", ("onnx_node",))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "bot.db", create=True) as opened:
        yield opened


def campaign(store: Store, number: int) -> CampaignInfo:
    return store.campaigns()[number - 1]


def standings(store: Store) -> dict[str, Standing]:
    return {line.name: line.standing for line in control.listed(store)}


def test_a_campaign_is_paused_and_goes_on_however_often_that_is_asked(store: Store) -> None:
    store.begin_campaign(HUNT)
    for by in ("one", "two"):
        told = control.pause(store, "1", by)
        assert (told.standing, told.by) == (Standing.PAUSED, "one"), "the first one paused it"
    assert control.wish(store, 1) is Wish.PAUSE and store.begin_campaign(HUNT).id == 1
    for _ in range(2):
        assert control.resume(store, "1").standing is Standing.WAITING
    assert control.wish(store, 1) is Wish.GO_ON


def test_a_cancelled_campaign_is_not_taken_up_again(store: Store) -> None:
    store.begin_campaign(HUNT)
    for _ in range(2):
        assert control.cancel(store, "1", "me").standing is Standing.CANCELLED
    assert control.wish(store, 1) is Wish.END
    again = store.begin_campaign(HUNT)
    assert again.id == 2 and not again.resumed and control.wish(store, 2) is Wish.GO_ON


@pytest.mark.parametrize("ask", [control.pause, control.resume, control.cancel], ids=["pause", "resume", "cancel"])
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("1", "campaign 1 has run all its cases at "),
        ("2", "campaign 2 is what a suite recorded"),
        ("3", "there is no campaign 3"),
        ("99999999999999999999999999", "there is no campaign 99"),
        ("weekly", "there is no schedule 'weekly'"),
        ("", "there is no schedule ''"),
        ("-1", "there is no schedule '-1'"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    store: Store, ask: Callable[[Store, str], Line], name: str, told: str
) -> None:
    store.finish_campaign(store.begin_campaign(HUNT).id)
    store.begin_campaign({"suite": "tvm", "commit": "1", "before": "0"})
    with pytest.raises(Unsteerable) as problem:
        ask(store, name)
    assert str(problem.value).startswith(told) and "\n" not in str(problem.value)


def test_a_hunt_begun_by_hand_cannot_be_started_from_elsewhere(store: Store) -> None:
    store.begin_campaign(HUNT)
    with pytest.raises(Unsteerable, match="the same `graphwarden hunt` goes on with it"):
        control.start(store, "1")


def test_a_schedule_and_the_campaign_that_it_is_at_are_one_thing(store: Store) -> None:
    ledger = Ledger(store)
    ledger.schedules.agree([NIGHTLY])
    assert standings(store) == {"nightly": Standing.IDLE}
    number = store.begin_campaign(HUNT, name="nightly").id
    assert control.pause(store, str(number)).name == "nightly"
    assert ledger.schedules.paused("nightly") and control.wish(store, number) is Wish.PAUSE
    control.resume(store, "nightly")
    assert control.wish(store, number) is Wish.GO_ON
    assert control.cancel(store, "nightly").campaign is None
    assert campaign(store, number).mark is Mark.CANCELLED


def test_a_campaign_in_an_older_build_ends_when_its_schedule_begins_one_in_a_newer(store: Store) -> None:
    store.begin_campaign(HUNT)  # begun by hand: nobody's
    store.begin_campaign(HUNT, name="nightly")
    store.begin_campaign({**HUNT, "targets": ["tvm@2"]}, name="nightly")
    assert [each.mark for each in store.campaigns()] == [Mark.NONE, Mark.SUPERSEDED, Mark.NONE]
    assert standings(store) == {"3": Standing.WAITING, "2": Standing.SUPERSEDED, "1": Standing.WAITING}


def test_a_schedule_is_started_once_and_not_while_it_is_paused(store: Store) -> None:
    ledger = Ledger(store)
    ledger.schedules.agree([NIGHTLY])
    for _ in range(2):
        assert control.start(store, "nightly").standing is Standing.WAITING
    [work] = ledger.work.listed()
    assert (work.kind, work.key, work.payload["budget"]) == ("hunt", "nightly", "1h")
    control.pause(store, "nightly")
    with pytest.raises(Unsteerable, match="`graphwarden campaigns resume nightly` lets it go on"):
        control.start(store, "nightly")


def test_cancelling_a_schedule_ends_what_waits_and_what_a_killed_process_left(store: Store) -> None:
    ledger = Ledger(store)
    ledger.schedules.agree([NIGHTLY])
    control.start(store, "nightly")
    running = ledger.work.claim(["hunt"])
    assert running is not None and control.listed(store)[0].standing is Standing.RUNNING
    assert ledger.schedules.void(running) == ""
    control.cancel(store, "nightly")
    assert ledger.schedules.void(running) == "cancelled"
    ledger.work.done(running)
    control.start(store, "nightly")
    control.cancel(store, "nightly", "me")
    newest = ledger.work.listed()[0]
    assert (newest.state, newest.note) == (WorkState.CANCELLED, "cancelled by me")
    assert ledger.schedules.ring("nightly") is Rung.QUEUED, "it rings again when it is due"
    assert ledger.schedules.void(ledger.work.listed()[0]) == ""


def test_cancelling_a_campaign_again_leaves_alone_what_its_schedule_has_begun_since(store: Store) -> None:
    """As when two moderators look at the same page, and the second one presses later."""
    ledger = Ledger(store)
    ledger.schedules.agree([NIGHTLY])
    number = str(store.begin_campaign(HUNT, name="nightly").id)
    control.cancel(store, number, "one")
    assert ledger.schedules.ring("nightly") is Rung.QUEUED
    told = control.cancel(store, number, "two")
    assert (told.standing, told.by) == (Standing.CANCELLED, "one")
    assert [(each.state, each.note) for each in ledger.work.listed()] == [(WorkState.QUEUED, "")]


@pytest.mark.parametrize("ask", [control.pause, control.resume], ids=["pause", "resume"])
def test_whoever_comes_after_a_cancellation_is_told_whose_it_was(store: Store, ask: Callable[..., Line]) -> None:
    store.begin_campaign(HUNT)
    control.cancel(store, "1", "ada")
    with pytest.raises(Unsteerable, match="campaign 1 was cancelled by ada at 20"):
        ask(store, "1", "grace")


def test_work_that_waits_for_a_paused_schedule_begins_at_once_when_it_goes_on(store: Store) -> None:
    ledger = Ledger(store)
    ledger.schedules.agree([NIGHTLY])
    control.start(store, "nightly")
    control.pause(store, "nightly")
    work = ledger.work.claim(["hunt"])
    assert work is not None
    ledger.work.again(work, 3600, "paused")
    assert ledger.work.claim(["hunt"]) is None
    control.resume(store, "nightly")
    assert ledger.work.claim(["hunt"]) is not None


def test_who_runs_a_campaign_is_seen_until_that_process_ends(store: Store) -> None:
    store.begin_campaign(HUNT)
    with control.attended(store, 1):
        assert standings(store)["1"] is Standing.RUNNING
    assert standings(store)["1"] is Standing.WAITING
    script = (
        "import sys, os, signal; from triage.store import open_store; from triage.campaign_control import attend\n"
        "attend(open_store(sys.argv[1], create=False), 1); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(store.address)], check=False)
    assert done.returncode == -9 and campaign(store, 1).owner
    assert standings(store)["1"] is Standing.WAITING, "killed with -9, it runs nothing"
