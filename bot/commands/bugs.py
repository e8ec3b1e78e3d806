"""`graphwarden bugs`: the bugs in a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
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
    table = Table("id", "compiler", "state", "symptom", "place", "cases", "nodes", "what")
    for bug in found:
        place = bug.conversion_function or ", ".join(bug.operators[:3])
        what = bug.title or bug.note or bug.message
        cells = (str(bug.id), bug.target.id, str(bug.state), bug.symptom, place, str(bug.count), str(bug.nodes or ""))
        table.add_row(*(Text(cell) for cell in (*cells, " ".join(what.split())[:160])))
    out.print(table)
