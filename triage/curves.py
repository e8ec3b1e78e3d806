"""Bugs over time of each strategy as a picture (OPERA, figure 8): one panel a subject, one line a strategy. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage import chart
from triage.chart import COLOURS, Panel, Points
from triage.comparing import Score
from triage.subjects import Subject


def svg(scores: Mapping[Subject, Sequence[Score]]) -> str:
    """The picture: found bugs against the share of the compiler's whole time, means over the seeds."""
    names = list(dict.fromkeys(score.strategy for each in scores.values() for score in each))
    colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
    panels = [
        Panel(
            title=subject.name,
            top=str(len(subject.bugs)),
            below="compiler time",
            begin="0 s",
            end=f"{sum(subject.seconds):.1f} s",
            lines=[(colours[score.strategy], _points(score, len(subject.bugs))) for score in each],
        )
        for subject, each in scores.items()
    ]
    return chart.svg(panels, colours)


def _points(score: Score, bugs: int) -> Points:
    last = len(score.curve) - 1
    return [(at / last, found / bugs) for at, found in enumerate(score.curve)]
