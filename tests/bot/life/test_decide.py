"""Every combination of facts under which the bot must not close, reopen or file; and the one under which it may."""

from __future__ import annotations

import itertools

import pytest

from bot.life import decide
from bot.life.decide import ToFile
from bot.life.seen import RUNS, Does, Run, Seen, concluded
from triage.ledger.records import Issue
from triage.lifecycle import State

OLD, NEW, FIX = "1.0", "2.0", "1.5"
OURS = Issue(3, "octo/tiny", 7, ours=True)
LINKED = Issue(3, "octo/tiny", 7, ours=False, linked_by="ada")
STRANGERS = Issue(3, "octo/tiny", 7, ours=False)
PASS, FAIL, OTHER = Run(True), Run(False, "wrong:values"), Run(False, "exception:RuntimeError")
NOTHING = Run(False, judged=False, why="invalid: no model")


def test_a_bug_is_fixed_only_if_its_revision_fails_today_and_the_new_one_passes() -> None:
    for state, old, new in itertools.product(State, Does, Does):
        found = decide.fixed(state, Seen(OLD, old, 3, 3), Seen(NEW, new, 3, 0))
        expected = state in decide.FIXABLE and old is Does.FAILS and new is Does.PASSES
        assert (found.act, bool(found.why)) == (expected, True), (state, old, new)


def test_a_bug_is_back_only_on_a_build_that_contains_the_fix_and_fails_every_time() -> None:
    for state, fix, contains, new in itertools.product(State, ("", FIX), (True, False, None), Does):
        found = decide.regressed(state, fix, contains, Seen(NEW, new, 3, 3))
        expected = state in decide.RETURNING and bool(fix) and contains is True and new is Does.FAILS
        assert (found.act, bool(found.why)) == (expected, True), (state, fix, contains, new)


def test_only_a_bug_with_a_report_can_be_fixed_and_only_one_with_a_fix_can_come_back() -> None:
    assert sorted(decide.FIXABLE) == ["drafted", "fixed", "regressed", "reported"]
    assert sorted(decide.RETURNING) == ["closed", "fixed", "regressed"]


def test_an_issue_is_touched_only_if_it_is_the_bots_to_touch_and_nobody_objects() -> None:
    facts = itertools.product((None, OURS, LINKED, STRANGERS), (True, False), (True, False), ("", "ada said no"))
    for issue, is_open, enabled, against in facts:
        mine = issue in (OURS, LINKED) and enabled and not against
        closing = decide.closing(issue, is_open, enabled, against)
        reopening = decide.reopening(issue, is_open, enabled, against)
        assert (closing.act, reopening.act) == (mine and is_open, mine and not is_open), (issue, is_open, against)
        assert closing.why and reopening.why


def test_a_bug_is_filed_once_and_only_drafted_by_its_own_project() -> None:
    flags, put_out = (True, False), ("", "held", "ready", "sending", "sent", "rejected", "failed")
    for facts in itertools.product(State, flags, flags, (None, OURS, STRANGERS), put_out, flags):
        state, mine, has_draft, issue, pending, asked = facts
        found = decide.filing(ToFile(state, mine, has_draft, issue, pending, asked))
        free = pending in ("", "failed") or (pending == "rejected" and asked)
        ready = state in (State.DRAFTED, State.REGRESSED) and has_draft
        assert (found.act, bool(found.why)) == (ready and mine and issue is None and free, True), facts


@pytest.mark.parametrize(
    ("runs", "does"),
    [
        ([PASS] * 3, Does.PASSES),
        ([FAIL] * 3, Does.FAILS),
        ([PASS] * 2, Does.VARIES),  # too few to believe
        ([FAIL] * 2, Does.VARIES),
        ([PASS, PASS, FAIL], Does.VARIES),
        ([FAIL, FAIL, OTHER], Does.VARIES),
        ([OTHER] * 3, Does.OTHERWISE),
        ([PASS, PASS, NOTHING], Does.NOTHING),
        ([], Does.VARIES),
    ],
)
def test_a_build_says_something_only_if_all_its_fresh_runs_agree(runs: list[Run], does: Does) -> None:
    assert concluded(NEW, "wrong:values", runs).does is does
    assert RUNS == 3


def test_the_reason_names_the_build_and_what_it_did() -> None:
    old, new = Seen(OLD, Does.FAILS, 3, 3), Seen(NEW, Does.VARIES, 3, 1)
    assert decide.fixed(State.REPORTED, old, new).why == "2.0 varies (1 of 3 fresh runs fail): that is no fix"
    gone = Seen(OLD, Does.GONE, note="no such release")
    passes = Seen(NEW, Does.PASSES, 3)
    told = "1.0, on which it was found, is gone: no such release today: that proves no fix"
    assert decide.fixed(State.REPORTED, gone, passes).why == told
