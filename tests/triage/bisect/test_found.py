"""How a report says where a bug came and went."""

from __future__ import annotations

from triage.bisect.found import Found, Kind, dumped, loaded, with_section

BODY = "### Summary\n\nIt fails.\n\n*Found, reduced and drafted by Graphwarden.*\n<!-- graphwarden:bug:1 -->\n"
BAD = {Kind.BAD: Found("2.1", "2.0", 0.995)}


def test_a_report_names_the_first_bad_revision_before_its_footer() -> None:
    body = with_section(BODY, BAD)
    line = "- First bad revision: `2.1`. The last that passes before it: `2.0` (confidence 0.9950)."
    assert f"### Bisection\n\n{line}\n\n*Found" in body and body.startswith("### Summary\n\nIt fails.\n\n")


def test_the_section_is_replaced_and_the_others_stay() -> None:
    similar = BODY.replace("*Found", "### Similar issues\n\n- #7\n\n*Found")
    both = {**BAD, Kind.GOOD: Found("3.0", "2.9", 1.0)}
    body = with_section(with_section(similar, BAD), both)
    assert body.count("### Bisection") == 1 and "First good revision: `3.0`" in body and "- #7" in body
    assert with_section(body, {}) == similar


def test_a_report_without_the_footer_stays_as_it_is() -> None:
    assert with_section("short", BAD) == "short"


def test_what_is_stored_is_read_back() -> None:
    assert loaded(dumped(BAD)) == BAD and loaded(None) == {}
