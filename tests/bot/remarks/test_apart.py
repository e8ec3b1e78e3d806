"""`not a duplicate` undoes `duplicate of`, and that is remembered."""

from __future__ import annotations

import pytest

from bot.life import human
from tests.bot.remarks.support import Room
from triage.ledger.records import Issue
from triage.lifecycle import State


def merged(room: Room) -> tuple[int, int, int, int]:
    """Two bugs with an issue each, the second of them called a duplicate of the first; its issue is closed."""
    kept, given = room.bug(), room.bug()
    first, second = room.issue(kept), room.issue(given)
    room.says(f"@graphwarden duplicate of #{first}", second)
    room.answers(second)
    assert room.world.ask(f"/issues/{second}")["state"] == "closed" and room.state(given) is State.DUPLICATE
    return kept, given, first, second


def issue_of(room: Room, bug: int) -> Issue:
    found = room.ledger.issues.of_bug(bug)
    assert found is not None
    return found


@pytest.mark.parametrize("words", ["not a duplicate", "this is not a duplicate", "not a dup of #1"])
def test_a_duplicate_that_is_none_is_judged_anew_and_its_issue_opened_again(room: Room, words: str) -> None:
    kept, given, _, second = merged(room)
    work = room.says(f"@graphwarden {words}", second)
    room.again(work)
    assert room.state(given) is State.NEW
    assert [room.ledger.store.bug(number).count for number in (kept, given)] == [1, 1]
    assert [(kind, key) for kind, key, _ in room.queued()] == [("triage", f"bug:{given}")]
    assert "one of its own again" in room.answers(second)[-1]
    assert room.world.ask(f"/issues/{second}")["state"] == "open" and issue_of(room, given).open
    said = human.read(issue_of(room, given).human)
    assert said.closed == "" and said.history[-1]["act"] == "reopened"


def test_it_is_remembered_which_issue_it_is_no_duplicate_of(room: Room) -> None:
    _, given, first, second = merged(room)
    facts, repository = room.ledger.facts, room.world.repository
    assert not facts.is_apart(given, repository, first)
    room.says("@graphwarden not a duplicate", second)
    assert facts.is_apart(given, repository.upper(), first) and not facts.is_apart(given, repository, second)


def test_a_closing_as_a_duplicate_that_has_not_gone_out_is_taken_back(room: Room) -> None:
    kept, given = room.bug(), room.bug()
    first, second = room.issue(kept), room.issue(given)
    room.says(f"@graphwarden duplicate of #{first}", second)
    room.says("@graphwarden not a duplicate", second)
    room.answers(second)
    assert room.world.ask(f"/issues/{second}")["state"] == "open" and room.state(given) is State.NEW


def test_a_bug_that_is_no_duplicate_is_left_as_it_is(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.says("@graphwarden not a duplicate", number)
    [answer] = room.answers(number)
    assert "is not put aside as a duplicate: it is reported" in answer and room.state(bug) is State.REPORTED


def test_it_may_be_called_a_duplicate_once_more(room: Room) -> None:
    kept, given, first, second = merged(room)
    room.says("@graphwarden not a duplicate", second)
    room.answers(second)
    room.says(f"@graphwarden duplicate of #{first}", second)
    room.answers(second)
    assert room.state(given) is State.DUPLICATE and room.ledger.store.bug(kept).count == 2
    assert room.world.ask(f"/issues/{second}")["state"] == "closed"
