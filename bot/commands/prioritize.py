"""`graphwarden prioritize`: in which order instances are worth running."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands.arguments import Json, Seed
from bot.console import out, print_json
from bot.failures import Refusal
from fuzz import prioritize as strategies
from fuzz.ranking import reading
from fuzz.ranking.item import Item


def prioritize(
    instances: Annotated[
        Path, typer.Argument(metavar="INSTANCES.jsonl", help="Operator instances, one a line (docs/instances.md).")
    ],
    strategy: Annotated[
        str, typer.Option("--strategy", metavar="NAME", help=f"One of {', '.join(strategies.names())}.")
    ] = "graphwarden",
    equipped: Annotated[
        Path | None,
        typer.Option("--equipped", metavar="FILE.jsonl", help="Instances that the compiler's own tests have."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Order operator instances: those that may find bugs early come first. Prints all ids.

    ONNX instances without an id go by [bold]line[/]. docs/prioritisation.md says what the strategies do.
    """
    order = choose(strategy)
    items = read(instances)
    ids = [items[at].id for at in order(items, read_equipped(equipped), seed)]
    if as_json:
        print_json(ids)
    else:
        out.print("\n".join(map(str, ids)), markup=False, soft_wrap=True)


def choose(name: str) -> strategies.Strategy:
    """The strategy of that name. Raises Refusal."""
    try:
        return strategies.load(name)
    except strategies.UnknownStrategy as error:
        raise Refusal(str(error)) from error


def read(path: Path) -> list[Item]:
    """The items of a file. Raises Refusal where it cannot be used or holds none."""
    items = _read(path, named=True)
    if not items:
        raise Refusal(f"{path}: holds no instances (one JSON object a line is expected)")
    return items


def read_equipped(path: Path | None) -> list[Item]:
    """What a compiler's own tests have: it may be nothing, or the same twice. Raises Refusal."""
    return _read(path, named=False) if path else []


def _read(path: Path, *, named: bool) -> list[Item]:
    if not path.exists():
        raise Refusal(f"{path}: no such file")
    if path.is_dir():
        raise Refusal(f"{path}: is a folder, not a file")
    try:
        return reading.items(path, named=named)
    except reading.UnreadableItem as error:
        raise Refusal(str(error)) from error
