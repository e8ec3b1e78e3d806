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


def test_commits_stand_bare_so_that_they_are_linked() -> None:
    first, before, merge = "a" * 40, "b" * 40, "c" * 40
    body = with_section(BODY, {Kind.BAD: Found(first, before, 1.0, merge=merge)})
    assert f"First bad revision: {first}. The last that passes before it: {before} (" in body
    assert f"with the merge {merge}." in body


def test_a_report_without_the_footer_stays_as_it_is() -> None:
    assert with_section("short", BAD) == "short"


def test_what_is_stored_is_read_back() -> None:
    assert loaded(dumped(BAD)) == BAD and loaded(None) == {}


def test_no_revision_is_blamed_where_others_between_could_not_be_tested() -> None:
    found = {Kind.BAD: Found("3.0", "1.0", 0.66, ("2.0", "2.1"))}
    body = with_section(BODY, found)
    assert "It broke after `1.0`, which passes, and at the latest with `3.0`, which fails." in body
    assert "not tested: `2.0`, `2.1`." in body and "First bad" not in body
    assert with_section(body, found) == body
    assert loaded(dumped(found)) == found


def test_revisions_between_that_were_tested_are_not_told_to_be_untested() -> None:
    for kind in Kind:
        body = with_section(BODY, {kind: Found("3.0", "1.0", 0.66, ("2.0",), tested=True)})
        assert "not to be told apart: `2.0`." in body and "not tested" not in body


def test_of_many_revisions_between_some_are_named_and_all_are_counted() -> None:
    names = tuple(f"1.{at}" for at in range(20))
    assert Found("2.0", "0.9", 0.1, names, 80).among(str) == "1.0, 1.1, 1.2, 1.3, 1.4 and 95 more"
    assert Found("2.0", "0.9", 0.1).among(str) == ""


def test_what_was_stored_before_anything_was_known_of_those_between_is_read() -> None:
    assert loaded('{"bad": {"first": "2", "last_before": "1", "confidence": 0.9}}') == {Kind.BAD: Found("2", "1", 0.9)}
