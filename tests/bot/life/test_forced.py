"""A forced push gives commits other names: what was decided by the old ones still holds, or nobody can tell."""

from __future__ import annotations

import pytest

from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of
from tests.bot.life.test_left_out import closed
from tests.bot.life.test_refused import changes, opened, send
from tests.bot.life.test_reopened import acts, shop
from tests.github.support import World
from triage.lifecycle import State

__all__ = ["shop"]


def rewritten(shop: Shop, onto: str) -> str:
    """The branch is forced back, and the same fix lands as another commit."""
    shop.git("reset", "--quiet", "--hard", onto)
    shop.git("commit", "--quiet", "--allow-empty", "--message", "a word before it")
    return shop.lands()


def test_a_fix_that_a_forced_push_has_renamed_closes_nothing_that_a_person_reopened(
    shop: Shop, github_world: World
) -> None:
    bug, fix = opened(shop, github_world)
    shop.do("close", bug=bug, commit=fix)
    send(shop, github_world)
    acts(shop, github_world, "reopened", 1)
    renamed = rewritten(shop, f"{fix}~")
    note = shop.do("close", bug=bug, commit=renamed).note
    assert f"whether {renamed} is a fix since then cannot be told from the history" in note
    send(shop, github_world)
    assert github_world.issues()[0]["state"] == "open" and changes(shop) == ["sent"]


def test_a_fix_that_lands_after_the_refuted_one_closes_though_it_began_before(shop: Shop, github_world: World) -> None:
    bug, fix = opened(shop, github_world)
    shop.git("checkout", "--quiet", "-b", "side", f"{fix}~")
    inner = shop.lands()
    shop.git("checkout", "--quiet", "main")
    shop.do("close", bug=bug, commit=fix)
    send(shop, github_world)
    acts(shop, github_world, "reopened", 1)
    back = shop.lands("sub swaps")
    shop.do("reopen", bug=bug, commit=back)
    merge = shop.git("commit-tree", f"{inner}^{{tree}}", "-p", back, "-p", inner, "-m", "merge").strip()
    shop.git("reset", "--quiet", "--hard", merge)
    shop.do("close", bug=bug, commit=merge)
    send(shop, github_world)
    assert github_world.issues()[0]["state"] == "closed"


@pytest.mark.parametrize("forced", [True, False])
def test_a_closed_bug_whose_fix_was_renamed_can_come_back(tiny_shop: Shop, forced: bool) -> None:
    bug, broken, fix = closed(tiny_shop)
    renamed = rewritten(tiny_shop, broken)
    done = tiny_shop.do("suite", commit=renamed, before=fix, forced=forced)
    retests = [work for work in tiny_shop.queued("retest") if work.key == f"bug:{bug.id}"]
    assert bool(retests) is forced, done.note
    for work in retests:
        tiny_shop.go_on(work.id, "retest")
    issue = tiny_shop.ledger.issues.of_bug(bug.id)
    assert issue is not None and issue.fixed_by == (renamed if forced else fix)
    done = tiny_shop.do("reopen", bug=bug.id, commit=tiny_shop.lands("sub swaps"))
    assert (tiny_shop.ledger.store.bug(bug.id).state is State.REGRESSED) is forced, done.note


def test_a_bug_whose_commit_a_forced_push_has_taken_away_is_judged_by_it_still(shop: Shop, github_world: World) -> None:
    broken = shop.lands("sub swaps")
    shop.do("suite", commit=broken, before=shop.first)
    shop.git("reset", "--quiet", "--hard", shop.first)
    fixed = shop.lands()
    number = github_world.ask("/issues", "POST", {"title": "Sub is wrong"})["number"]
    bug = bug_of(shop, "Sub", broken, number=number).id
    assert f"fixed by {fixed}; close " in shop.do("close", bug=bug, commit=fixed).note


def test_what_a_forced_push_mends_is_new_where_all_that_a_person_knew_still_fails(
    shop: Shop, github_world: World
) -> None:
    broken = shop.lands("sub swaps")
    shop.do("suite", commit=broken, before=shop.first)
    number = github_world.ask("/issues", "POST", {"title": "Sub is wrong"})["number"]
    bug = bug_of(shop, "Sub", broken, number=number).id
    acts(shop, github_world, "closed", 0)
    acts(shop, github_world, "reopened", 1)  # and the branch is at `broken`
    shop.git("reset", "--quiet", "--hard", shop.first)
    fixed = shop.lands("neg raises")
    assert f"fixed by {fixed}; close " in shop.do("close", bug=bug, commit=fixed).note
    send(shop, github_world)
    assert github_world.issues()[0]["state"] == "closed"
