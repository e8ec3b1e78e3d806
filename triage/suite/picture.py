"""The table of a sweep as an SVG picture: cases down, revisions across, a coloured letter each. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.data import data_path
from triage.suite.entries import LETTERS, PASS
from triage.suite.sweep import Swept, flips_back, steps

#: Told apart also by those who see few colours (Okabe and Ito's palette), and by the letters.
COLOURS: Mapping[str, str] = {
    PASS: "#b7e1cd",
    "W": "#e69f00",
    "E": "#56b4e9",
    "C": "#d55e00",
    "T": "#cc79a7",
    "F": "#f0e442",
}
_PALE = "#eeeeee"
CELL_WIDTH, CELL_HEIGHT = 22, 16
#: Pixels of a letter of the names, and of the space above the columns for slanted revisions.
_LETTER_WIDTH, _TOP = 6.7, 92
_LONGEST_NAME = 90
#: Room for the legend under a narrow table.
_NARROWEST = 520


def svg(swept: Swept, title: str) -> str:
    """The picture. Rows with changes stand first, those that flip back and forth are marked."""
    rows = swept.rows()
    order = sorted(swept.names, key=lambda name: (not flips_back(rows[name]), not steps(rows[name])))
    left = 16 + _LETTER_WIDTH * max([len(_short(name)) for name in order], default=0)
    used = [letter for letter in LETTERS if any(letter in row for row in rows.values())]
    legend = [(letter, COLOURS.get(letter, _PALE), LETTERS[letter]) for letter in used]
    loader = FileSystemLoader(data_path().parent / "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    return environment.get_template("sweep.svg.j2").render(
        title=title,
        revisions=swept.revisions,
        rows=[_row(name, rows[name]) for name in order],
        legend=legend,
        left=round(left),
        top=_TOP,
        cell=(CELL_WIDTH, CELL_HEIGHT),
        width=max(_NARROWEST, round(left + CELL_WIDTH * len(swept.revisions) + 90)),
        height=_TOP + CELL_HEIGHT * len(order) + 24 + 16 * len(legend) + 24,
    )


def _row(name: str, row: str) -> dict[str, object]:
    changes = set(steps(row))
    cells = [(letter, COLOURS.get(letter, _PALE), at in changes) for at, letter in enumerate(row)]
    return {"name": _short(name), "cells": cells, "flips": flips_back(row)}


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
