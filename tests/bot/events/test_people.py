"""People comment, close, reopen, label."""

from __future__ import annotations

from typing import Any

import pytest

from bot.events import Event
from tests.bot.events.support import event, why_not, work


def comment(text: Any, user: Any = None, issue: Any = None, action: str = "created", **more: Any) -> Event:
    user = {"login": "ann", "type": "User", **(user or {})}
    told = {"comment": {"id": 99, "body": text, "user": user}, "sender": user}
    return event("issue_comment", action, {**told, "issue": {"number": 5, "state": "open", **(issue or {})}, **more})


def act(action: str, **more: Any) -> Event:
    issue = {"number": 5, "state_reason": "not_planned", "updated_at": "2026-01-02T03:04:05Z"}
    return event("issues", action, {"issue": issue, "sender": {"login": "ann", "type": "User"}, **more})


def test_a_comment_that_speaks_to_the_bot_is_a_command() -> None:
    found = work(comment("@graphwarden retest"))
    assert (found.kind, found.key) == ("command", "99")
    told = {"number": 5, "comment": 99, "author": "ann", "text": "@graphwarden retest", "pull": False, "open": True}
    assert found.payload == told


def test_a_comment_in_a_pull_request_or_a_closed_issue_says_where_it_stands() -> None:
    found = work(comment("@graphwarden retest", issue={"state": "closed", "pull_request": {"url": "x"}}))
    assert found.payload["pull"] is True and found.payload["open"] is False


def test_other_comments_are_left_alone() -> None:
    for text in ("hello", "", None, 5, "graphwarden retest", "@graphward retest"):
        assert why_not(comment(text)) == "nobody speaks to the bot"


@pytest.mark.parametrize("action", ["edited", "deleted", "unheard_of"])
def test_only_a_new_comment_counts(action: str) -> None:
    why_not(comment("@graphwarden mute", action=action))


def test_programs_are_not_answered() -> None:
    assert "program" in why_not(comment("@graphwarden mute", user={"type": "Bot"}))
    assert "program" in why_not(comment("@graphwarden mute", user={"login": "renovate[bot]"}))
    assert "program" in why_not(comment("@graphwarden mute", user={"login": None}))


@pytest.mark.parametrize("action", ["closed", "reopened", "labeled", "unlabeled", "transferred", "deleted"])
def test_what_a_person_does_with_an_issue_is_work(action: str) -> None:
    found = work(act(action, label={"name": "wontfix"}))
    assert (found.kind, found.key) == ("human", "guid-1")
    told = {"number": 5, "action": action, "actor": "ann", "reason": "not_planned", "at": "2026-01-02T03:04:05Z"}
    assert found.payload.items() >= told.items()
    assert found.payload["label"] == "wontfix"


def test_what_a_program_does_with_an_issue_says_no_more_than_where_and_whether_it_is_open() -> None:
    program = {"login": "stale[bot]", "type": "Bot"}
    for action in ("closed", "reopened", "transferred", "deleted"):
        found = work(act(action, sender=program))
        assert found.payload["program"] is True and found.payload["actor"] == "stale[bot]"
    for action in ("labeled", "unlabeled"):
        why_not(act(action, sender=program, label={"name": "wontfix"}))
    assert work(act("closed")).payload["program"] is False
    why_not(act("closed", sender=None))


def test_what_decides_nothing_is_ignored() -> None:
    for action in ("opened", "edited", "assigned", "pinned", "locked", "\ud800"):
        why_not(act(action))
