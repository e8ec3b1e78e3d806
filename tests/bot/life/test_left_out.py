"""What a suite did not come to within its time is neither missed nor believed: the bug is run by itself."""

from __future__ import annotations

import pytest

from bot import builds
from fuzz.case import Failure, Outcome, Revision, Stage, Status, Target
from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of, case
from triage.lifecycle import State
from triage.records import Bug, NewFailure


def closed(shop: Shop) -> tuple[Bug, str, str]:
    """A closed bug that was reduced to its case; the commit that broke it and the one that fixed it."""
    broken = shop.lands("sub swaps")
    bug, fix = bug_of(shop, "Sub", broken, State.CLOSED), shop.lands()
    shop.ledger.issues.update(bug.id, fixed_by=fix)
    shop.ledger.store.amend(bug.id, State.CLOSED, reduced=case(shop, "Sub"))
    return shop.ledger.store.bug(bug.id), broken, fix


def met(shop: Shop, bug: Bug, commit: str) -> None:
    """A suite meets the signature of the bug in another case, and has no time for the bug's own."""
    target = Target(builds.compiler(shop.project.compiler).backend, Revision(commit))
    failure = Failure(
        case(shop, "Relu"), target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", bug.symptom, ""
    )
    shop.ledger.store.record(0, (), [NewFailure(failure, bug.fingerprint, "", ("Sub",))])


@pytest.mark.parametrize("later", [False, True], ids=["on the newest commit", "on an older one"])
def test_what_merely_reads_like_a_closed_bug_is_a_bug_of_its_own(tiny_shop: Shop, later: bool) -> None:
    bug, _, fix = closed(tiny_shop)
    tip = tiny_shop.lands("neg raises")
    met(tiny_shop, bug, tip)
    if later:
        tiny_shop.lands()
    for _ in range(2):  # once more after a kill
        done = tiny_shop.do("reopen", bug=bug.id, commit=tip, before=fix)
    [other] = [one for one in tiny_shop.ledger.store.bugs() if one.id != bug.id]
    assert f"proves no return; triage bug {other.id}" in done.note
    assert (other.state, other.count) == (State.NEW, 1) and tiny_shop.ledger.store.bug(bug.id).state is State.CLOSED
    [work] = tiny_shop.queued("triage")
    assert dict(work.payload) == {"bug": other.id, "good": fix, "bad": tip}


def test_a_return_that_was_mended_again_makes_no_second_bug_of_what_it_broke(tiny_shop: Shop) -> None:
    bug, _, fix = closed(tiny_shop)
    back = tiny_shop.lands("sub swaps")
    met(tiny_shop, bug, back)
    mended = tiny_shop.lands()
    tiny_shop.do("suite", commit=mended, before=back)
    assert "proves no return" in tiny_shop.do("reopen", bug=bug.id, commit=back, before=fix).note
    assert len(tiny_shop.ledger.store.bugs()) == 1 and not tiny_shop.queued("triage")


def test_a_bug_that_a_suite_had_no_time_for_is_found_to_be_back(tiny_shop: Shop) -> None:
    bug, _, fix = closed(tiny_shop)
    back = tiny_shop.lands("sub swaps")
    done = tiny_shop.do("retest", bug=bug.id, revision=back)  # as the suite queues it
    assert "fails (3 of 3 fresh runs)" in done.note
    [work] = tiny_shop.queued("reopen")
    assert dict(work.payload) == {"project": "tiny", "bug": bug.id, "commit": back}
    assert "fails again" in tiny_shop.go_on(work.id, "reopen").note and fix
    assert tiny_shop.ledger.store.bug(bug.id).state is State.REGRESSED
