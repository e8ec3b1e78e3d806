"""The life of an issue at GitHub itself: filed, closed with the fixing commit, reopened; and kills in between."""

from __future__ import annotations

import pytest

from bot import working
from bot.desk import Desk
from bot.github.auth import Access
from bot.github.pace import Pace
from bot.life import saying
from bot.sending import sender_of
from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of
from tests.github.support import World
from triage.ledger.records import WorkState
from triage.lifecycle import State


def file(shop: Shop, bug_id: int, world: World) -> None:
    """Do the work of filing, with GitHub at hand."""
    shop.ledger.work.add(saying.to_file(bug_id, "tiny"))
    work = shop.ledger.work.claim(["file"])
    assert work is not None
    working.do(work, Desk(shop.settings, shop.ledger, Access(world.settings(), Pace(lambda: 0.0)).client))
    assert shop.ledger.work.get(work.id).state is WorkState.DONE


def send(shop: Shop, world: World) -> None:
    """Everything that is ready goes out, and what follows from it is done."""
    access = Access(world.settings(), Pace(lambda: 0.0))
    sender = sender_of(shop.ledger, access.client, access.pace, settled=0)
    for _ in range(50):
        if sender.step() is None:
            return
    pytest.fail("the outbox does not become empty")


def test_an_issue_is_opened_closed_with_the_fixing_commit_and_reopened(tiny_shop: Shop, github_world: World) -> None:
    shop, world = tiny_shop, github_world
    shop.configure(repository=world.repository)
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), State.DRAFTED, None)
    file(shop, bug.id, world)
    send(shop, world)
    [issue] = world.issues()
    assert issue["state"] == "open"
    fix = shop.lands()
    shop.do("close", bug=bug.id, commit=fix)
    send(shop, world)
    [issue] = world.issues()
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    told = [each["body"] for each in world.comments(issue["number"])]
    assert len(told) == 2 and told[0].startswith(f"Fixed by {fix}: ") and "`closed`" in told[1]
    assert shop.ledger.store.bug(bug.id).state is State.CLOSED
    undone = shop.lands("sub swaps")
    shop.do("reopen", bug=bug.id, commit=undone)
    send(shop, world)
    [issue] = world.issues()
    told = [each["body"] for each in world.comments(issue["number"])]
    assert issue["state"] == "open" and len(told) == 3
    assert "`regressed`" in told[1] and told[2].startswith(f"This is back: {undone} contains the fix ({fix})")
    assert shop.ledger.store.bug(bug.id).state is State.REGRESSED


def test_a_kill_between_the_move_and_the_words_loses_neither(tiny_shop: Shop) -> None:
    shop = tiny_shop
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"))
    fix = shop.lands()
    shop.ledger.store.advance(bug.id, State.REPORTED, State.FIXED)
    assert shop.do("close", bug=bug.id, commit=fix).note == f"fixed by {fix}; close octo/tiny#7"
    for one in shop.ledger.outbox.listed():
        shop.ledger.outbox.refused(one, "not in this test")
    shop.ledger.issues.update(bug.id, open=False, fixed_by=fix)
    shop.ledger.store.advance(bug.id, State.FIXED, State.CLOSED)
    undone = shop.lands("sub swaps")
    shop.ledger.store.advance(bug.id, State.CLOSED, State.REGRESSED)
    assert shop.do("reopen", bug=bug.id, commit=undone).note == f"fails again on {undone}; reopen octo/tiny#7"


def test_an_issue_is_closed_and_reopened_every_time_its_branch_is_forced_back_and_forth(
    tiny_shop: Shop, github_world: World
) -> None:
    shop, world = tiny_shop, github_world
    shop.configure(repository=world.repository)
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), State.DRAFTED, None)
    file(shop, bug.id, world)
    fix, undone = shop.lands(), shop.lands("sub swaps")
    for turn in (1, 2, 3):
        for kind, tip, state in (("close", fix, "closed"), ("reopen", undone, "open")):
            shop.git("reset", "--quiet", "--hard", tip)
            send(shop, world)
            shop.do(kind, bug=bug.id, commit=tip)
            assert "is ready in the outbox" in shop.do(kind, bug=bug.id, commit=tip).note  # the same after a kill
            send(shop, world)
            [issue] = world.issues()
            assert issue["state"] == state, (turn, kind)
    told = [each["body"] for each in world.comments(issue["number"])]
    assert sum(each.startswith(f"Fixed by {fix}: ") for each in told) == 3
    assert sum(each.startswith(f"This is back: {undone}") for each in told) == 3
    assert len(told) == 7, "and one status comment"
