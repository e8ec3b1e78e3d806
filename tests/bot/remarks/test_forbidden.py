"""What a person forbids is not said any more, however far on its way it was; and what is said by then is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.github.markers import marker
from bot.life import human, saying
from tests.bot.remarks.support import Room
from triage.ledger.records import Issue, NewOutgoing, Outgoing, OutKind, OutState
from triage.lifecycle import State

FIX = "f" * 40
Says = Callable[[Room, int], None]


def mute(room: Room, number: int) -> None:
    room.says("@graphwarden mute", number)


def no_bug(room: Room, number: int) -> None:
    room.says("@graphwarden not a bug: by design", number)


def not_planned(room: Room, number: int) -> None:
    _closes(room, number, "not_planned")


def duplicate(room: Room, number: int) -> None:
    _closes(room, number, "duplicate")


def reopened(room: Room, number: int) -> None:
    room.acts("reopened", number)


def wont_fix(room: Room, number: int) -> None:
    room.acts("labeled", number, label="wontfix")


def _closes(room: Room, number: int, reason: str) -> None:
    room.world.ask(f"/issues/{number}", "PATCH", {"state": "closed", "state_reason": reason})
    room.acts("closed", number, state_reason=reason)


def issue_of(room: Room, bug: int) -> Issue:
    found = room.ledger.issues.of_bug(bug)
    assert found is not None
    return found


def closing(room: Room, bug: int, held: bool = False) -> None:
    """A closing is put into the outbox, and its status comment."""
    issue, place = issue_of(room, bug), f"bug:{bug}:{FIX}"
    room.ledger.outbox.add(saying.comment(f"fixed:{place}", issue, f"Fixed by {FIX}.", held))
    room.ledger.outbox.add(saying.state(f"close:{place}", issue, False, FIX, held))
    room.ledger.outbox.add(saying.status(room.ledger, bug, held)[0])


def report(room: Room, bug: int) -> NewOutgoing:
    """The issue of a drafted bug."""
    payload = {"title": "Sub is wrong", "body": "So."}
    return NewOutgoing(OutKind.ISSUE, f"issue:f-{bug}", room.world.repository, payload, f"bug:{bug}", bug_id=bug)


def begun_by(room: Room) -> Outgoing:
    """The first thing that is ready is begun, and its answer lost."""
    one = room.ledger.outbox.next()
    assert one is not None
    room.ledger.outbox.later(one, 0, "the answer was lost")
    return one


def reported(room: Room) -> tuple[int, int]:
    """A fixed bug and the number of its open issue."""
    bug = room.bug(State.FIXED)
    return bug, room.issue(bug)


def state_of(room: Room, number: int) -> str:
    seen = room.world.ask(f"/issues/{number}")
    return f"{seen['state']} {seen['state_reason'] or ''}".strip()


@pytest.mark.parametrize("held", [False, True], ids=["ready", "held"])
@pytest.mark.parametrize(
    ("says", "left"),
    [
        (mute, "open"),
        (no_bug, "closed not_planned"),  # as the person wants it
        (not_planned, "closed not_planned"),
        (duplicate, "closed completed"),  # GitHub's emulator knows no other reason
        (reopened, "open"),
    ],
)
def test_a_closing_that_waits_is_not_said_once_a_person_has_spoken(
    room: Room, says: Says, left: str, held: bool
) -> None:
    bug, number = reported(room)
    closing(room, bug, held)
    says(room, number)
    told = room.answers(number)
    assert not [each for each in told if each.startswith("Fixed by")], told
    assert state_of(room, number) == left
    assert {one.state for one in room.out() if one.key.startswith(("fixed:", "close:"))} == {OutState.WITHDRAWN}


@pytest.mark.parametrize("says", [mute, no_bug, not_planned])
def test_what_was_begun_is_looked_at_again_before_it_is_repeated(room: Room, says: Says) -> None:
    bug, number = reported(room)
    closing(room, bug)
    begun = begun_by(room)
    says(room, number)
    assert room.ledger.outbox.get(begun.id).state is OutState.READY, "nobody knows whether it has arrived"
    assert not [each for each in room.answers(number) if each.startswith("Fixed by")]
    assert room.ledger.outbox.get(begun.id).state is OutState.WITHDRAWN


def test_what_had_arrived_before_a_person_spoke_counts_as_said(room: Room) -> None:
    bug, number = reported(room)
    closing(room, bug)
    begun = begun_by(room)
    client = room.desk.github(room.world.repository)
    client.comment(number, f"Fixed by {FIX}.\n\n{marker(begun.key)}\n")
    mute(room, number)
    assert len([each for each in room.answers(number) if each.startswith("Fixed by")]) == 1
    assert room.ledger.outbox.get(begun.id).state is OutState.SENT
    assert state_of(room, number) == "open"


@pytest.mark.parametrize("says", [mute, wont_fix])
@pytest.mark.parametrize("begun", [False, True], ids=["ready", "begun"])
def test_an_issue_is_not_reopened_once_a_person_has_spoken(room: Room, says: Says, begun: bool) -> None:
    bug = room.bug(State.CLOSED)
    number = room.issue(bug)
    room.world.ask(f"/issues/{number}", "PATCH", {"state": "closed"})
    room.ledger.issues.update(bug, open=False, fixed_by=FIX)
    room.ledger.store.advance(bug, State.CLOSED, State.REGRESSED)
    issue, place = issue_of(room, bug), f"bug:{bug}:{'e' * 40}"
    room.ledger.outbox.add(saying.comment(f"regressed:{place}", issue, "This is back.", False))
    room.ledger.outbox.add(saying.state(f"reopen:{place}", issue, True, "", False))
    if begun:
        begun_by(room)
    says(room, number)
    assert "This is back." not in "".join(room.answers(number))
    assert state_of(room, number).startswith("closed")


@pytest.mark.parametrize("text", ["mute", "not a bug"])
@pytest.mark.parametrize("begun", [False, True], ids=["ready", "begun"])
def test_a_bug_that_a_person_puts_aside_is_not_filed(room: Room, text: str, begun: bool) -> None:
    bug = room.bug(State.DRAFTED)
    room.ledger.outbox.add(report(room, bug))
    if begun:
        begun_by(room)
    number = room.issue()
    room.says(f"@graphwarden {text} bug {bug}", number)
    room.answers(number)
    assert room.state(bug) is State.INVALID
    assert [each["number"] for each in room.world.issues()] == [number]


def test_a_report_that_had_arrived_before_a_person_put_the_bug_aside_is_linked(room: Room) -> None:
    bug = room.bug(State.DRAFTED)
    room.ledger.outbox.add(report(room, bug))
    begun = begun_by(room)
    client = room.desk.github(room.world.repository)
    filed = client.create_issue("Sub is wrong", f"So.\n\n{marker(begun.key)}\n", []).number
    number = room.issue()
    room.says(f"@graphwarden mute bug {bug}", number)
    room.answers(number)
    assert issue_of(room, bug).number == filed and len(room.world.issues()) == 2


def test_what_a_person_asked_for_is_not_done_once_a_person_has_taken_it_back(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.says("@graphwarden not a bug", number)
    room.acts("reopened", number)  # before the bot has closed it
    room.answers(number)
    assert state_of(room, number) == "open" and room.state(bug) is State.NEW


def test_the_status_is_told_again_when_the_bug_is_taken_up_again(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.ledger.outbox.add(saying.status(room.ledger, bug, False)[0])
    no_bug(room, number)
    room.acts("reopened", number)
    room.answers(number)
    room.ledger.outbox.add(saying.status(room.ledger, bug, False)[0])
    assert "`new`" in "".join(room.answers(number))


def test_a_closed_bug_is_muted_too(room: Room) -> None:
    bug = room.bug(State.CLOSED)
    number = room.issue(bug)
    mute(room, number)
    [answer] = room.answers(number)
    assert answer.startswith(f"Bug {bug} is muted.") and room.state(bug) is State.CLOSED
    assert "does not want to hear" in human.read(issue_of(room, bug).human).forbids_reopening(FIX)


def test_a_closing_that_a_person_asked_for_stands_when_the_bug_is_muted_next(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    no_bug(room, number)
    mute(room, number)  # before the bot has closed it
    room.answers(number)
    assert state_of(room, number) == "closed not_planned" and room.state(bug) is State.INVALID
