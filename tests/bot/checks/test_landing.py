"""What follows from a commit that landed, by the state of the bug and what its case did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.checks.landing import Landed, follow
from fuzz.case import FAILING, Status
from tests.triage import bugs
from triage.lifecycle import State
from triage.records import Bug
from triage.suite.running import Ran

LANDED = Landed("tiny", "c" * 40, "b" * 40)
CASE = "0" * 16
REPORTED = {State.DRAFTED, State.REPORTED, State.REGRESSED}
FIXED = {State.FIXED, State.CLOSED}


def bug(state: State, number: int = 3) -> Bug:
    return bugs.bug(id=number, state=state, reduced_case_id=CASE)


def ran(status: Status, symptom: str = "") -> Ran:
    return Ran("bug-3", CASE, "?", status, symptom)


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("symptom", ["wrong:values", "crash"])
def test_only_a_pass_may_close_and_only_the_same_failure_may_reopen(state: State, status: Status, symptom: str) -> None:
    works = follow(LANDED, [ran(status, symptom)], {CASE: [bug(state)]}, {}, [])
    expected = []
    if status is Status.OK and state in REPORTED:
        expected = ["close"]
    if status in FAILING and symptom == "wrong:values" and state in FIXED:
        expected = ["reopen"]
    assert [work.kind for work in works] == expected
    assert all(dict(work.payload) == {"bug": 3, "commit": "c" * 40, "before": "b" * 40} for work in works)


@pytest.mark.parametrize("state", list(State))
def test_a_failure_whose_signature_is_known_is_worked_on_only_where_it_is_news(state: State) -> None:
    works = follow(LANDED, [], {}, {}, [bug(state)])
    expected = {State.NEW: ["triage"], State.FIXED: ["reopen"], State.CLOSED: ["reopen"]}
    assert [work.kind for work in works] == expected.get(state, [])


def test_a_bug_that_is_back_in_two_ways_is_looked_at_once() -> None:
    back = bug(State.CLOSED)
    works = follow(
        LANDED, [ran(Status.WRONG, "wrong:values")], {CASE: [back]}, {CASE: [back]}, [back, bug(State.NEW, 4)]
    )
    assert [(work.kind, work.key) for work in works] == [("reopen", "bug:3"), ("triage", "bug:4")]


@pytest.mark.parametrize("state", list(State))
def test_a_fixed_bug_that_the_suite_did_not_come_to_is_run_by_itself(state: State) -> None:
    works = follow(LANDED, [Ran("other", "d" * 16, "P", Status.OK)], {CASE: [bug(state)]}, {}, [])
    expected = [("retest", "bug:3", {"bug": 3, "revision": "c" * 40})] if state in FIXED else []
    assert [(work.kind, work.key, dict(work.payload)) for work in works] == expected
    met = follow(LANDED, [], {CASE: [bug(state)]}, {}, [bug(state)])
    assert "retest" not in [work.kind for work in met], "what is met again is looked at anyhow"


def test_a_case_that_is_no_bugs_means_nothing() -> None:
    known = {"1" * 16: [bug(State.REPORTED)]}
    assert follow(LANDED, [ran(Status.WRONG, "wrong:values"), ran(Status.OK)], known, known, []) == []


@pytest.mark.parametrize(("symptom", "expected"), [("wrong:values", []), ("crash", ["close"])])
def test_a_bug_that_another_of_its_cases_still_shows_is_not_fixed(symptom: str, expected: list[str]) -> None:
    reported = bug(State.REPORTED)
    other = Ran("test_sub_bcast", "d" * 16, "W", Status.WRONG, symptom)
    cases = {CASE: [reported], other.id: [reported]}
    works = follow(LANDED, [other, ran(Status.OK)], {CASE: [reported]}, cases, [])
    assert [work.kind for work in works] == expected


def test_each_bug_that_was_reduced_to_a_case_is_looked_at() -> None:
    """An operator that breaks twice in two ways: both times the smallest model may be the same."""
    first, second = bug(State.CLOSED), replace(bug(State.REPORTED, 4), symptom="crash")
    known = {CASE: [first, second]}
    assert [(one.kind, one.key) for one in follow(LANDED, [ran(Status.OK)], known, known, [])] == [("close", "bug:4")]
    back = follow(LANDED, [ran(Status.WRONG, "wrong:values")], known, known, [])
    assert [(one.kind, one.key) for one in back] == [("reopen", "bug:3")]
    assert follow(LANDED, [ran(Status.EXCEPTION, "crash")], known, known, []) == []
