"""`graphwarden migrate`: operator instances out of libraries' tests, or out of any command's run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from bot.commands.arguments import Json
from bot.console import err, out, print_json
from bot.failures import ExitCode, Interrupted, Refusal
from fuzz import migrate as migrations
from fuzz.instance_store import Stored, Writer, thinned
from fuzz.migrate import MigrationFailed, Omitted, Request, UnknownSource
from fuzz.migrate._command import Recording

Items = Iterator[Stored | Omitted]
#: Reasons that are shown; --json has all of them.
_MOST_REASONS = 12


def migrate(
    output: Annotated[Path, typer.Option("--out", help="The file of instances to write; NAME.gz is compressed.")],
    source: Annotated[
        list[str], typer.Option("--source", help=f"One of {', '.join(migrations.names())}. Repeatable.")
    ] = [],  # noqa: B006
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="A command to record, e.g. pytest tests/.")
    ] = None,
    operator: Annotated[
        list[str], typer.Option("--operator", help="Only operators or tests that match, e.g. '*conv2d*'. Repeatable.")
    ] = [],  # noqa: B006
    most: Annotated[
        int, typer.Option("--most", min=0, help="At most so many instances of an operator, drawn; 0: all.")
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Processes at once; 0: one per core.")] = 0,
    seconds: Annotated[
        float, typer.Option("--timeout", min=1, help="The longest that one test of a library may take, in seconds.")
    ] = 120.0,
    as_json: Json = False,
) -> int:
    """Take operator instances from the tests of a library, or from a run of your own: docs/instances.md.

    With a command, its output is its own and its exit status is told at the end; this command fails only if nothing
    could be recorded.
    """
    _check(output)
    request = Request(jobs or Request().jobs, tuple(operator), seconds)
    # With --json stdout is ours alone.
    recording = Recording(command, request, sys.stderr.fileno() if as_json else None) if command else None
    items = _items(source, recording, request)
    document = _write(output, items, most)
    if recording is not None:
        document |= {"command_status": recording.status, "processes": recording.processes}
    if as_json:
        print_json(document)
    else:
        _print(document, output)
    if not document["instances"]:
        said = _nothing(recording) if recording else "no instance was found, for the reasons above"
        raise Refusal(f"{said}; {output} was not written", ExitCode.FAILED)
    return ExitCode.DONE


def _check(output: Path) -> None:
    """Better now than after minutes of work. Raises Refusal."""
    if not output.name.endswith((".jsonl", ".jsonl.gz")):
        raise Refusal(f"--out {output}: name a file of instances, NAME.jsonl or NAME.jsonl.gz")
    if output.is_dir():
        raise Refusal(f"--out {output}: is a folder; name a file in it")
    if not output.parent.is_dir():
        raise Refusal(f"--out {output}: there is no folder {output.parent}")


class _Nothing(Exception):
    """No instance was found: a file that is there stays as it is."""


def _items(source: list[str], recording: Recording | None, request: Request) -> Items:
    if bool(source) == (recording is not None):
        known = ", ".join(migrations.names())
        raise Refusal(f"give either --source (one of {known}) or a command behind --, e.g. -- pytest tests/")
    if recording is not None:
        return recording.migrate()
    try:
        loaded = [migrations.load(name) for name in source]
    except UnknownSource as error:
        raise Refusal(str(error)) from error
    return (item for each in loaded for item in each(request))


def _write(output: Path, items: Items, most: int) -> dict[str, Any]:
    reasons: Counter[str] = Counter()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    try:
        with Progress(*columns, console=err, transient=True) as bar, Writer(output) as writer:
            task = bar.add_task("migrating", total=None)
            found: list[Stored] = []
            for item in items:
                if isinstance(item, Omitted):
                    reasons[item.reason] += item.count
                elif most:
                    found.append(item)
                else:
                    writer.add(item)
                bar.update(task, description=f"migrating: {len(writer) + len(found)} instances")
            kept = thinned(found, most)
            for each in kept:
                writer.add(each)
            if len(found) > len(kept):
                reasons[f"equal, or more than {most} of one operator"] += len(found) - len(kept)
            if not len(writer):
                raise _Nothing
    except _Nothing:
        pass  # told by the caller
    except MigrationFailed as error:
        raise Refusal(str(error)) from error
    except Interrupted as end:
        raise Refusal(f"interrupted; nothing was written to {output}", ExitCode.INTERRUPTED) from end
    return {
        "instances": len(writer),
        "operators": len(writer.operators),
        "sources": dict(sorted(writer.sources.items())),
        "flags": dict(sorted(writer.flags.items())),
        "duplicates": writer.duplicates,
        "omitted": dict(reasons.most_common()),
    }


def _nothing(recording: Recording) -> str:
    if not recording.processes:
        return (
            f"nothing was recorded: no Python process of {recording.command[0]!r} called an operator of PyTorch "
            "(its Python must have PyTorch, and must not run with -I or -E, nor empty PYTHONPATH)"
        )
    return "no instance was recorded: every call was left out, for the reasons above"


def _print(document: dict[str, Any], output: Path) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in document["sources"].items())
    out.print(
        f"{document['instances']} instances of {document['operators']} operators in {output}"
        + (f" ({kinds})" if kinds else ""),
        markup=False,
    )
    for flag, count in document["flags"].items():
        out.print(f"{count} of them are {flag}", markup=False)
    if document.get("command_status") is not None:
        out.print(f"the command ended with exit status {document['command_status']}")
    if document["omitted"] or document["duplicates"]:
        out.print(_reasons(document))


def _reasons(document: dict[str, Any]) -> Table:
    table = Table(Column("left out", justify="right"), Column("because", ratio=1), expand=True)
    reasons = {"equal to another instance": document["duplicates"]} if document["duplicates"] else {}
    reasons |= document["omitted"]
    for reason, count in list(reasons.items())[:_MOST_REASONS]:
        table.add_row(str(count), reason)
    rest = list(reasons.values())[_MOST_REASONS:]
    if rest:
        table.add_row(str(sum(rest)), f"{len(rest)} other reasons (--json lists them)")
    return table
