"""A person reopens an issue: no fix that the bot knew of by then closes it again, whatever it is called."""

from __future__ import annotations

import pytest

from bot.desk import Desk
from bot.github.auth import Access
from bot.github.pace import Pace
from bot.settings import Filing
from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of
from tests.bot.life.test_refused import ISSUE, again, changes, opened, send
from tests.github.support import World
from triage.bisect.descent import Descent
from triage.ledger.records import OutState
from triage.lifecycle import State


@pytest.fixture
def shop(tiny_shop: Shop, github_world: World, monkeypatch: pytest.MonkeyPatch) -> Shop:
    access = Access(github_world.settings(), Pace(lambda: 0.0))
    monkeypatch.setattr(Shop, "desk", property(lambda self: Desk(self.settings, self.ledger, access.client)))
    tiny_shop.configure(repository=github_world.repository)
    return tiny_shop


def acts(shop: Shop, world: World, action: str, hour: int) -> None:
    """A person closes or reopens the one issue; the bot hears of it and runs the bug again."""
    [issue] = world.issues()
    world.ask(f"/issues/{issue['number']}", "PATCH", {"state": "closed" if action == "closed" else "open"})
    told = {"number": issue["number"], "action": action, "actor": "maintainer", "program": False, "label": "", "to": ""}
    reason = "completed" if action == "closed" else ""
    shop.do("human", **told, reason=reason, at=f"2027-01-01T{hour:02}:00:00Z")
    for kind in ("retest", "close"):
        for work in shop.queued(kind):
            shop.go_on(work.id, kind)
    send(shop, world)


def test_a_fix_that_gets_another_name_is_no_new_one(
    shop: Shop, github_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = github_world
    number = world.ask("/issues", "POST", {"title": "Sub is wrong"})["number"]
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), number=number).id
    shop.git("checkout", "--quiet", "-b", "side")
    shop.lands("sub swaps", "neg raises")
    inner = shop.lands()
    shop.git("checkout", "--quiet", "main")
    shop.git("merge", "--no-ff", "--quiet", "-m", "merge", "side")
    merge = shop.git("rev-parse", "HEAD").strip()
    with monkeypatch.context() as patched:
        patched.setattr(Descent, "inside", lambda self, found, span: found)  # there was no time to look inside
        shop.do("close", bug=bug, commit=merge)
    send(shop, world)
    assert changes(shop) == ["sent"] and inner not in str([one.key for one in shop.ledger.outbox.listed()])
    acts(shop, world, "reopened", 1)
    assert world.issues()[0]["state"] == "open" and changes(shop) == ["sent"]
    [closing] = [one for one in shop.ledger.work.listed(kind="close") if one.key == f"bug:{bug}"]
    assert f"fixed by {inner}; not closed" in closing.note and "no new fix since" in closing.note
    shop.do("reopen", bug=bug, commit=shop.lands("sub swaps"))
    shop.do("close", bug=bug, commit=shop.lands())
    send(shop, world)
    assert world.issues()[0]["state"] == "closed", "what landed later is a new fix"


def test_a_closing_that_had_not_arrived_is_refuted_as_well(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    world.proxy.refuse("PATCH", ISSUE)
    shop.do("close", bug=bug, commit=fix)
    send(shop, world)
    world.proxy.refused.clear()
    acts(shop, world, "closed", 0)
    acts(shop, world, "reopened", 1)
    assert not again(shop, "close")
    send(shop, world)
    assert world.issues()[0]["state"] == "open" and changes(shop) == ["failed"]
    assert "no new fix since" in shop.do("close", bug=bug, commit=shop.lands("neg raises")).note


def test_a_closing_that_waited_for_a_moderator_is_not_put_forward_again(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    shop.configure(filing=Filing(moderation=True))
    shop.do("close", bug=bug, commit=fix)
    acts(shop, world, "closed", 0)
    acts(shop, world, "reopened", 1)
    assert changes(shop) == ["withdrawn"]
    assert not again(shop, "close") and changes(shop) == ["withdrawn"]


def test_a_closing_that_was_decided_while_a_person_reopened_is_not_sent(shop: Shop, github_world: World) -> None:
    world = github_world
    bug, fix = opened(shop, world)
    shop.ledger.switches.set("stop", "for now")
    shop.do("close", bug=bug, commit=fix)
    [closing] = [one for one in shop.ledger.outbox.listed() if one.key.startswith("close:")]
    said = {"reopened": True, "by": "ada", "judged": fix}  # the fix itself was called otherwise before
    shop.ledger.issues.update(bug, human=said)
    shop.ledger.switches.set("stop", "")
    send(shop, world)
    assert shop.ledger.outbox.get(closing.id).state is OutState.WITHDRAWN
    assert world.issues()[0]["state"] == "open" and shop.ledger.store.bug(bug).state is State.FIXED
