"""Which issue of a tracker is the bug, which merely looks like it, and which says that nobody wants to hear of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.github.markers import marker
from bot.github.shapes import IssueSeen
from bot.life import tracker
from tests.triage.bugs import bug

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BUG = bug("openvino", title="Sub of int8 returns 2 instead of -2")


def seen(number: int, title: str, reason: str = "", author: str = "ada", body: str = "") -> IssueSeen:
    return IssueSeen(number, number, title, body, not reason, reason, author, (), "", False, NOW, NOW)


def compared(*issues: IssueSeen) -> tracker.Known:
    return tracker.compared(BUG, "issue:f-1", "bot[bot]", {each.number: each for each in issues})


def test_an_open_issue_with_operator_and_detail_in_its_title_is_the_bug() -> None:
    found = compared(seen(5, "Sub with int8 returns wrong values"), seen(6, "Relu crashes"))
    assert found.same is not None and found.same.issue.number == 5 and not found.refused


@pytest.mark.parametrize(("reason", "refused"), [("not_planned", True), ("duplicate", True), ("completed", False)])
def test_a_closed_one_is_the_bug_only_if_people_refused_it(reason: str, refused: bool) -> None:
    found = compared(seen(5, "Sub with int8 returns wrong values", reason))
    assert found.refused is refused and (found.same is not None) is refused
    if not refused:
        assert [one.issue.number for one in found.alike] == [5]  # it may be back: a new issue links it


def test_the_same_operator_alone_is_not_the_bug() -> None:
    found = tracker.compared(bug("openvino"), "issue:f-1", "bot[bot]", {5: seen(5, "Sub returns wrong values")})
    assert found.same is None and [one.issue.number for one in found.alike] == [5]


def test_what_the_bot_has_filed_for_another_bug_is_another_bug() -> None:
    found = compared(seen(5, "Sub with int8 returns wrong values", author="bot[bot]"))
    assert found.same is None and found.own is None


@pytest.mark.parametrize("filed", [False, True], ids=["the owner's", "the bot's"])
def test_what_the_owner_of_a_plain_token_has_filed_by_hand_is_no_work_of_the_bots(filed: bool) -> None:
    body = marker("issue:f-2") if filed else "It is wrong."
    one = seen(5, "Sub with int8 returns wrong values", author="ann", body=body)
    found = tracker.compared(BUG, "issue:f-1", "ann", {5: one})
    assert (found.same is None) is filed


def test_the_bots_own_issue_is_known_by_its_mark_and_nobody_elses() -> None:
    mine = seen(5, "Anything", "completed", "bot[bot]", marker("issue:f-1"))
    forged = seen(6, "Anything", author="eve", body=marker("issue:f-1"))
    found = compared(mine, forged)
    assert found.own is not None and found.own.number == 5
