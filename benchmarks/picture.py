"""Draws the README's picture: the table of drafted bugs of a finished hunt, as SVG.

python -m benchmarks.picture hunt.db docs/pictures/hunt.svg
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from rich.console import Console

from bot.commands.bugs import table
from triage.lifecycle import WITH_DRAFT
from triage.store import open_store

MOST_ROWS = 22


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("db", type=Path)
    parser.add_argument("svg", type=Path)
    arguments = parser.parse_args()
    with open_store(arguments.db, create=False) as store:
        drafted = [bug for bug in store.bugs(states=WITH_DRAFT) if bug.count]
    console = Console(record=True, width=150, force_terminal=True, file=io.StringIO())
    console.print("[bold]$ graphwarden bugs[/]")
    console.print(table(drafted[:MOST_ROWS]))
    if len(drafted) > MOST_ROWS:
        console.print(f"and {len(drafted) - MOST_ROWS} more drafted reports")
    arguments.svg.parent.mkdir(parents=True, exist_ok=True)
    arguments.svg.write_text(console.export_svg(title="graphwarden"), encoding="utf-8")


if __name__ == "__main__":
    main()
