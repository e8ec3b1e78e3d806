"""With a plain token the bot's account is a person's, too: what that person does is respected like anybody's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.github.auth import Access
from bot.github.markers import marker
from bot.github.pace import Pace
from bot.life import human, saying
from bot.sending import sender_of
from tests.bot.remarks.support import Room, room_of
from tests.github.faults import FAULTS
from tests.github.support import World
from triage.ledger.records import Issue, NewOutgoing, OutKind, OutState, Work
from triage.lifecycle import State

FIX = "f" * 40


@pytest.fixture
def owned(github_world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A room whose bot has the maintainer's token."""
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tmp_path / "revisions"))
    with room_of(github_world, tmp_path) as room:
        room.access = Access(github_world.settings(with_token=True), Pace(lambda: 0.0))
        yield room


def issue_of(room: Room, bug: int) -> Issue:
    found = room.ledger.issues.of_bug(bug)
    assert found is not None
    return found


def closing(room: Room, held: bool = False) -> tuple[int, int]:
    """A fixed bug whose closing lies in the outbox; its number and the issue's."""
    bug = room.bug(State.FIXED)
    number = room.issue(bug)
    room.ledger.outbox.add(saying.state(f"close:bug:{bug}:{FIX}", issue_of(room, bug), False, FIX, held))
    return bug, number


def send(room: Room) -> None:
    """Everything goes out."""
    sender = sender_of(room.ledger, room.access.client, room.access.pace, settled=0)
    while sender.step() is not None:
        pass


def told(room: Room, action: str, number: int, later: int = 0, **more: Any) -> Work:
    """GitHub tells of an act of the account, `later` seconds after the issue's last change."""
    at = datetime.fromisoformat(room.world.ask(f"/issues/{number}")["updated_at"]) + timedelta(seconds=later)
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return room.acts(action, number, by=room.world.maintainer, updated_at=moment, **more)


def test_a_closing_of_the_bots_own_is_no_persons_however_often_it_is_told(owned: Room) -> None:
    bug, number = closing(owned)
    send(owned)
    work = told(owned, "closed", number, state_reason="completed")
    assert work.note == "the bot did it"
    owned.again(work)  # after a kill
    told(owned, "closed", number, state_reason="completed")  # under another id
    assert not human.read(issue_of(owned, bug).human).history and owned.state(bug) is State.CLOSED


def test_what_the_owner_does_after_the_bot_is_the_owners(owned: Room) -> None:
    bug, number = closing(owned)
    send(owned)
    told(owned, "closed", number, state_reason="completed")
    owned.world.ask(f"/issues/{number}", "PATCH", {"state": "open"}, by=owned.world.maintainer)
    told(owned, "reopened", number, 1)
    assert owned.state(bug) is State.REPORTED and issue_of(owned, bug).open
    assert human.read(issue_of(owned, bug).human).forbids_closing(FIX)
    owned.world.ask(f"/issues/{number}", "PATCH", {"state": "closed"}, by=owned.world.maintainer)
    told(owned, "closed", number, 2, state_reason="completed")  # the same act as the bot's, and not the bot's
    assert not issue_of(owned, bug).open and human.read(issue_of(owned, bug).human).closed == "completed"


@pytest.mark.parametrize("held", [False, True], ids=["nothing of the bot's", "a closing that waits"])
def test_the_owner_may_close_an_issue_that_the_bot_has_not(owned: Room, held: bool) -> None:
    bug, number = closing(owned, held=True) if held else (owned.bug(), 0)
    number = number or owned.issue(bug)
    owned.world.ask(f"/issues/{number}", "PATCH", {"state": "closed", "state_reason": "not_planned"})
    told(owned, "closed", number, state_reason="not_planned")
    assert owned.state(bug) is State.INVALID and not issue_of(owned, bug).open
    assert human.read(issue_of(owned, bug).human).forbids_reopening(FIX)


def test_another_reason_than_the_bots_is_the_owners(owned: Room) -> None:
    bug, number = closing(owned)
    send(owned)
    told(owned, "closed", number, state_reason="not_planned")
    assert human.read(issue_of(owned, bug).human).closed == "not_planned"


def test_a_closing_whose_answer_was_lost_is_the_bots(owned: Room) -> None:
    bug, number = closing(owned)
    owned.world.proxy.restart({})
    client = owned.access.client(owned.world.repository)
    assert client.login == owned.world.maintainer
    owned.world.proxy.restart({0: FAULTS["lost"]})
    sender = sender_of(owned.ledger, owned.access.client, owned.access.pace, settled=0)
    sender.step()
    [one] = owned.out()
    assert one.state is OutState.READY and one.attempts == 1
    assert told(owned, "closed", number, state_reason="completed").note == "the bot did it"
    assert owned.state(bug) is State.FIXED, "until it is known to have arrived"


def test_labels_that_the_owner_puts_on_decide_and_the_bots_own_do_not(owned: Room) -> None:
    bug = owned.bug(State.DRAFTED)
    payload = {"title": "Sub", "body": "So.", "labels": ["wontfix"]}
    owned.ledger.outbox.add(NewOutgoing(OutKind.ISSUE, "issue:f", owned.world.repository, payload, "bug", bug_id=bug))
    send(owned)
    number = issue_of(owned, bug).number
    by = owned.world.maintainer
    at = owned.world.ask(f"/issues/{number}")["created_at"]
    assert owned.acts("labeled", number, by=by, label="wontfix", updated_at=at).note == "the bot did it"
    owned.acts("labeled", number, by=by, label="invalid", updated_at=at)
    assert human.read(issue_of(owned, bug).human).labels == {"invalid": True}


def test_the_bot_does_not_obey_its_own_comments_and_obeys_a_person_who_quotes_one(owned: Room) -> None:
    bug = owned.bug()
    number, by = owned.issue(bug), owned.world.maintainer
    owned.says("@graphwarden help", number, by)
    [answer] = owned.out()
    text = f"@graphwarden mute\n\n{marker(answer.key)}"
    assert owned.says(text, number, by).note == "written by the bot"  # it is on its way
    send(owned)
    assert "mute" in owned.says(text, number, by).note  # with another comment's id
    assert owned.state(bug) is State.INVALID


def test_a_person_who_pastes_the_text_of_the_bots_issue_is_obeyed(owned: Room) -> None:
    bug = owned.bug(State.DRAFTED)
    payload = {"title": "Sub", "body": "So.", "labels": []}
    owned.ledger.outbox.add(NewOutgoing(OutKind.ISSUE, "issue:f", owned.world.repository, payload, "bug", bug_id=bug))
    send(owned)
    number = issue_of(owned, bug).number
    body = owned.world.ask(f"/issues/{number}")["body"]
    assert marker("issue:f") in body
    assert "mute" in owned.says(f"@graphwarden mute\n\n{body}", number, owned.world.maintainer).note
    assert owned.state(bug) is State.INVALID


def test_only_the_bots_own_account_writes_its_comments(owned: Room) -> None:
    bug = owned.bug()
    number = owned.issue(bug)
    owned.says("@graphwarden help", number, owned.world.maintainer)
    [answer] = owned.out()  # on its way, so that its number is not known
    note = owned.says(f"@graphwarden mute\n\n{marker(answer.key)}", number, "somebody").note
    assert note == "ignored: the permission of somebody is none"
