"""What follows when a person closes, reopens, labels or takes away an issue, at the emulator."""

from __future__ import annotations

import pytest

from bot import working
from bot.life import human
from bot.life.human import Said
from tests.bot.remarks.support import Room
from triage.ledger.records import Issue, NewOutgoing, NewWork, OutKind, OutState, WorkState
from triage.lifecycle import State

FIX = "f" * 40


def said(room: Room, bug: int) -> Said:
    """What people have said about a bug's issue."""
    return human.read(issue_of(room, bug).human)


def issue_of(room: Room, bug: int) -> Issue:
    found = room.ledger.issues.of_bug(bug)
    assert found is not None
    return found


@pytest.mark.parametrize(("reason", "state"), [("not_planned", State.INVALID), ("duplicate", State.DUPLICATE)])
def test_a_refused_report_puts_the_bug_aside_with_all_that_was_to_come(room: Room, reason: str, state: State) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.ledger.work.add(NewWork("reopen", f"bug:{bug}", "compiler", {"bug": bug}))
    held = NewOutgoing(OutKind.STATE, "x", room.world.repository, {"open": True}, f"bug:{bug}", number, bug, held=True)
    room.ledger.outbox.add(held)
    room.acts("closed", number, state_reason=reason)
    assert room.state(bug) is state and not room.queued()
    assert not issue_of(room, bug).open and said(room, bug).forbids_reopening(FIX)
    waiting = room.ledger.outbox.by_key("x")
    assert waiting is not None and waiting.state is OutState.WITHDRAWN


@pytest.mark.parametrize("reason", ["completed", None])
def test_closed_as_done_is_believed_and_looked_at(room: Room, reason: str | None) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.acts("closed", number, state_reason=reason)
    assert room.queued() == [("retest", f"bug:{bug}", {"bug": bug})]
    assert room.state(bug) is State.REPORTED and said(room, bug).closed == "completed"


def test_a_reopened_issue_is_not_closed_for_the_same_fix_again(room: Room) -> None:
    bug = room.bug(State.CLOSED)
    number = room.issue(bug)
    room.ledger.issues.update(bug, open=False, fixed_by=FIX)
    room.acts("reopened", number)
    issue = issue_of(room, bug)
    assert issue.open and issue.fixed_by == "" and room.state(bug) is State.REPORTED
    assert said(room, bug).forbids_closing(FIX) and not said(room, bug).forbids_closing("e" * 40)
    assert [kind for kind, _, _ in room.queued()] == ["retest"]


def test_a_bug_that_was_refused_is_judged_anew_when_its_issue_is_reopened(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.acts("closed", number, state_reason="not_planned", updated_at="2026-01-01T00:00:01Z")
    room.acts("reopened", number, updated_at="2026-01-01T00:00:02Z")
    assert room.state(bug) is State.NEW and [kind for kind, _, _ in room.queued()] == ["triage"]


def test_a_muted_bug_stays_muted(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.ledger.store.mute(bug, "by a person")
    room.acts("reopened", number)
    assert room.state(bug) is State.INVALID


def test_an_act_that_is_told_late_does_not_undo_what_came_after(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)  # open at GitHub
    room.acts("reopened", number, updated_at="2026-01-01T00:00:09Z")
    work = room.acts("closed", number, state_reason="not_planned", updated_at="2026-01-01T00:00:01Z")
    assert "before something that is known" in work.note
    assert issue_of(room, bug).open and room.state(bug) is State.REPORTED
    assert [each["act"] for each in said(room, bug).history] == ["reopened", "closed"]


def test_an_act_is_believed_whatever_its_time_where_github_says_the_same(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.acts("reopened", number, updated_at="2026-01-01T00:00:09Z")
    room.world.ask(f"/issues/{number}", "PATCH", {"state": "closed"})
    room.acts("closed", number, updated_at="2026-01-01T00:00:01Z")
    assert not issue_of(room, bug).open


def test_labels_are_remembered(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.acts("unlabeled", number, label="needs-triage")
    assert said(room, bug).forbids_label("needs-triage") and not room.queued()


@pytest.mark.parametrize("action", ["deleted", "transferred"])
def test_an_issue_that_is_gone_is_given_up(room: Room, action: str) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.acts(action, number)
    assert not issue_of(room, bug).open and said(room, bug).forbids_writing()


def test_what_a_program_closes_is_closed_and_no_decision(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.acts("closed", number, by="stale[bot]", state_reason="not_planned")
    assert not issue_of(room, bug).open and room.state(bug) is State.REPORTED
    assert not said(room, bug).history and not room.queued()
    assert room.acts("closed", number, by=room.world.bot).note == "the bot did it"


def test_issues_of_others_and_the_bots_own_acts_are_nothing(room: Room) -> None:
    bug = room.bug()
    number, other = room.issue(bug), room.issue()
    assert room.acts("closed", other).note == "it is the issue of no bug"
    assert room.acts("closed", number, by=room.world.bot).note == "the bot did it"
    assert issue_of(room, bug).open and not said(room, bug).history


def test_work_that_is_done_again_after_a_kill_remembers_once(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    work = room.acts("closed", number, state_reason="not_planned")
    assert work.state is WorkState.DONE
    before = issue_of(room, bug)
    room.again(work)
    assert issue_of(room, bug) == before


def test_a_merged_bug_whose_issue_a_person_reopens_is_one_of_its_own_again(room: Room) -> None:
    kept, given = room.bug(), room.bug()
    first, second = room.issue(kept), room.issue(given)
    room.says(f"@graphwarden duplicate of #{first}", second)
    room.answers(second)
    assert room.ledger.store.bug(kept).count == 2 and room.state(given) is State.DUPLICATE
    room.world.ask(f"/issues/{second}", "PATCH", {"state": "open"})
    work = room.acts("reopened", second)
    room.again(work)
    assert room.state(given) is State.NEW and issue_of(room, given).open
    assert [(kind, key) for kind, key, _ in room.queued()] == [("triage", f"bug:{given}")]
    bugs = [room.ledger.store.bug(number) for number in (kept, given)]
    assert [bug.count for bug in bugs] == [1, 1]
    assert room.ledger.store.decisions().are_apart(bugs[0].fingerprint, bugs[1].fingerprint)


def test_an_issue_of_a_repository_with_two_compilers_is_followed_for_the_one_that_has_the_bug(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    first = room.settings.projects["compiler"]
    second = first.model_copy(update={"name": "second", "compiler": "openvino"})
    room.settings = room.settings.model_copy(update={"projects": {"compiler": first, "second": second}})
    told = {"number": number, "action": "closed", "actor": "ada", "program": False, "label": "", "to": ""}
    room.ledger.work.add(NewWork("human", "guid", "second", {**told, "reason": "completed", "at": ""}))
    work = room.ledger.work.claim(["human"])
    assert work is not None
    working.do(work, room.desk)
    [retest] = room.ledger.work.listed([WorkState.QUEUED], "retest")
    assert retest.project == "compiler"
