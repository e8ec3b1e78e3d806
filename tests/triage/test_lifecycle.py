"""The life of a bug: which moves there are and that the drawing shows them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from triage.lifecycle import MOVES, WITH_DRAFT, IllegalMove, State, check_move, diagram


def reachable(start: State) -> set[State]:
    seen, todo = {start}, [start]
    while todo:
        fresh = MOVES[todo.pop()] - seen
        seen |= fresh
        todo += fresh
    return seen


def test_every_state_has_its_moves_and_can_be_reached_from_new() -> None:
    assert set(MOVES) == set(State)
    assert reachable(State.NEW) == set(State) - {State.SLIP}  # a bug begins as a slip or never is one


def test_no_state_is_a_dead_end() -> None:
    assert all(MOVES[state] for state in State)


def test_no_state_moves_to_itself() -> None:
    assert not [state for state in State if state in MOVES[state]]


def test_the_whole_journey_of_a_bug_is_legal() -> None:
    journey = [
        State.NEW,
        State.CONFIRMED,
        State.REDUCED,
        State.LOCATED,
        State.JUDGED,
        State.DRAFTED,
        State.REPORTED,
        State.FIXED,
        State.CLOSED,
        State.REGRESSED,
        State.FIXED,
    ]
    for old, new in itertools.pairwise(journey):
        check_move(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (State.NEW, State.DRAFTED),  # nothing is drafted without confirmation
        (State.FLAKY, State.DRAFTED),  # a flaky bug is not filed as it stands
        (State.LOCATED, State.DRAFTED),  # nothing is drafted before the court has heard it
        (State.LOCATED, State.REPORTED),  # no report without a draft
        (State.CLOSED, State.DRAFTED),  # a closed issue is reopened, not filed again
        (State.DRAFTED, State.CLOSED),  # nobody can close what was never filed
        (State.INVALID, State.DRAFTED),  # what was put aside is judged from the start
    ],
)
def test_a_step_cannot_be_skipped(old: State, new: State) -> None:
    with pytest.raises(IllegalMove, match=f"from {old} to {new}"):
        check_move(old, new)


def test_every_state_after_the_draft_without_a_new_judgement_has_a_draft() -> None:
    assert {State.DRAFTED, State.REPORTED} <= WITH_DRAFT
    assert not WITH_DRAFT & {State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.FLAKY}


def test_the_diagram_draws_each_move_once() -> None:
    drawn = [line.strip() for line in diagram().splitlines()[1:]]
    moves = [f"{old} --> {new}" for old in State for new in MOVES[old]]
    assert sorted(drawn) == sorted(["[*] --> new", "[*] --> slip", *moves])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (State.REPORTED, State.CLOSED),
        (State.REGRESSED, State.CLOSED),
        (State.CLOSED, State.REPORTED),
        (State.FIXED, State.INVALID),
    ],
)
def test_what_a_person_does_with_an_issue_is_a_move(old: State, new: State) -> None:
    check_move(old, new)


def test_the_documentation_shows_the_diagram_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "life.md"
    assert f"```mermaid\n{diagram()}```" in page.read_text(encoding="utf-8")
