"""The literals without which a pattern is not tried."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triage.prefilter import filtered, literals, replaced
from triage.rules import rules

CORPUS = Path(__file__).parents[1] / "golden" / "signatures"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"^Exception from \S+:\d+", ("Exception from ",)),
        (r"a\.b\(c", ("a.b(c",)),
        (r"colou?r", ("colo",)),
        (r"x(?:ab)?yyz*", ("yy",)),
        (r"(?:abc|de)f", ("abc", "de")),
        (r"(?:abc|d*)ef", ("ef",)),
        (r"x(?:ab|cd(?:e|f))?y", ("x",)),
        (r"([Tt]ensor|[Bb]uffer) \d", ("ensor", "uffer")),
        (r"(?:\w:)?(?:[/\\]\w+)++", ("/", "\\")),
        (r"(?<=[=:])(?:nan|inf)\b|error (?:nan|inf)", ("nan", "inf", "error ")),
        (r"[abc]", ("a", "b", "c")),
        (r"a{}*b", ("a{",)),
        (r"abc|[x]de", ("abc", "de")),
        (r"(?<=Error )\w", ("Error ",)),
        (r"a{0,3}bc{2}", ("bc",)),
        (r"one\ntwo", ("one\ntwo",)),
    ],
)
def test_a_literal_is_what_every_match_holds(pattern: str, expected: tuple[str, ...]) -> None:
    assert literals(re.compile(pattern)) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d+",
        r"ab|\d",
        r"(?i)abc",
        r"(?i:abc)",
        r"(?!abc)",
        r"(?<!abc)",
        r"(?:abc)?",
        r"\x41",
        r"(a)\1|b?",
        r"[a-c]",
        r"[^a]",
        r"[\w]",
        r"[abcde]",
    ],
)
def test_what_may_be_missing_or_otherwise_spelt_is_no_literal(pattern: str) -> None:
    assert literals(re.compile(pattern)) == ()


def test_a_pattern_is_tried_where_one_of_its_literals_stands() -> None:
    pattern = filtered(re.compile(r"from \d+|at \w+"))
    assert pattern.sub("X", "at home, from 12, from there") == "X, X, from there"
    assert pattern.sub("X", "nothing of it") == "nothing of it"


def test_the_rules_replace_the_same_with_and_without_their_literals() -> None:
    logs = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(CORPUS.rglob("*.txt"))]
    assert len(logs) > 150
    patterns = [pattern for pattern, _ in (*rules().drops, *rules().masks, *rules().wordings)]
    assert sum(bool(pattern.literals) for pattern in patterns) > len(patterns) / 2
    for pattern in patterns:
        for log in logs:
            assert pattern.sub("", log) == pattern.pattern.sub("", log), pattern.pattern.pattern


def test_many_patterns_replace_the_same_one_by_one_and_together() -> None:
    for path in sorted(CORPUS.rglob("*.txt")):
        log = one_by_one = path.read_text(encoding="utf-8", errors="replace")
        for pattern, by in rules().masks:
            one_by_one = pattern.pattern.sub(by, one_by_one)
        assert replaced(rules().masks, log) == one_by_one
