"""Many patterns as one."""

from __future__ import annotations

import re

import pytest

from triage.alternation import branches, factored

PATTERNS = [
    r"(?:^|/)onnx/\w+\.py$|(?:^|/)numpy/",
    r"(?:^|/)(?:utils?|helpers?)\.py$",
    r"\.(?:h|hpp)$",
    r"(?:ab)?cd",
    r"[|(]x|[^]|]y\|z",
]
TEXTS = [
    "onnx/a.py",
    "x/numpy/core.c",
    "xnumpy/",
    "utils.py",
    "my_utils.py",
    "a.hpp",
    "cd",
    "abcd",
    "(x",
    "|x",
    "qy|z",
    "]y|z",
]


def test_alternatives_are_those_outside_of_groups_classes_and_escapes() -> None:
    assert branches(r"a|(?:b|c)d|[|]|\|e|") == ["a", "(?:b|c)d", "[|]", r"\|e", ""]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_found_where_any_of_them_is(text: str) -> None:
    assert bool(re.search(factored(PATTERNS), text)) is any(re.search(pattern, text) for pattern in PATTERNS)


def test_what_begins_alike_is_tried_once() -> None:
    assert factored([r"(?:^|/)a|(?:^|/)b", "c"]) == "c|(?:^|/)(?:a|b)"
    assert factored(["(?:a)?b|(?:a)?c"]) == "(?:a)?b|(?:a)?c"  # that need not be there
