"""`graphwarden plot`: the pictures of the pages as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import onnx
import typer
from google.protobuf.message import DecodeError

from bot.commands.arguments import Database
from bot.failures import Refusal
from bot.outputs import check_file, write
from bot.pages import reading
from triage import campaign_picture, picture
from triage.store import Store, open_store

plot = typer.Typer(no_args_is_help=True, help="Draw what the pages show, as SVG.", rich_markup_mode="rich")

Out = Annotated[Path, typer.Option("-o", "--out", metavar="FILE.svg", help="Where the picture goes.")]
Number = Annotated[int, typer.Argument(metavar="N", help="Its number in the database.")]


def bug(number: Number, out: Out, db: Database = "hunt.db") -> None:
    """Draw the smallest model that shows a bug."""
    _draw(out, db, lambda store: reading.drawing(reading.smallest(store, store.bug(number))), _NO_MODEL)


def campaign(number: Number, out: Out, db: Database = "hunt.db") -> None:
    """Draw a hunt over its time: cases, bugs, and the operators and conversion functions that it reached."""

    def drawn(store: Store) -> str:
        return campaign_picture.svg(store.overview(reading.campaign(store, number).id))

    _draw(out, db, drawn, "nothing is known of it by time: it has no results yet, or is from before minutes were kept")


def life(number: Number, out: Out, db: Database = "hunt.db") -> None:
    """Draw the life of a bug: found, reported, closed, reopened."""
    _draw(out, db, lambda store: reading.life(store, number), "nothing is known of it but that it was found")


def model(
    path: Annotated[Path, typer.Argument(metavar="MODEL.onnx", help="An ONNX model.")],
    out: Out,
) -> None:
    """Draw a model."""
    _check(out)
    try:
        told = picture.svg(onnx.load(path, load_external_data=False))
    except DecodeError as error:
        raise Refusal(f"{path}: is no ONNX model") from error
    _write(out, told, f"{path}: {_NO_MODEL}")


_NO_MODEL = f"there is no model to draw: none, no graph without circles, or one of more than {picture.MOST_BOXES} boxes"


def _draw(out: Path, db: str, drawn: Callable[[Store], str], nothing: str) -> None:
    _check(out)
    with open_store(db, create=False) as store:
        _write(out, drawn(store), f"{store.place}: {nothing}")


def _check(out: Path) -> None:
    """Before anything is worked out. Raises Refusal."""
    if out.suffix != ".svg":
        raise Refusal(f"-o {out}: only SVG is drawn; name a file that ends in .svg")
    check_file("-o", out)


def _write(out: Path, told: str, nothing: str) -> None:
    if not told:
        raise Refusal(nothing)
    write("-o", out, told)


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add the commands to the command line."""
    for command in (bug, life, campaign, model):
        plot.command(command.__name__)(telling(command))
    app.add_typer(plot, name="plot")
