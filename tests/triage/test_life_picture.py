"""The life of a bug as a line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from triage.life_picture import CLOSED, FOUND, OTHER, REOPENED, REPORTED, Event, svg

SVG = "{http://www.w3.org/2000/svg}"
DAY = datetime(2026, 1, 1, tzinfo=UTC)


def lines(picture: str) -> list[tuple[float, float, str]]:
    """From where to where and in which colour the bug's line goes."""
    found = ElementTree.fromstring(picture).iter(f"{SVG}line")
    return [
        (float(each.get("x1", 0)), float(each.get("x2", 0)), each.get("stroke", ""))
        for each in found
        if each.get("stroke-width") == "6"
    ]


def test_a_line_is_red_while_the_bug_is_open_and_green_while_it_is_closed() -> None:
    kinds = (FOUND, REPORTED, CLOSED, REOPENED, CLOSED)
    events = [Event(DAY + timedelta(days=10 * at), kind, kind) for at, kind in enumerate(kinds)]
    found = lines(svg(events[::-1], DAY + timedelta(days=50)))
    assert [colour for *_, colour in found] == ["#d55e00", "#d55e00", "#009e73", "#d55e00", "#009e73"]
    assert [round(to - one) for one, to, _ in found] == [136] * 5 and found[-1][1] == 700


def test_what_waits_is_no_mark_and_words_cannot_leave_the_picture() -> None:
    events = [Event(DAY, FOUND, "found in <script>alert(1)</script> & more"), Event(DAY, OTHER, "waits")]
    picture = svg(events, DAY)
    assert "<script>" not in picture and "waits" not in picture
    texts = [each.text for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert texts == ["2026-01-01 found in <script>alert(1)</script> & more"]


def test_nothing_known_draws_nothing() -> None:
    assert svg([], DAY) == svg([Event(DAY, OTHER, "waits")], DAY) == ""
