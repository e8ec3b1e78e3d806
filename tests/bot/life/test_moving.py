"""An issue that is moved to another repository is followed there, if that is one of the bot's own for the compiler."""

from __future__ import annotations

import re
import time

import pytest

from bot.github.pace import Pace
from bot.life import human, saying
from bot.sending import sender_of
from bot.settings import Project
from tests.bot.life.test_gone import ISSUE, closing, issue_of
from tests.bot.remarks.conftest import room
from tests.bot.remarks.support import Room
from tests.github import support
from tests.github.faults import Fault, How
from tests.github.support import World
from triage.ledger.records import NewOutgoing, OutKind, OutState, WorkState
from triage.lifecycle import State

__all__ = ["room"]


@pytest.fixture
def other(room: Room) -> World:
    """Another repository, with an issue that is not the bot's."""
    world = room.world
    made = support.make(world.emulator, world.proxy, world.fake, world.folder)
    made.ask("/issues", "POST", {"title": "Something else"})
    return made


def watch(room: Room, other: World, **changes: str) -> None:
    """The bot watches that repository, too."""
    first = room.settings.projects["compiler"]
    told = {"name": "second", "repository": other.repository, "compiler": first.compiler, **changes}
    projects = {**room.settings.projects, "second": Project(**told, filing=first.filing)}  # type: ignore[arg-type]
    room.settings = room.settings.model_copy(update={"projects": projects})


def moved(room: Room, number: int, other: World) -> int:
    """GitHub moves an issue; its new number. From now on it tells where it is to whoever asks for it."""
    there: int = other.ask("/issues", "POST", {"title": "Sub is wrong"})["number"]
    address = f"{room.world.url}/repos/{other.repository}/issues/{there}"
    place = re.compile(f"/repos/{room.world.repository}/issues/{number}(/comments)?")
    for verb in ("GET", "PATCH", "POST"):
        fault = Fault(How.ANSWER, 301, "Moved Permanently", {"Location": address}, {"url": address})
        room.world.proxy.refused.append((verb, place, fault))
    return there


def send(room: Room) -> None:
    sender = sender_of(room.ledger, room.desk.github, Pace(time.monotonic), settled=0, settings=room.settings)
    while sender.step() is not None:
        pass


def transferred(room: Room, number: int, to: World, there: int, by: str = "maintainer") -> str:
    """The delivery of it; the note of the work that follows."""
    address = f"https://github.com/{to.repository}/issues/{there}"
    sender = {"login": by, "type": "Bot" if by.endswith("[bot]") else "User"}
    told = {"issue": {"number": number}, "sender": sender, "changes": {"new_issue": {"html_url": address}}}
    work = room.arrives("issues", "transferred", told)
    assert work.state is WorkState.DONE
    return work.note


def notices(room: Room) -> list[str]:
    """What whoever moderates is told."""
    held = room.ledger.outbox.listed([OutState.HELD])
    return [str(one.payload["body"]) for one in held if one.kind is OutKind.NOTICE]


@pytest.mark.parametrize("by", ["maintainer", "mover[bot]"])
def test_what_is_told_of_a_moved_issue_follows_it_to_a_repository_that_is_watched(
    room: Room, other: World, by: str
) -> None:
    watch(room, other)
    bug, number = closing(room)
    there = moved(room, number, other)
    assert transferred(room, number, other, there, by).endswith(f"{other.repository}#{there}, where it is followed")
    issue = issue_of(room, bug)
    assert (issue.repository, issue.number, issue.open) == (other.repository, there, True)
    said = human.read(issue.human)
    assert not said.gone and said.history[-1]["act"] == "transferred" and not notices(room)
    send(room)
    assert other.ask(f"/issues/{there}")["state"] == "closed" and room.state(bug) is State.CLOSED


def test_a_refusal_tells_of_a_moved_issue_and_what_was_to_be_said_is_said_there(room: Room, other: World) -> None:
    watch(room, other)
    bug, number = closing(room)
    there = moved(room, number, other)
    send(room)
    assert issue_of(room, bug).number == there and other.ask(f"/issues/{there}")["state"] == "closed"
    assert [one.state for one in room.out()] == [OutState.SENT] and room.state(bug) is State.CLOSED


def test_the_status_comment_is_edited_where_the_issue_is_now(room: Room, other: World) -> None:
    watch(room, other)
    bug = room.bug()
    number = room.issue(bug)
    for one in saying.status(room.ledger, bug, held=False):
        room.ledger.outbox.add(one)
    send(room)
    there = moved(room, number, other)
    mark = room.world.comments(number)[0]["body"]
    room.world.emulator.ask(other.owner, "POST", f"/repos/{other.repository}/issues/{there}/comments", {"body": mark})
    transferred(room, number, other, there)
    room.ledger.store.advance(bug, State.REPORTED, State.FIXED)
    for one in saying.status(room.ledger, bug, held=False):
        room.ledger.outbox.add(one)
    send(room)
    assert "`fixed`" in other.comments(there)[-1]["body"]


@pytest.mark.parametrize("told", [True, False])
def test_an_issue_that_was_moved_elsewhere_is_left_alone_and_a_moderator_told_once(
    room: Room, other: World, told: bool
) -> None:
    bug, number = closing(room)
    there = moved(room, number, other)
    for _ in range(2):
        if told:
            transferred(room, number, other, there)
        send(room)
    issue = issue_of(room, bug)
    assert (issue.repository, issue.number) == (room.world.repository, number)
    gone = human.read(issue.human).gone
    assert gone and f"{other.repository}/issues/{there}" in gone
    [notice] = notices(room)
    assert f"{room.world.repository}#{number}, the issue of bug {bug}, is left alone" in notice and gone in notice
    assert other.ask(f"/issues/{there}")["state"] == "open"


def test_it_is_not_followed_to_where_another_compiler_is_watched(room: Room, other: World) -> None:
    watch(room, other, compiler="openvino")
    bug, number = closing(room)
    there = moved(room, number, other)
    transferred(room, number, other, there)
    assert issue_of(room, bug).number == number and len(notices(room)) == 1


def test_it_is_not_followed_to_the_issue_of_another_bug(room: Room, other: World) -> None:
    watch(room, other)
    bug, number = closing(room)
    there = moved(room, number, other)
    rival = room.bug()
    room.ledger.issues.link(issue_of(room, bug).__class__(rival, other.repository, there, ours=True))
    transferred(room, number, other, there)
    assert issue_of(room, bug).number == number and human.read(issue_of(room, bug).human).gone


def test_a_bug_whose_issue_is_gone_goes_on_in_the_one_that_a_person_links(room: Room) -> None:
    bug = room.bug()
    number, there = room.issue(bug), room.issue()
    room.says(f"@graphwarden link bug {bug}", there)
    assert issue_of(room, bug).number == number, "it has an issue"
    room.acts("deleted", number)
    room.says(f"@graphwarden link bug {bug}", there)
    issue = issue_of(room, bug)
    assert (issue.number, issue.open, issue.linked_by) == (there, True, room.world.maintainer)
    assert not human.read(issue.human).forbids_writing() and saying.status(room.ledger, bug, held=False)


def test_an_answer_that_github_refuses_waits_for_a_moderator(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    for status in (403, 410, 422):
        room.world.proxy.refused.clear()
        room.world.proxy.refuse("POST", ISSUE, status, "Unable to create comment because issue is locked.")
        room.says("@graphwarden explain", number)
        room.answers(number)
    held = room.ledger.outbox.listed([OutState.HELD])
    assert len(held) == 3 and all("issue is locked" in one.note for one in held)
    room.ledger.outbox.approve(held[0].id, "ada")
    room.answers(number)
    room.world.proxy.refused.clear()
    again = room.ledger.outbox.listed([OutState.HELD])
    assert len(again) == 3, "it was refused once more, and is not lost"
    for one in again:
        room.ledger.outbox.approve(one.id, "ada")
    assert len(room.answers(number)) == 3
    assert not room.ledger.outbox.listed([OutState.HELD, OutState.READY])


def test_a_notice_counts_as_read_once_it_is_approved(room: Room) -> None:
    notice = NewOutgoing(OutKind.NOTICE, "notice:x", "a/b", {"body": "It is gone."}, "notice:x", held=True)
    number = room.ledger.outbox.add(notice)
    room.ledger.outbox.approve(number, "ada")
    one = room.ledger.outbox.get(number)
    assert one.state is OutState.SENT and one.note == "read by ada" and room.ledger.outbox.next() is None
