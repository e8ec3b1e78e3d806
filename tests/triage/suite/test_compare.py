"""What two outcomes of one case amount to."""

from __future__ import annotations

import itertools

import pytest

from tests.triage.suite.support import STATUS, Answer
from triage.suite.compare import Change, change, differs


def answer(letter: str) -> Answer:
    return Answer(letter, STATUS[letter])


#: base and head (U: an honest refusal, S: nothing to judge) -> the change
CHANGES = {
    "PP": Change.SAME,
    "UU": Change.SAME,
    "PW": Change.NEW_FAILURE,
    "PE": Change.NEW_FAILURE,
    "PC": Change.NEW_FAILURE,
    "PU": Change.NEW_FAILURE,
    "UW": Change.NEW_FAILURE,
    "UC": Change.NEW_FAILURE,
    "WP": Change.FIXED,
    "CP": Change.FIXED,
    "UP": Change.FIXED,
    "WW": Change.STILL_FAILING,
    "EW": Change.STILL_FAILING,
    "CU": Change.STILL_FAILING,
    "FP": Change.FLAKY,
    "PF": Change.FLAKY,
    "SP": Change.NOTHING,
    "PS": Change.NOTHING,
}


@pytest.mark.parametrize("pair", CHANGES)
def test_the_change_of_a_case(pair: str) -> None:
    assert change(answer(pair[0]), answer(pair[1])) is CHANGES[pair]


def test_nothing_differs_between_equal_outcomes() -> None:
    assert not any(differs(answer(letter), answer(letter)) for letter in STATUS)


def test_what_one_direction_breaks_the_other_fixes() -> None:
    broken = {f"{b}{h}" for b, h in itertools.product("PWEC", repeat=2) if change(answer(b), answer(h)) is Change.FIXED}
    assert broken == {"WP", "EP", "CP"}
    assert all(change(answer(pair[1]), answer(pair[0])) is Change.NEW_FAILURE for pair in broken)
