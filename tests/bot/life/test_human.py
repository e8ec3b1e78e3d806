"""What people decide is remembered, and what it forbids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.life import human
from bot.life.human import Act, Done, Said

FIX, OTHER = "f" * 40, "e" * 40


def done(act: Act, at: int = 1, **more: str) -> Done:
    return Done(act, "ann", f"2026-01-01T00:00:{at:02}Z", **more)


def after(*acts: Done, fixed_by: str = "") -> Said:
    """What is known after these acts, each stored and read again."""
    said = Said()
    for act in acts:
        said = human.read(json.loads(json.dumps(human.after(said, act, fixed_by).document())))
    return said


def test_nothing_is_forbidden_where_nobody_said_anything() -> None:
    said = human.read({})
    assert said.forbids_closing("") == said.forbids_reopening("") == said.forbids_label("bug") == ""
    assert said.forbids_writing() == "" and said.document() == {}


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_an_issue_that_a_person_refused_is_never_reopened(reason: str) -> None:
    said = after(done(Act.CLOSED, reason=reason))
    assert said.forbids_reopening(FIX) == f"ann closed it as {reason.replace('_', ' ')}"
    assert human.refused(said.document())


@pytest.mark.parametrize("reason", ["completed", ""])
def test_an_issue_that_a_person_closed_as_done_is_reopened_only_when_a_fix_that_worked_is_undone(reason: str) -> None:
    said = after(done(Act.CLOSED, reason=reason))
    assert "no fix was seen" in said.forbids_reopening("")
    assert said.forbids_reopening(FIX) == ""
    assert not human.refused(said.document())


def test_a_reopening_is_told_from_other_acts() -> None:
    closed = after(done(Act.CLOSED, reason="completed"))
    assert closed.same_reopening(human.after(closed, done(Act.LABELED, 2, label="bug")))
    reopened = human.after(closed, done(Act.REOPENED, 3), FIX)
    assert not closed.same_reopening(reopened) and reopened.same_reopening(reopened)
    assert not reopened.same_reopening(human.after(reopened, done(Act.REOPENED, 4), OTHER))


def test_an_issue_that_a_person_reopened_is_closed_only_for_another_fix() -> None:
    said = after(done(Act.CLOSED, reason="completed"), done(Act.REOPENED, 2), fixed_by=FIX)
    assert said.closed == "" and said.reopened
    assert said.forbids_closing(FIX) == "ann reopened it, and there is no new fix since"
    assert said.forbids_closing("") == "ann reopened it, and what has mended it since cannot be told from the history"
    assert "whether another fix is a fix since then cannot be told" in said.forbids_closing("another fix", new=None)
    assert said.forbids_closing(OTHER) == ""
    assert said.forbids_closing(OTHER, closed_for=OTHER) != ""
    assert said.forbids_reopening("") == ""


def test_the_last_word_counts() -> None:
    said = after(done(Act.CLOSED, 1, reason="not_planned"), done(Act.REOPENED, 2), done(Act.CLOSED, 3))
    assert (said.closed, said.reopened, said.at) == ("completed", False, "2026-01-01T00:00:03Z")
    assert [each["act"] for each in said.history] == ["closed", "reopened", "closed"]


def test_an_act_that_came_late_is_remembered_and_decides_nothing() -> None:
    said = after(done(Act.REOPENED, 5))
    late = done(Act.CLOSED, 3, reason="not_planned")
    assert human.seems_late(said, late) and not human.seems_late(said, done(Act.CLOSED, 5))
    known = human.after(said, late, late=True)
    assert known.reopened and known.closed == "" and len(known.history) == 2


def test_the_same_act_told_again_changes_nothing() -> None:
    acts = [done(Act.CLOSED, 1, reason="completed"), done(Act.REOPENED, 2)]
    once, twice = after(*acts), after(*acts, *acts)
    assert once == twice


@pytest.mark.parametrize("act", [Act.TRANSFERRED, Act.DELETED])
def test_an_issue_that_is_gone_is_left_alone_for_ever(act: Act) -> None:
    said = after(done(act, to="https://github.com/other/place/issues/1"))
    assert str(act) in said.forbids_writing()
    assert said.forbids_closing(FIX) and said.forbids_reopening(FIX) and said.forbids_label("bug")


def test_a_label_that_a_person_took_off_is_not_put_on_again() -> None:
    said = after(done(Act.UNLABELED, 1, label="Needs-Triage"))
    assert said.forbids_label("needs-triage") == "a person took that label off"
    assert said.forbids_label("other") == ""
    back = after(done(Act.UNLABELED, 1, label="Needs-Triage"), done(Act.LABELED, 2, label="needs-triage"))
    assert back.forbids_label("needs-triage") == ""


@pytest.mark.parametrize("label", ["wontfix", "Invalid", "duplicate", "Not a bug"])
def test_a_label_that_says_no_forbids_reopening_until_it_is_taken_off(label: str) -> None:
    said = after(done(Act.LABELED, label=label))
    assert "labelled" in said.forbids_reopening(FIX)
    assert after(done(Act.LABELED, 1, label=label), done(Act.UNLABELED, 2, label=label)).forbids_reopening(FIX) == ""


def test_a_muted_bug_is_not_spoken_of() -> None:
    said = human.hushed(Said(), "ann", "2026-01-01T00:00:00Z")
    assert said.forbids_writing() == "ann does not want to hear of it"
    assert after(done(Act.REOPENED)).muted is False


def test_a_command_puts_aside_like_closing_does() -> None:
    said = human.decided(
        Said(), "ann", "2026-01-01T00:00:00Z", closed=human.DUPLICATE, reason="the same", duplicate_of="#3"
    )
    assert said.forbids_reopening(FIX) == "ann closed it as duplicate"
    assert human.refused(said.document())
    again = human.decided(
        said, "ann", "2026-01-01T00:00:09Z", closed=human.DUPLICATE, reason="the same", duplicate_of="#3"
    )
    assert len(again.history) == 1


def test_the_history_does_not_grow_for_ever() -> None:
    acts = [Done(Act.LABELED, "ann", f"2026-01-01T00:{number:02}:00Z", label="x") for number in range(59)]
    assert len(after(*acts).history) == 50


@pytest.mark.parametrize(
    "document",
    [
        {"closed": 5, "labels": [], "history": {}, "muted": "yes", "reopened": 1, "by": None},
        {"labels": {"x": "on"}, "history": [1, None, {"act": "closed"}]},
        {"unheard": {"of": 1}},
    ],
)
def test_what_cannot_be_read_was_never_said(document: dict[str, Any]) -> None:
    said = human.read(document)
    assert said.forbids_closing(FIX) == said.forbids_reopening("") == said.forbids_writing() == ""
