"""The frequency of operators as an SVG picture (Isra, figures 4 to 6). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.data import data_path

#: Pixels: a bar's width, the gap after it, the longest bar, room above the bars and for names below them.
BAR, GAP, HIGH, ABOVE, BELOW = 8, 3, 200, 28, 140


def svg(frequency: Mapping[str, int], models: int) -> str:
    """One bar an operator, in the order given; heights are relative to the most frequent one."""
    most = max(frequency.values(), default=0) or 1
    bars = [
        {
            "name": name,
            "count": count,
            "x": 10 + at * (BAR + GAP),
            "y": round(ABOVE + HIGH * (1 - count / most), 1),
            "width": BAR,
            "height": round(HIGH * count / most, 1),
        }
        for at, (name, count) in enumerate(frequency.items())
    ]
    loader = FileSystemLoader(data_path().parent / "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    return environment.get_template("frequency.svg.j2").render(
        bars=bars,
        models=models,
        nodes=sum(frequency.values()),
        base=ABOVE + HIGH,
        width=20 + len(bars) * (BAR + GAP),
        height=ABOVE + HIGH + BELOW,
    )
