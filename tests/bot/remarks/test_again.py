"""What a person asked for by a command is not lost where GitHub refuses it."""

from __future__ import annotations

from bot import working
from tests.bot.remarks.support import Room
from triage.ledger.records import NewWork, OutState

ISSUE = r"/repos/[^/]+/[^/]+/issues/\d+"


def collect(room: Room) -> None:
    """A day later."""
    room.ledger.work.add(NewWork("collect", "daily", "compiler"))
    work = room.ledger.work.claim(["collect"])
    assert work is not None
    working.do(work, room.desk)


def states(room: Room) -> list[OutState]:
    return [one.state for one in room.out() if one.key.startswith("aside:")]


def test_what_a_person_asked_for_and_github_refused_is_put_forward_again(room: Room) -> None:
    number = room.issue(room.bug())
    room.world.proxy.refuse("PATCH", ISSUE)
    room.says("@graphwarden not a bug: by design", number)
    room.answers(number)
    assert room.world.ask(f"/issues/{number}")["state"] == "open" and states(room) == [OutState.FAILED]
    room.world.proxy.refused.clear()
    collect(room)
    room.answers(number)
    assert room.world.ask(f"/issues/{number}")["state_reason"] == "not_planned"
    collect(room)
    assert states(room) == [OutState.FAILED, OutState.SENT]


def test_what_a_person_has_taken_back_is_not_put_forward_again(room: Room) -> None:
    number = room.issue(room.bug())
    room.world.proxy.refuse("PATCH", ISSUE)
    room.says("@graphwarden not a bug", number)
    room.answers(number)
    room.world.proxy.refused.clear()
    room.acts("reopened", number)
    collect(room)
    room.answers(number)
    assert room.world.ask(f"/issues/{number}")["state"] == "open"
