"""`graphwarden bench sources`: which bugs each source of cases finds, alone and together with others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated, Any

import typer
from rich.table import Table

from bot.commands.arguments import Json
from bot.console import err, out, print_json
from bot.failures import Refusal
from triage import pruning
from triage.contributions import Contributions, contributions
from triage.store import open_store
from triage.store_place import shown


def sources(
    context: typer.Context,
    db: Annotated[
        list[str], typer.Option("--db", metavar="FILE|URL", help="A database of a hunt. Repeatable: counted together.")
    ] = ["hunt.db"],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Show what each source contributes: bugs found, bugs that no other source found, and overlaps.

    Counted are signatures, and places: conversion functions, as OPERA counts bugs.
    """
    with ExitStack() as closing:
        stores = [closing.enter_context(open_store(path, create=False)) for path in db]
        found, gone = contributions(stores), sum(map(pruning.gone, stores))
    if not found:
        raise Refusal(f"{', '.join(map(shown, db))}: no campaign has shown a case to a compiler; run graphwarden hunt")
    if as_json or context.obj:
        print_json({"pruned": gone, "targets": [_document(each) for each in found]})
        return
    for each in found:
        out.print(_table(each))
    if gone:
        words = f"graphwarden: {gone} results were pruned, so tests that passed may be missing here"
        err.print(words, markup=False, soft_wrap=True)


def _document(found: Contributions) -> dict[str, Any]:
    by_bug, by_place = found.overlaps(), found.overlaps(places=True)
    return {
        "target": found.target,
        "bugs": sum(by_bug.values()),
        "places": sum(by_place.values()),
        "sources": {
            source: {
                "tests": len(share.tests),
                "failing": len(share.failing),
                "bugs": len(share.bugs),
                "bugs_alone": by_bug.get((source,), 0),
                "places": len(share.places),
                "places_alone": by_place.get((source,), 0),
            }
            for source, share in found.shares.items()
        },
        "overlaps": [
            {"sources": list(names), "bugs": by_bug.get(names, 0), "places": by_place.get(names, 0)}
            for names in sorted(by_bug.keys() | by_place.keys(), key=lambda names: (len(names), names))
        ],
    }


def _table(found: Contributions) -> Table:
    document = _document(found)
    table = Table(title=f"{found.target}: {document['bugs']} bugs in {document['places']} places", title_justify="left")
    columns: Sequence[str] = ("tests", "failing", "bugs", "bugs_alone", "places", "places_alone")
    table.add_column("source")
    for name in columns:
        table.add_column(name.replace("_", " "), justify="right")
    for source, numbers in document["sources"].items():
        table.add_row(source, *(str(numbers[name]) for name in columns))
    for overlap in document["overlaps"]:
        if len(names := overlap["sources"]) > 1:
            table.add_row(" and ".join(names), "", "", str(overlap["bugs"]), "", str(overlap["places"]), "")
    return table
