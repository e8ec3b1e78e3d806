"""Bugs over time as an SVG picture (OPERA, figure 8): one panel a subject, one line a strategy. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.data import data_path
from triage.comparing import Score
from triage.subjects import Subject

WIDTH, HEIGHT, COLUMNS = 360, 240, 2
#: Told apart also by those who see few colours (Okabe and Ito's palette).
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999")


def svg(scores: Mapping[Subject, Sequence[Score]]) -> str:
    """The picture: found bugs against the share of the compiler's whole time, means over the seeds."""
    names = list(dict.fromkeys(score.strategy for each in scores.values() for score in each))
    colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
    panels = [
        {
            "title": subject.name,
            "bugs": len(subject.bugs),
            "seconds": sum(subject.seconds),
            "x": (at % COLUMNS) * WIDTH,
            "y": (at // COLUMNS) * HEIGHT,
            "lines": [(colours[score.strategy], _points(score, len(subject.bugs))) for score in each],
        }
        for at, (subject, each) in enumerate(scores.items())
    ]
    rows = -(-len(panels) // COLUMNS)
    loader = FileSystemLoader(data_path().parent / "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    return environment.get_template("curves.svg.j2").render(
        panels=panels, legend=colours, width=WIDTH * COLUMNS, height=rows * HEIGHT, plot=(WIDTH - 60, HEIGHT - 70)
    )


def _points(score: Score, bugs: int) -> str:
    last = len(score.curve) - 1
    wide, high = WIDTH - 60, HEIGHT - 70
    return " ".join(
        f"{40 + wide * at / last:.1f},{30 + high * (1 - found / bugs):.1f}" for at, found in enumerate(score.curve)
    )
