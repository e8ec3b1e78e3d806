"""An issue that was taken away without a word is left alone; one that merely cannot be changed now is not given up."""

from __future__ import annotations

import time

import pytest

from bot import working
from bot.github.pace import Pace
from bot.life import human, saying
from bot.sending import sender_of
from tests.bot.remarks.conftest import room
from tests.bot.remarks.support import Room
from triage.ledger.records import Issue, NewWork, OutKind, OutState
from triage.lifecycle import State

__all__ = ["room"]
ISSUE, REPOSITORY = r"/repos/[^/]+/[^/]+/issues/\d+(/comments)?", r"/repos/[^/]+/[^/]+(/issues/\d+)?"
FIX = "f" * 40


def closing(room: Room) -> tuple[int, int]:
    """A fixed bug whose closing is to go out; its number and the issue's."""
    bug = room.bug(State.FIXED)
    number = room.issue(bug)
    room.ledger.outbox.add(saying.state(f"close:bug:{bug}:{FIX}", issue_of(room, bug), False, FIX, False))
    return bug, number


def issue_of(room: Room, bug: int) -> Issue:
    found = room.ledger.issues.of_bug(bug)
    assert found is not None
    return found


def collected(room: Room) -> list[str]:
    """A day later: the kinds of work that are begun again."""
    room.ledger.work.add(NewWork("collect", "daily", "compiler"))
    work = room.ledger.work.claim(["collect"])
    assert work is not None
    working.do(work, room.desk)
    return [kind for kind, _, _ in room.queued()]


@pytest.mark.parametrize("status", [404, 410])
def test_an_issue_that_is_not_there_any_more_is_given_up(room: Room, status: int) -> None:
    bug, number = closing(room)
    for verb in ("GET", "PATCH", "POST"):
        room.world.proxy.refuse(verb, ISSUE, status)
    room.answers(number)
    issue = issue_of(room, bug)
    assert "it is not there any more" in human.read(issue.human).forbids_writing() and not issue.open
    assert [(one.kind, one.state) for one in room.out()] == [
        (OutKind.STATE, OutState.FAILED),
        (OutKind.NOTICE, OutState.HELD),
    ]
    assert not saying.status(room.ledger, bug, False) and collected(room) == []


@pytest.mark.parametrize(
    ("verbs", "path", "status"),
    [
        (("PATCH",), ISSUE, 403),  # the permission was taken
        (("PATCH",), ISSUE, 404),  # likewise: GitHub often says so
        (("GET", "PATCH"), REPOSITORY, 404),  # the repository cannot be seen
    ],
)
def test_an_issue_that_cannot_be_changed_now_is_not_given_up(
    room: Room, verbs: tuple[str, ...], path: str, status: int
) -> None:
    bug, number = closing(room)
    for verb in verbs:
        room.world.proxy.refuse(verb, path, status)
    room.answers(number)
    issue = issue_of(room, bug)
    assert issue.open and not human.read(issue.human).gone
    tried = 0
    while collected(room) == ["close"] and tried < 9:
        work = room.ledger.work.claim(["close"])
        assert work is not None and room.ledger.work.done(work, "the build cannot be made")
        tried += 1
    assert tried == 6, "not for ever"


def test_issues_that_are_switched_off_for_a_while_are_not_given_up(room: Room) -> None:
    bug, _ = closing(room)
    assert room.world.ask("", "PATCH", {"has_issues": False})["has_issues"] is False
    for verb in ("GET", "PATCH"):
        room.world.proxy.refuse(verb, ISSUE, 410, "Issues are disabled for this repo")
    sender = sender_of(room.ledger, room.desk.github, Pace(time.monotonic))
    while sender.step() is not None:
        pass
    assert [one.state for one in room.out()] == [OutState.FAILED]
    issue = issue_of(room, bug)
    assert issue.open and not human.read(issue.human).gone and collected(room) == ["close"]


def test_an_issue_that_is_there_again_is_given_up_no_longer(room: Room) -> None:
    bug, number = closing(room)
    for verb in ("GET", "PATCH"):
        room.world.proxy.refuse(verb, ISSUE, 410)
    room.answers(number)
    assert human.read(issue_of(room, bug).human).gone
    room.acts("labeled", number, label="bug")
    assert human.read(issue_of(room, bug).human).gone, "it cannot be seen yet"
    room.world.proxy.refused.clear()
    room.acts("labeled", number, label="good first issue")
    issue = issue_of(room, bug)
    assert issue.open and not human.read(issue.human).forbids_writing()
    room.acts("deleted", number)
    assert human.read(issue_of(room, bug).human).gone == "deleted"


def test_a_label_that_is_taken_off_again_lets_the_bug_be_reopened(room: Room) -> None:
    bug = room.bug(State.CLOSED)
    number = room.issue(bug)
    room.world.ask(f"/issues/{number}", "PATCH", {"state": "closed"})
    room.ledger.issues.update(bug, open=False, fixed_by=FIX)
    room.ledger.store.advance(bug, State.CLOSED, State.REGRESSED)
    room.ledger.outbox.add(saying.state(f"reopen:bug:{bug}:{'e' * 40}", issue_of(room, bug), True, "", True))
    room.acts("labeled", number, label="wontfix")
    assert [one.state for one in room.out()] == [OutState.WITHDRAWN] and collected(room) == []
    room.acts("unlabeled", number, label="wontfix")
    assert collected(room) == ["reopen"]
