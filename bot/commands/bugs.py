"""`graphwarden bugs`: the bugs in a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Column, Table
from rich.text import Text

from bot import describe
from bot.commands.arguments import Database, Json
from bot.console import out, print_json
from triage.records import Bug
from triage.store import open_store


def bugs(db: Database = Path("hunt.db"), as_json: Json = False) -> None:
    """List the bugs of a database, with their state, symptom and report."""
    with open_store(db, create=False) as store:
        found = [bug for bug in store.bugs() if bug.count]
    if as_json:
        print_json([describe.bug(bug) for bug in found])
    else:
        print_table(found)


def print_table(found: Sequence[Bug]) -> None:
    """One line a bug."""
    out.print(table(found))


def table(found: Sequence[Bug]) -> Table:
    """The table of bugs; long cells are cut rather than wrapped."""
    shown = Table(
        *(Column(name, no_wrap=True, overflow="ellipsis") for name in ("id", "compiler", "state", "symptom", "place")),
        Column("cases", justify="right", no_wrap=True),
        Column("nodes", justify="right", no_wrap=True),
        Column("what", no_wrap=True, overflow="ellipsis", ratio=1),
        expand=True,
    )
    for bug in found:
        place = bug.conversion_function or ", ".join(bug.operators[:3])
        symptom = bug.symptom.replace("exception:", "").rpartition(".")[2] or bug.symptom
        what = " ".join((bug.title or bug.note or bug.message).split())
        cells = (
            str(bug.id),
            bug.target.id,
            str(bug.state),
            symptom,
            place[:40],
            str(bug.count),
            str(bug.nodes or ""),
            what,
        )
        shown.add_row(*(Text(cell) for cell in cells))
    return shown
