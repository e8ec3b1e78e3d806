"""A person who reopens an issue speaks of all that had been pushed by then, whether or not the bot had judged it."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.life import human
from tests.bot.checks.support import Shop
from tests.bot.life.test_refused import changes, opened, send
from tests.bot.life.test_reopened import acts, shop
from tests.github.support import World
from triage.ledger.records import NewWork

__all__ = ["shop"]


def pushed(shop: Shop, commit: str) -> None:
    """The bot has heard of a push; its suite waits for others."""
    shop.ledger.work.add(NewWork("suite", f"tiny:{commit}", "tiny", {"commit": commit, "before": ""}))


@pytest.mark.parametrize("suite", [True, False, None], ids=["of its suite", "a project without", "before the first"])
def test_a_fix_that_had_landed_when_a_person_reopened_closes_nothing(
    shop: Shop, github_world: World, suite: bool | None
) -> None:
    bug, fix = opened(shop, github_world)
    shop.configure(suite=suite is not False)
    if suite:
        pushed(shop, fix)
    number = github_world.issues()[0]["number"]
    for hour, action in enumerate(("closed", "reopened")):  # before the bot has looked at anything
        github_world.ask(f"/issues/{number}", "PATCH", {"state": "closed" if action == "closed" else "open"})
        told = {"number": number, "action": action, "actor": "ada", "program": False, "label": "", "to": ""}
        shop.do("human", **told, reason="completed", at=f"2027-01-01T0{hour}:00:00Z")
    assert "no new fix since" in shop.do("close", bug=bug, commit=fix).note
    send(shop, github_world)
    assert github_world.issues()[0]["state"] == "open" and not changes(shop)
    shop.do("reopen", bug=bug, commit=shop.lands("sub swaps"))
    shop.do("close", bug=bug, commit=shop.lands())
    send(shop, github_world)
    assert github_world.issues()[0]["state"] == "closed", "what lands later is a new fix"


def test_what_the_bot_has_closed_and_a_person_reopened_stays_so_where_the_database_was_lost() -> None:
    said = human.found(True, "reopened", (), "b" * 40)
    assert said.reopened and said.pushed == "b" * 40 and said.forbids_closing("a" * 40, new=False)
    assert not human.found(True, "", (), "b" * 40).reopened
    assert human.read(said.document()) == said


def test_acts_after_that_are_remembered_with_what_had_landed(shop: Shop, github_world: World) -> None:
    bug, fix = opened(shop, github_world)
    shop.do("close", bug=bug, commit=fix)
    send(shop, github_world)
    later = shop.lands("neg raises")
    pushed(shop, later)
    acts(shop, github_world, "reopened", 1)
    issue = shop.ledger.issues.of_bug(bug)
    assert issue is not None
    said = human.read(issue.human)
    assert (said.refuted, said.judged, said.pushed) == (fix, fix, later)


def test_a_branch_that_cannot_be_looked_at_keeps_nobodys_word_from_being_remembered(
    shop: Shop, github_world: World
) -> None:
    bug, fix = opened(shop, github_world)
    shop.do("close", bug=bug, commit=fix)
    send(shop, github_world)
    shop.configure(suite=False)
    shop.repository.rename(shop.folder / "away")
    with capture_logs() as logs:
        told: dict[str, Any] = {
            "number": 1,
            "action": "reopened",
            "actor": "ada",
            "program": False,
            "label": "",
            "to": "",
        }
        shop.do("human", **told, reason="", at="2027-01-01T00:00:00Z")
    assert [each["project"] for each in logs if each["event"] == "newest_unknown"] == ["tiny"]
    issue = shop.ledger.issues.of_bug(bug)
    assert issue is not None and human.read(issue.human).reopened and human.read(issue.human).refuted == fix
