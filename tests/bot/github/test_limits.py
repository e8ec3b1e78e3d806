"""Texts are cut to what GitHub takes, at a place where the rest still reads well."""

from __future__ import annotations

import pytest

from bot.github.limits import NOTE, fit, length, short


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert fit("a\n" * 50, 104, end="tail") == "a\n" * 50 + "tail"


def test_the_end_is_kept_whole_and_a_note_says_that_something_is_missing() -> None:
    cut = fit("word word\n" * 100, 300, end="\n<!-- mark -->")
    assert length(cut) <= 300 and cut.endswith(NOTE + "\n<!-- mark -->")
    assert cut.startswith("word word\nword word") and "wor\n" not in cut


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_code_block_and_a_folded_part_that_the_cut_leaves_open_are_closed(fence: str) -> None:
    cut = fit(f"<details><summary>s</summary>\n\n{fence}text\n" + "output </details>\n" * 100, 400)
    assert length(cut) <= 400
    head = cut.removesuffix(NOTE)
    assert head.endswith(f"\n{fence}\n\n</details>")


def test_what_was_closed_before_the_cut_is_not_closed_again() -> None:
    cut = fit("<details>\n```\nx\n```\n</details>\n" + "word\n" * 200, 300)
    assert cut.count("</details>") == 1 and cut.count("```") == 2


@pytest.mark.parametrize("text", ["😀" * 1000, "x" * 1000, "é\n" * 1000, "a\ud83d" * 600])
def test_length_counts_as_the_strictest_reader_does_and_no_character_is_halved(text: str) -> None:
    cut = fit(text, 200)
    assert length(cut) <= 200
    assert set(cut.removesuffix(NOTE)) <= set(text)


def test_an_end_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="too few"):
        fit("x" * 100, 50, end="y" * 51)


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("one\n two", 20, "one two"), ("abcdef", 4, "abc…"), ("😀😀😀", 5, "😀😀…"), ("", 5, "")],
)
def test_a_title_becomes_one_line(text: str, most: int, expected: str) -> None:
    assert short(text, most) == expected
