"""`graphwarden report`: the drafted report of one bug."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot import describe
from bot.commands.arguments import Database
from bot.console import print_json
from bot.failures import ExitCode, Refusal
from triage.store import open_store

#: SQLite's integers end here.
_LARGEST_ID = 2**63 - 1


class Format(StrEnum):
    """How a report is printed."""

    MD = "md"
    JSON = "json"


def report(
    bug: Annotated[
        int, typer.Argument(metavar="BUG", min=1, max=_LARGEST_ID, help="A bug's id, from `graphwarden bugs`.")
    ],
    db: Database = Path("hunt.db"),
    form: Annotated[
        Format, typer.Option("--format", help="Markdown, or JSON with the reproducer beside it.")
    ] = Format.MD,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Print the report of a bug as it could be filed."""
    with open_store(db, create=False) as store:
        found, text = store.bug(bug), store.draft(bug)
    if text is None:
        why = f" ({found.note.splitlines()[0]})" if found.note else ""
        raise Refusal(f"bug {bug} has no report: its state is {found.state}{why}", ExitCode.FAILED)
    if as_json or form is Format.JSON:
        draft = {"title": text.title, "body": text.body, "script": text.script, "labels": list(text.labels)}
        print_json(describe.bug(found) | draft)
    else:
        sys.stdout.write(f"# {text.title}\n\n{text.body}")
