"""Wrong results of which a harness says in words what is wrong."""

from __future__ import annotations

from typing import Any

from tests.triage.test_group import groups, reports
from triage.group import group

TIES = "select_last_index ignored: {} of {} indices differ, all at tied maxima"
WORDS = (("Pow", "amber"), ("Clip", "brown"), ("Cast", "coral"), ("Tile", "denim"), ("Erf", "ebony"))
NARROW = "int64 result goes through float32: off by up to {} above 2**{}, low bits lost"


def wrong(*said: tuple[str, str]) -> list[dict[str, Any]]:
    """Failures of operators, with what was said of each."""
    return [{"symptom": "MISMATCH", "operator": operator, "message": message} for operator, message in said]


def test_a_sentence_that_says_what_is_wrong_is_one_bug_whichever_operator_shows_it() -> None:
    said = (("ArgMax", TIES.format(3, 9)), ("ArgMin", TIES.format(5, 7)), ("resnet_block", TIES.format(1, 4)))
    assert groups(*wrong(*said, ("Conv", "max abs diff 3.0"))) == [{0, 1, 2}, {3}]


def test_the_only_sentence_of_a_batch_is_the_harnesss() -> None:
    said = "candidate deviates beyond acceptable bounds"
    assert len(groups(*wrong(*((name, said) for name in ("Resize", "TopK", "Gelu") for _ in range(2))))) == 3


def test_two_sentences_about_one_operator_are_two_bugs() -> None:
    said = (
        *(("Pow", NARROW.format(n, 24)) for n in (3, 5)),
        *(("Pow", f"negative base with integral exponent gives nothing: {n} inputs") for n in (2, 6)),
    )
    assert groups(*wrong(*said)) == [{0, 1}, {2, 3}]


def test_what_says_less_of_the_same_operator_goes_along_with_its_sentence() -> None:
    said = (("ArgMax", TIES.format(3, 9)), ("ArgMax", TIES.format(4, 8)), ("ArgMax", "max abs diff 3.0"))
    assert groups(*wrong(*said)) == [{0, 1, 2}]


def test_the_words_of_a_comparison_tell_no_bug() -> None:
    said = [(operator, f"max abs diff {n} exceeds tolerance 0.001") for n, operator in enumerate(("Pow", "Clip"))]
    assert groups(*wrong(*said)) == [{0}, {1}]


def test_the_words_that_a_harness_always_uses_tell_no_bug() -> None:
    said = [
        (operator, f"golden vector {operator.lower()}check{n} mismatched against ledger snapshot {word}")
        for n in (1, 2)
        for operator, word in WORDS
    ]
    assert groups(*wrong(*said)) == [{0, 5}, {1, 6}, {2, 7}, {3, 8}, {4, 9}]


def test_why_tells_what_is_said_to_be_wrong() -> None:
    rows = wrong(("ArgMax", TIES.format(3, 9)), ("ArgMin", TIES.format(5, 7)), ("Conv", "max abs diff 3.0"))
    found = group(reports([{**row, "id": str(at)} for at, row in enumerate(rows)]))
    why, _ = found.groups.values()
    assert why.startswith("same because what is said to be wrong is the same (ignored maxima select_last_index tied)")
