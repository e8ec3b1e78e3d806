"""A bug of real commits is fixed, closed, comes back and is reopened; and all that must not close or reopen it."""

from __future__ import annotations

import pytest

from bot import builds
from bot.life import filed
from bot.life.limits import Allowance
from bot.settings import Filing
from fuzz.case import Revision
from tests.bot.checks.support import Shop
from tests.bot.life.support import DRAFT, arrived, bug_of, case, said, text
from triage.bisect.found import Kind
from triage.ledger.records import NewWork, OutState, WorkState
from triage.lifecycle import State
from triage.revisions import approvals, places
from triage.suite import memory
from triage.suite.entries import PASS


def test_a_fix_closes_the_issue_naming_the_commit_and_its_undoing_reopens_it(tiny_shop: Shop) -> None:
    shop, store, issues = tiny_shop, tiny_shop.ledger.store, tiny_shop.ledger.issues
    broken = shop.lands("sub swaps")
    bug = bug_of(shop, "Sub", broken)
    fix = shop.lands()
    later = shop.lands("neg raises")
    done = shop.do("close", bug=bug.id, commit=later)
    assert (done.state, done.note) == (WorkState.DONE, f"fixed by {fix}; close octo/tiny#7")
    assert store.bug(bug.id).state is State.FIXED and store.bug(bug.id).bisected[Kind.GOOD].first == fix
    assert said(shop) == [
        ("comment", "ready", "fixed"),
        ("state", "ready", "close"),
        ("edit_comment", "ready", "status"),
    ]
    assert text(shop, "fixed:").startswith(f"Fixed by {fix}: the reproducer passes there and still fails on {broken}")
    assert "passes (3 of 3 fresh runs)" in text(shop, "fixed:")
    again = shop.do("close", bug=bug.id, commit=later)  # the same after a kill: nothing twice
    assert "its closing is ready" in again.note and len(said(shop)) == 3
    arrived(shop)
    issue = issues.of_bug(bug.id)
    assert store.bug(bug.id).state is State.CLOSED
    assert issue is not None and (issue.open, issue.fixed_by) == (False, fix)
    undone = shop.lands("sub swaps")
    done = shop.do("reopen", bug=bug.id, commit=undone)
    assert done.note == f"fails again on {undone}; reopen octo/tiny#7"
    assert store.bug(bug.id).state is State.REGRESSED
    assert f"It came back with {undone}" in text(shop, "regressed:")
    sent = arrived(shop)
    assert [one.key.split(":")[0] for one in sent] == ["status", "regressed", "reopen"]  # the one status is edited
    assert "`regressed`" in text(shop, "status:")
    issue = issues.of_bug(bug.id)
    assert issue is not None and (issue.open, issue.fixed_by) == (True, "")
    mended = shop.lands()
    assert shop.do("close", bug=bug.id, commit=mended).note == f"fixed by {mended}; close octo/tiny#7"


def test_a_build_without_the_fix_reopens_nothing(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    bug = bug_of(tiny_shop, "Sub", broken)
    older = tiny_shop.pull("sub swaps", "neg raises")  # a branch that left before the fix
    fix = tiny_shop.lands()
    tiny_shop.do("close", bug=bug.id, commit=fix)
    arrived(tiny_shop)
    done = tiny_shop.do("reopen", bug=bug.id, commit=older)
    assert done.note == f"nothing to reopen: {older} has not landed"
    assert tiny_shop.ledger.store.bug(bug.id).state is State.CLOSED


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        (("sub swaps",), "fails (3 of 3 fresh runs): that is no fix"),
        (("garbage",), "cannot be tested"),
    ],
)
def test_a_build_that_fails_or_cannot_be_tested_closes_nothing(
    tiny_shop: Shop, faults: tuple[str, ...], why: str
) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    done = tiny_shop.do("close", bug=bug.id, commit=tiny_shop.lands(*faults, "neg dies"))
    assert done.state is WorkState.DONE and why in done.note
    assert tiny_shop.ledger.store.bug(bug.id).state is State.REPORTED
    assert said(tiny_shop) == [("edit_comment", "ready", "status")]


def test_a_bug_whose_revision_is_gone_is_stale_and_its_issue_stays_open(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    tiny_shop.git("reset", "--quiet", "--hard", tiny_shop.first)  # somebody has forced a push
    tiny_shop.git("reflog", "expire", "--expire=now", "--all")
    tiny_shop.git("gc", "--quiet", "--prune=now")
    done = tiny_shop.do("close", bug=bug.id, commit=tiny_shop.lands())
    assert "is gone" in done.note
    assert tiny_shop.ledger.store.bug(bug.id).state is State.STALE
    assert said(tiny_shop) == [("edit_comment", "ready", "status")]


def test_with_moderation_a_closing_waits_and_is_withdrawn_when_the_bug_is_back(tiny_shop: Shop) -> None:
    tiny_shop.configure(filing=Filing())
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    tiny_shop.do("close", bug=bug.id, commit=tiny_shop.lands())
    assert {state for _, state, _ in said(tiny_shop)} == {"held"}
    done = tiny_shop.do("reopen", bug=bug.id, commit=tiny_shop.lands("sub swaps"))
    assert "not reopened: octo/tiny#7: it is open" in done.note
    assert tiny_shop.ledger.store.bug(bug.id).state is State.REGRESSED
    withdrawn = tiny_shop.ledger.outbox.listed([OutState.WITHDRAWN])
    assert [one.key.split(":")[0] for one in withdrawn] == ["fixed", "close"]
    assert not arrived(tiny_shop)


def test_a_closing_that_was_withdrawn_is_put_forward_again_by_the_same_fix(tiny_shop: Shop) -> None:
    tiny_shop.configure(filing=Filing())
    broken = tiny_shop.lands("sub swaps")
    bug = bug_of(tiny_shop, "Sub", broken)
    fix = tiny_shop.lands()
    tiny_shop.do("close", bug=bug.id, commit=fix)
    tiny_shop.do("reopen", bug=bug.id, commit=tiny_shop.lands("sub swaps"))
    tiny_shop.git("reset", "--quiet", "--hard", fix)
    assert "close octo/tiny#7" in tiny_shop.do("close", bug=bug.id, commit=fix).note
    assert [kind for kind, state, _ in said(tiny_shop) if state == "held"] == ["edit_comment", "comment", "state"]


def test_a_closing_that_a_moderator_rejected_stays_rejected_and_the_note_says_so(tiny_shop: Shop) -> None:
    tiny_shop.configure(filing=Filing())
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    fix = tiny_shop.lands()
    tiny_shop.do("close", bug=bug.id, commit=fix)
    for one in tiny_shop.ledger.outbox.listed([OutState.HELD]):
        tiny_shop.ledger.outbox.reject(one.id, "ada")
    done = tiny_shop.do("close", bug=bug.id, commit=fix)
    assert done.note == f"fixed by {fix}; not closed: that is rejected in the outbox (rejected by ada)"
    assert {state for _, state, _ in said(tiny_shop)} == {"rejected"}


def test_an_issue_that_a_person_closed_is_not_closed_again_but_its_fix_is_remembered(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    tiny_shop.ledger.issues.update(bug.id, open=False, human={"closed": "completed", "by": "ada"})
    fix = tiny_shop.lands()
    done = tiny_shop.do("close", bug=bug.id, commit=fix)
    assert done.note == f"fixed by {fix}; its issue is closed already"
    issue = tiny_shop.ledger.issues.of_bug(bug.id)
    assert issue is not None and issue.fixed_by == fix
    assert tiny_shop.ledger.store.bug(bug.id).state is State.CLOSED
    assert not [one for one in said(tiny_shop) if one[0] == "state"]


def test_an_issue_that_a_person_reopened_is_not_closed_for_the_same_fix(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    fix = tiny_shop.lands()
    tiny_shop.ledger.issues.update(bug.id, human={"reopened": True, "refuted": fix, "by": "ada"})
    done = tiny_shop.do("close", bug=bug.id, commit=tiny_shop.lands("neg raises"))
    assert "not closed: octo/tiny#7: ada reopened it, and there is no new fix since" in done.note


def test_a_bug_that_is_fixed_before_it_was_filed_is_not_filed(tiny_shop: Shop) -> None:
    tiny_shop.configure(filing=Filing())
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"), State.DRAFTED, None)
    for one in filed.issue(
        bug, DRAFT, tiny_shop.project, "https://api.github.com", (), "issue:x", Allowance(held=True)
    ):
        tiny_shop.ledger.outbox.add(one)
    done = tiny_shop.do("close", bug=bug.id, commit=tiny_shop.lands())
    assert "it was never filed" in done.note
    [held] = tiny_shop.ledger.outbox.listed()
    assert held.state is OutState.WITHDRAWN and "before it was filed" in held.note


def test_no_commit_is_thanked_or_blamed_where_one_between_cannot_be_tested(tiny_shop: Shop) -> None:
    shop = tiny_shop
    broken = shop.lands("sub swaps")
    bug = bug_of(shop, "Sub", broken)
    untestable, fix = shop.lands("garbage"), shop.lands()
    shop.do("close", bug=bug.id, commit=fix)
    told = text(shop, "fixed:")
    assert told.startswith(f"Fixed after {broken}, where") and f"between them lie {untestable}" in told
    assert f"Passes since | {fix} at the latest" in text(shop, "status:")
    arrived(shop)
    hidden, undone = shop.lands("garbage"), shop.lands("sub swaps")
    shop.do("reopen", bug=bug.id, commit=undone)
    told = text(shop, "regressed:")
    assert f"It came back after {fix}" in told and f"Between them lie {hidden}" in told
    assert "It came back with" not in told


def test_a_fix_that_was_undone_before_it_was_looked_at_closes_nothing(tiny_shop: Shop) -> None:
    shop = tiny_shop
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"))
    fix, undone = shop.lands(), shop.lands("sub swaps")
    ended(shop, fix)
    ended(shop, undone)  # and saw nothing to do: the bug was not fixed then
    done = shop.do("close", bug=bug.id, commit=fix)
    assert done.note == f"{undone} fails (3 of 3 fresh runs): that is no fix"
    assert shop.ledger.store.bug(bug.id).state is State.REPORTED


def test_a_return_that_was_mended_before_it_was_looked_at_reopens_nothing(tiny_shop: Shop) -> None:
    shop = tiny_shop
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"))
    shop.do("close", bug=bug.id, commit=shop.lands())
    arrived(shop)
    back, mended = shop.lands("sub swaps"), shop.lands()
    ended(shop, back)
    ended(shop, mended)
    done = shop.do("reopen", bug=bug.id, commit=back)
    assert done.note == f"{mended} passes (3 of 3 fresh runs): that proves no return"
    assert shop.ledger.store.bug(bug.id).state is State.CLOSED


@pytest.mark.parametrize("landed", [False, True], ids=["of a branch", "from before the fault"])
def test_a_build_that_is_not_what_the_branch_is_now_closes_nothing(tiny_shop: Shop, landed: bool) -> None:
    shop = tiny_shop
    named = shop.first if landed else shop.pull()
    compiler = builds.compiler(shop.project.compiler)
    approvals.give(places.root(), compiler, Revision(named, commit=named))
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"))
    shop.do("retest", bug=bug.id, revision=named, answer={"number": 7, "comment": 99})
    assert not shop.queued("close") and "Nothing follows from that" in text(shop, "answer:99:retest")
    assert "nothing to close" in shop.do("close", bug=bug.id, commit=named).note
    assert shop.ledger.store.bug(bug.id).state is State.REPORTED


def test_a_bug_that_was_mended_while_it_was_worked_on_is_not_filed(tiny_shop: Shop) -> None:
    shop = tiny_shop
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), State.DRAFTED, None)
    fix = shop.lands()
    ended(shop, fix)
    memory.remember(builds.compiler(shop.project.compiler).name, fix, {case(shop, "Sub").id: PASS})
    assert f"it passed on {fix}" in shop.do("file", bug=bug.id).note
    [close] = shop.queued("close")
    assert "it was never filed" in shop.go_on(close.id, "close").note
    assert shop.ledger.store.bug(bug.id).state is State.FIXED and not said(shop)


def test_a_report_that_is_ready_is_taken_back_when_the_bug_is_fixed(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"), State.DRAFTED, None)
    for one in filed.issue(bug, DRAFT, tiny_shop.project, "https://api.github.com", (), "issue:x", Allowance()):
        tiny_shop.ledger.outbox.add(one)
    tiny_shop.ledger.switches.set("stop", "stopped")  # or GitHub is away
    assert "it was never filed" in tiny_shop.do("close", bug=bug.id, commit=tiny_shop.lands()).note
    assert [state for _, state, _ in said(tiny_shop)] == ["withdrawn"]


def ended(shop: Shop, commit: str) -> None:
    """The suite of a commit has ended, and nothing followed from it."""
    shop.ledger.work.add(NewWork("suite", f"tiny:{commit}", "tiny", {"commit": commit}))
    work = shop.ledger.work.claim(["suite"])
    assert work is not None and shop.ledger.work.done(work)
