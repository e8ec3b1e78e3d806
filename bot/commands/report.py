"""`graphwarden report`: the drafted report of one bug."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from bot import describe, issuefile
from bot.commands.arguments import Database, Known
from bot.console import err, print_json
from bot.failures import ExitCode, Refusal
from triage import related
from triage.known import Issue, Similar
from triage.projects import described
from triage.records import Bug
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
    db: Database = "hunt.db",
    form: Annotated[
        Format, typer.Option("--format", help="Markdown, or JSON with the reproducer beside it.")
    ] = Format.MD,
    known: Known = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Print the report of a bug as it could be filed."""
    issues = issuefile.read(known)
    with open_store(db, create=False) as store:
        found, text, others = store.bug(bug), store.draft(bug), store.bugs()
    if text is None:
        why = f" ({found.note.splitlines()[0]})" if found.note else ""
        raise Refusal(f"bug {bug} has no report: its state is {found.state}{why}", ExitCode.FAILED)
    _tell_left_out(found, issues)
    text = related.completed(found, text, issues, others)
    if as_json or form is Format.JSON:
        draft = {"title": text.title, "body": text.body, "script": text.script, "labels": list(text.labels)}
        alike = [_alike(one) for one in related.known_issues(found, issues)]
        print_json(describe.bug(found) | draft | {"similar_issues": alike})
    else:
        sys.stdout.write(f"# {text.title}\n\n{text.body}")


def _tell_left_out(bug: Bug, issues: Sequence[Issue]) -> None:
    """Say on stderr how many issues of the lists were not looked at, since they are another project's."""
    _, foreign = related.parted(bug, issues)
    if foreign:
        tracker = described(bug.backend).tracker
        err.print(
            f"--known: {len(foreign)} of {len(issues)} issues are not of {tracker} (such as {foreign[0].url}) and were "
            "left out",
            soft_wrap=True,
            markup=False,
        )


def _alike(found: Similar) -> dict[str, Any]:
    issue = found.issue
    return {"number": issue.number, "title": issue.title, "url": issue.url, "state": issue.state, "why": found.why}
