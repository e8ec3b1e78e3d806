"""`graphwarden group`: which raw failures of a file are one bug."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from bot.commands.arguments import Json
from bot.console import out, print_json
from bot.failures import Refusal
from fuzz.case import Frame
from triage.evidence import Report
from triage.group import Grouping
from triage.group import group as grouped
from triage.trace_listed import listed

_TEXTS = ("message", "symptom", "operator", "exception", "trace")

Failures = Annotated[
    Path,
    typer.Argument(
        metavar="FAILURES.jsonl",
        help="One JSON object a line: id, message, and where known symptom, operator, exception, frames, trace.",
    ),
]


def group(failures: Failures, as_json: Json = False) -> None:
    """Group raw failures by bug, and say why.

    Lines hold [bold]id[/] (text or number), [bold]message[/] and, where known, symptom, operator, exception, frames
    (a list of file, line, function or of texts) and trace (raw text); other keys are ignored.
    """
    found = grouped(list(read(failures)), jobs=len(os.sched_getaffinity(0)))
    if as_json:
        print_json({"assignment": dict(found.assignment), "groups": dict(found.groups)})
    else:
        out.print(table(found))


def table(found: Grouping) -> Table:
    """One line a group, the largest first."""
    sizes: dict[str, int] = dict.fromkeys(found.groups, 0)
    for name in found.assignment.values():
        sizes[name] += 1
    shown = Table(
        Column("group", no_wrap=True), Column("failures", justify="right"), Column("why", ratio=1), expand=True
    )
    for name, why in found.groups.items():
        shown.add_row(name, str(sizes[name]), Text(why))
    return shown


def read(path: Path) -> Iterator[Report]:
    """The failures in a file. Raises Refusal that names the line for whatever is wrong with it."""
    if not path.exists():
        raise Refusal(f"{path}: no such file")
    if path.is_dir():
        raise Refusal(f"{path}: is a folder, not a file")
    lines: dict[str, int] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            report = _report(f"{path}:{number}", line)
            if report.id in lines:
                raise Refusal(f"{path}:{number}: id {report.id} is that of line {lines[report.id]} already")
            lines[report.id] = number
            yield report
    if not lines:
        raise Refusal(f"{path}: holds no failures (one JSON object a line is expected)")


def _report(where: str, line: bytes) -> Report:
    try:
        document = json.loads(line)
    except UnicodeDecodeError as error:
        raise Refusal(f"{where}: is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise Refusal(f"{where}: is not JSON ({error.msg} at column {error.colno})") from error
    except RecursionError as error:
        raise Refusal(f"{where}: is nested too deeply") from error
    except ValueError as error:
        raise Refusal(f"{where}: is not JSON ({error})") from error
    if not isinstance(document, dict):
        raise Refusal(f"{where}: is not a JSON object")
    texts = {key: _text(where, document, key) for key in _TEXTS}
    return Report(_id(where, document), frames=_frames(where, document.get("frames")), **texts)


def _id(where: str, document: Mapping[str, Any]) -> str:
    if "id" not in document:
        raise Refusal(f"{where}: has no id")
    name = document["id"]
    if isinstance(name, bool) or not isinstance(name, str | int | float):
        raise Refusal(f"{where}: the id is neither text nor a number")
    return name if isinstance(name, str) else json.dumps(name)


def _text(where: str, document: Mapping[str, Any], key: str) -> str:
    text = document.get(key)
    if text is None:
        if key == "message" and not document.keys() & {"message", "trace", "frames"}:
            raise Refusal(f'{where}: has no message ("" where there is none), trace or frames')
        return ""
    if not isinstance(text, str):
        raise Refusal(f"{where}: {key} is not text")
    return text


def _frames(where: str, found: object) -> tuple[Frame, ...]:
    try:
        return listed(found)
    except ValueError as error:
        raise Refusal(f"{where}: {error}") from error
