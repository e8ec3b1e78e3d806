"""What GitHub refuses for good is not lost: it is tried again, and in the end a moderator sees it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.checks.run import CheckRun, Words
from bot.desk import Desk
from bot.github.auth import Access
from bot.github.pace import Pace
from bot.sending import sender_of
from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of, said
from tests.github.support import World
from triage.ledger.records import NewWork, OutState
from triage.lifecycle import State

ISSUE, COMMENTS = r"/repos/[^/]+/[^/]+/issues/\d+", r"/repos/[^/]+/[^/]+/issues/\d+/comments"


@pytest.fixture
def shop(tiny_shop: Shop, github_world: World) -> Shop:
    tiny_shop.configure(repository=github_world.repository)
    return tiny_shop


def send(shop: Shop, world: World) -> None:
    """Everything that is ready goes out."""
    access = Access(world.settings(), Pace(lambda: 0.0))
    sender = sender_of(shop.ledger, access.client, access.pace, settled=0)
    while sender.step() is not None:
        pass


def again(shop: Shop, kind: str) -> str:
    """A day later: what was lost is begun again; the note of the one work that follows, "" where none does."""
    shop.do("collect")
    queued = shop.queued(kind)
    return shop.go_on(queued[0].id, kind).note if queued else ""


def changes(shop: Shop) -> list[str]:
    """The closings and reopenings and what became of them, in their order."""
    return [state for kind, state, _ in said(shop) if kind == "state"]


def opened(shop: Shop, world: World) -> tuple[int, str]:
    """A bug that is mended, with an issue that is open; the bug and the fix."""
    number = world.ask("/issues", "POST", {"title": "Sub is wrong"})["number"]
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), number=number)
    return bug.id, shop.lands()


@pytest.mark.parametrize("status", [403, 410, 422])
def test_a_closing_that_was_refused_is_tried_again_daily_and_its_words_are_said_once(
    shop: Shop, github_world: World, status: int
) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    world.proxy.refuse("PATCH", ISSUE, status)
    shop.do("close", bug=bug, commit=fix)
    send(shop, world)
    assert changes(shop) == ["failed"] and shop.ledger.store.bug(bug).state is State.FIXED
    assert "close" in again(shop, "close")
    world.proxy.refused.clear()
    send(shop, world)
    assert changes(shop) == ["failed", "sent"] and shop.ledger.store.bug(bug).state is State.CLOSED
    [issue] = world.issues()
    told = [each["body"] for each in world.comments(issue["number"])]
    assert issue["state"] == "closed" and sum(each.startswith("Fixed by") for each in told) == 1
    assert not again(shop, "close")


def test_a_closing_that_is_refused_again_and_again_waits_for_a_moderator(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    world.proxy.refuse("PATCH", ISSUE)
    world.proxy.refuse("POST", COMMENTS)
    shop.do("close", bug=bug, commit=fix)
    for _ in range(3):
        send(shop, world)
        again(shop, "close")
    send(shop, world)
    assert changes(shop) == ["failed", "failed", "failed", "held"]
    [words, held] = [one for one in shop.ledger.outbox.listed([OutState.HELD]) if not one.key.startswith("status")]
    assert "GitHub has refused it 3 times: not without its words" in held.note and words.key.startswith("fixed:")
    assert not again(shop, "close"), "it waits"
    shop.ledger.outbox.reject(held.id, "ada")
    assert not again(shop, "close"), "a moderator has spoken"


def test_a_reopening_that_was_refused_is_tried_again(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    shop.do("close", bug=bug, commit=fix)
    send(shop, world)
    back = shop.lands("sub swaps")
    world.proxy.refuse("PATCH", ISSUE)
    shop.do("reopen", bug=bug, commit=back)
    send(shop, world)
    assert world.issues()[0]["state"] == "closed" and shop.ledger.store.bug(bug).state is State.REGRESSED
    world.proxy.refused.clear()
    assert "reopen" in again(shop, "reopen")
    send(shop, world)
    assert world.issues()[0]["state"] == "open"


def test_a_closing_whose_fix_was_undone_meanwhile_is_not_tried_again(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    world.proxy.refuse("PATCH", ISSUE)
    shop.do("close", bug=bug, commit=fix)
    send(shop, world)
    shop.do("reopen", bug=bug, commit=shop.lands("sub swaps"))
    assert shop.ledger.store.bug(bug).state is State.REGRESSED and not again(shop, "close")


def test_an_issue_is_not_closed_while_the_words_for_it_are_refused(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    world.proxy.refuse("POST", COMMENTS)
    shop.do("close", bug=bug, commit=fix)
    send(shop, world)
    [issue] = world.issues()
    assert issue["state"] == "open" and changes(shop) == ["failed"]
    [closing] = [one for one in shop.ledger.outbox.listed() if one.key.startswith("close:")]
    assert closing.note.startswith("not without its words, which GitHub refused: POST")
    world.proxy.refused.clear()
    assert "close" in again(shop, "close")
    send(shop, world)
    assert world.issues()[0]["state"] == "closed"
    assert sum(each["body"].startswith("Fixed by") for each in world.comments(issue["number"])) == 1


def test_an_issue_is_not_reopened_while_the_words_for_it_are_refused(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    shop.do("close", bug=bug, commit=fix)
    send(shop, world)
    world.proxy.refuse("POST", COMMENTS)
    shop.do("reopen", bug=bug, commit=shop.lands("sub swaps"))
    send(shop, world)
    assert world.issues()[0]["state"] == "closed" and changes(shop) == ["sent", "failed"]


def test_the_end_of_a_check_run_that_was_refused_is_told_again_for_a_week(shop: Shop, github_world: World) -> None:
    world, ledger = github_world, shop.ledger
    head = world.ask("/commits/main")["sha"]
    check = CheckRun(ledger, shop.project, head, 7, "")
    check.queues()
    send(shop, world)
    world.proxy.refuse("PATCH", r"/repos/[^/]+/[^/]+/check-runs/\d+")
    check.ends("success", Words("No new failures", "None."))
    send(shop, world)
    assert [run["status"] for run in world.checks(head)] == ["queued"]
    world.proxy.refused.clear()
    shop.do("collect")
    send(shop, world)
    [run] = world.checks(head)
    assert (run["status"], run["conclusion"]) == ("completed", "success")
    world.proxy.refuse("PATCH", r"/repos/[^/]+/[^/]+/check-runs/\d+")
    check.ends("failure", Words("One new failure", "One."))
    send(shop, world)
    ledger.checks.put(replace(check.row, since=datetime.now(UTC) - timedelta(days=8)))
    shop.do("collect")
    assert shop.outgoing(head).state is OutState.FAILED, "not for ever"


def test_work_on_a_closing_that_failed_for_good_is_begun_again(shop: Shop, github_world: World) -> None:
    bug, fix = opened(shop, github_world)
    shop.ledger.store.advance(bug, State.REPORTED, State.FIXED)
    shop.ledger.work.add(NewWork("close", f"bug:{bug}", "tiny", {"bug": bug, "commit": fix}))
    work = shop.ledger.work.claim(["close"])
    assert work is not None and shop.ledger.work.failed(work, "the disk was full")
    assert "close" in again(shop, "close") and changes(shop) == ["ready"]


def test_an_issue_that_is_refused_again_and_again_waits_for_a_moderator(
    shop: Shop, github_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = github_world
    access = Access(world.settings(), Pace(lambda: 0.0))
    monkeypatch.setattr(Shop, "desk", property(lambda self: Desk(self.settings, self.ledger, access.client)))
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), State.DRAFTED, None).id
    shop.ledger.work.add(NewWork("triage", f"bug:{bug}", "tiny", {"bug": bug}))
    work = shop.ledger.work.claim(["triage"])
    assert work is not None and shop.ledger.work.done(work)
    world.proxy.refuse("POST", r"/repos/[^/]+/[^/]+/issues", 410, "Issues are disabled for this repo")
    shop.do("file", f"bug:{bug}", project="tiny", bug=bug)
    for _ in range(3):
        send(shop, world)
        again(shop, "file")
    issues = [one for one in shop.ledger.outbox.listed() if one.key.startswith("issue:")]
    assert [one.state for one in issues] == [*[OutState.FAILED] * 3, OutState.HELD]
    assert "GitHub has refused it 3 times" in issues[-1].note and not again(shop, "file"), "it waits"
