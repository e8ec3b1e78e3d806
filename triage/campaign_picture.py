"""A campaign over its time as a picture: cases, bugs and what it reached of the compilers, by the minute. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from triage import chart
from triage.chart import COLOURS, Panel
from triage.lifecycle import State
from triage.records import Overview, Reachable

#: Bugs that turned out to be none, or another.
_ASIDE = (State.DUPLICATE, State.INVALID, State.STALE, State.SLIP, State.FLAKY)
#: What of the compilers was reached: in which panel, of which colour.
_PARTS = (
    (Reachable.OPERATOR, "Operators that were reached", COLOURS[3]),
    (Reachable.FUNCTION, "Conversion functions that were reached", COLOURS[7]),
)
#: Minutes without a result after which a campaign was not at work: it counts as one.
_PAUSE = 10


def svg(told: Overview) -> str:
    """The picture; "" for a campaign of which nothing is known by time, or nothing yet."""
    progress = [each for each in told.progress if each.minute >= 0]
    at = _working(sorted(each.minute for each in progress))
    if not at:
        return ""
    across = max(at.values()) + 1.0
    cases = _growing((at[each.minute], each.cases) for each in progress)
    first = Counter(each.minute for each in told.sightings if each.state not in _ASIDE)
    bugs = _growing((at[minute], number) for minute, number in sorted(first.items()) if minute in at)
    panels = [_panel("Cases", cases, across, COLOURS[5]), _panel("Bugs that stand", bugs, across, COLOURS[6])]
    for part, title, colour in _PARTS:
        if minutes := told.reached.get(part):
            growing = _growing((at[minute], number) for minute, number in sorted(minutes.items()) if minute in at)
            panels.append(_panel(title, growing, across, colour))
    return chart.svg(panels)


def _working(minutes: Sequence[int]) -> dict[int, int]:
    """Minute of the campaign -> minute of its work, long pauses left out."""
    found: dict[int, int] = {}
    now = 0
    for before, minute in zip([None, *minutes], minutes, strict=False):
        if before is not None:
            now += minute - before if minute - before <= _PAUSE else 1
        found[minute] = now
    return found


def _growing(parts: Iterable[tuple[int, int]]) -> list[tuple[float, float]]:
    """What comes in each minute as what there is at its end."""
    found: list[tuple[float, float]] = []
    sum_ = 0
    for minute, more in parts:
        sum_ += more
        found.append((minute + 1.0, float(sum_)))
    return found


def _panel(title: str, growing: Sequence[tuple[float, float]], across: float, colour: str) -> Panel:
    top = growing[-1][1] if growing else 0.0
    points = chart.steps(growing, across, top) if top else [(0.0, 0.0), (1.0, 0.0)]
    return Panel(title, f"{top:.0f}" if top else "", "minutes of hunting", f"{across:.0f}", [(colour, points)])
