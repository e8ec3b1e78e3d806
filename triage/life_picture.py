"""The life of a bug as a line (SVG): when it was found, reported, closed and reopened, and when it was open. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.data import data_path

FOUND, DECIDED, REPORTED, CLOSED, REOPENED = "found", "decided", "reported", "closed", "reopened"
OTHER = "other"
#: What has an end of the line, or changes its colour.
_MARKED = (FOUND, REPORTED, CLOSED, REOPENED)
WIDTH, _LEFT, _RIGHT, _ROW, _LINE = 720, 20, 20, 18, 28


@dataclass(frozen=True)
class Event:
    """Something that happened to a bug: when (UTC), of which kind, in words."""

    at: datetime
    kind: str
    text: str


def svg(events: Sequence[Event], now: datetime) -> str:
    """The line from the first event to `now`; "" without events. What is not marked on a line is left out."""
    marked = [event for event in sorted(events, key=lambda each: each.at) if event.kind in _MARKED]
    if not marked:
        return ""
    start, end = marked[0].at, max(now, marked[-1].at)
    across = max((end - start).total_seconds(), 1.0)

    def x(moment: datetime) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (moment - start).total_seconds() / across

    places = [x(event.at) for event in marked]
    parts = [
        {"x": one, "to": other, "closed": event.kind == CLOSED}
        for event, one, other in zip(marked, places, [*places[1:], x(end)], strict=True)
    ]
    marks = [
        {
            "x": place,
            "y": _LINE + _ROW * (row + 2),
            "text": f"{event.at:%Y-%m-%d} {event.text}",
            "left": place < WIDTH / 2,
        }
        for row, (event, place) in enumerate(zip(marked, places, strict=True))
    ]
    loader = FileSystemLoader(data_path().parent / "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    height = _LINE + _ROW * (len(marks) + 2)
    return environment.get_template("life.svg.j2").render(
        parts=parts, marks=marks, width=WIDTH, height=height, line=_LINE
    )
