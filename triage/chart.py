"""Line charts as an SVG picture: panels side by side, each with lines over one axis. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from fuzz.data import data_path

#: Pixels of a panel, and panels beside each other.
WIDTH, HEIGHT, COLUMNS = 360, 240, 2
_LEFT, _TOP, _WIDE, _HIGH = 48, 30, WIDTH - 68, HEIGHT - 70
#: Told apart also by those who see few colours (Okabe and Ito's palette).
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999")

#: Points of a line: shares of the panel's width and height, from the lower left corner.
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """One chart: what stands above it, at the top of its upright axis, below its middle and at its right end."""

    title: str
    top: str
    below: str
    end: str
    lines: Sequence[tuple[str, Points]]
    begin: str = "0"


def svg(panels: Sequence[Panel], legend: Mapping[str, str] | None = None) -> str:
    """The panels with their lines (colour, points), and a legend (name -> colour) where there is one."""
    legend = legend or {}
    drawn = [
        {
            "panel": panel,
            "x": (at % COLUMNS) * WIDTH,
            "y": (at // COLUMNS) * HEIGHT,
            "lines": [(colour, _path(points)) for colour, points in panel.lines],
        }
        for at, panel in enumerate(panels)
    ]
    rows = -(-len(panels) // COLUMNS)
    return _template().render(
        panels=drawn,
        legend=legend,
        width=WIDTH * min(COLUMNS, max(1, len(panels))),
        height=rows * HEIGHT,
        plot=(_LEFT, _TOP, _WIDE, _HIGH),
    )


@cache
def _template() -> Template:
    loader = FileSystemLoader(data_path().parent / "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    return environment.get_template("curves.svg.j2")


def steps(values: Sequence[tuple[float, float]], across: float, top: float) -> Points:
    """Shares for something that grows in steps: `values` are (where, how much), in order, from 0 to `across`."""
    points, height = [(0.0, 0.0)], 0.0
    for where, value in values:
        points.append((where / across, height))
        height = value / top
        points.append((where / across, height))
    return [*points, (1.0, height)]


def _path(points: Points) -> str:
    return " ".join(f"{_LEFT + _WIDE * x:.1f},{_TOP + _HIGH * (1 - y):.1f}" for x, y in points)
