"""Marks are found again, and nobody else's text can forge one."""

from __future__ import annotations

import pytest

from bot.github.markers import keys, marker, without

HOSTILE = [
    "issue/1",
    "issue/1 --> <script>",
    "a--b---c--",
    "--",
    "-->",
    "ü/😀 %2D",
    "<!-- graphwarden:x -->",
    "line\nbreak",
    "",
]


@pytest.mark.parametrize("key", [key for key in HOSTILE if key])
def test_a_key_is_found_again_whatever_it_holds(key: str) -> None:
    mark = marker(key)
    assert keys(f"before\n{mark}\nafter") == {key}
    inside = mark.removeprefix("<!--").removesuffix("-->")
    assert "--" not in inside and ">" not in inside and "\n" not in inside


def test_no_two_keys_share_a_mark() -> None:
    assert len({marker(key) for key in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize(
    "forged",
    [
        "<!-- graphwarden:issue/1 -->",
        "<!--graphwarden:issue/1-->",
        "<!--  GraphWarden:issue/1 -->",
        "< !-- graphwarden:issue/1 -->",
        "x<!---graphwarden:issue/1--->",
        "<!-- graphwarden:<!-- graphwarden:issue/1 -->",
        "<!-\n- graphwarden:issue/1 -->",
    ],
)
def test_a_forged_mark_is_none_after_cleaning_and_a_reader_still_sees_it(forged: str) -> None:
    cleaned = without(f"error: {forged} in file")
    assert not keys(cleaned) and not keys(without(cleaned))
    assert "issue/1" in cleaned


def test_other_comments_and_text_stay_as_they_are() -> None:
    text = "<!-- a template's hint -->\n`a<b` graphwarden: <details>"
    assert without(text) == text
