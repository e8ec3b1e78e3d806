"""`graphwarden instances`: what a file of operator instances holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from bot.commands.arguments import Json
from bot.console import out, print_json
from bot.failures import Refusal
from fuzz import instance_store
from fuzz.instance_store import StoreError

#: Operators that are shown; --json has all of them.
_MOST_ROWS = 30


def instances(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of instances (.jsonl or .jsonl.gz).")],
    as_json: Json = False,
) -> None:
    """Count the instances of a file: by operator, by source, by library and by flag. Every id is checked."""
    try:
        found = instance_store.load(file)
    except StoreError as error:
        raise Refusal(str(error)) from error
    document: dict[str, Any] = {
        "instances": len(found),
        "operators": _counted(Counter(each.operator for each in found)),
        "sources": _counted(Counter(each.source.kind for each in found)),
        "libraries": _counted(Counter(each.library for each in found)),
        "flags": _counted(Counter(flag for each in found for flag in each.flags)),
    }
    if as_json:
        print_json(document)
    else:
        _print(document)


def _counted(counter: Counter[str]) -> dict[str, int]:
    """The most frequent first, then by name."""
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _print(document: dict[str, Any]) -> None:
    operators = document["operators"]
    out.print(f"{document['instances']} instances of {len(operators)} operators")
    for key in ("sources", "libraries", "flags"):
        told = ", ".join(f"{name or 'not told'} {count}" for name, count in document[key].items())
        if told:
            out.print(f"{key}: {told}", markup=False)
    table = Table(Column("instances", justify="right"), Column("operator", ratio=1))
    for name, count in list(operators.items())[:_MOST_ROWS]:
        table.add_row(str(count), name)
    if len(operators) > _MOST_ROWS:
        table.add_row(str(sum(list(operators.values())[_MOST_ROWS:])), f"{len(operators) - _MOST_ROWS} others (--json)")
    out.print(table)
