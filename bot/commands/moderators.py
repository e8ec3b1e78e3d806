"""`graphwarden moderators`: who may decide on the pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from bot import passphrase
from bot.commands.arguments import Database, Json
from bot.console import err, out, print_json
from bot.failures import Refusal
from triage.ledger import Ledger
from triage.store import open_store

moderators = typer.Typer(
    no_args_is_help=True, help="Say who may sign in to the pages and decide there.", rich_markup_mode="rich"
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,38}")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, dots and dashes, e.g. a GitHub login.")]


def add(name: Name, db: Database = "hunt.db", as_json: Json = False) -> None:
    """Let somebody sign in. The secret is printed now and never again: only a hash of it is kept."""
    if not _NAME.fullmatch(name):
        raise Refusal(f"{name!r} is no name: write up to 39 letters, digits, dots and dashes, e.g. a GitHub login")
    secret = passphrase.new()
    with open_store(db, create=False) as store:
        Ledger(store).moderators.add(name, passphrase.kept(secret))
    if as_json:
        print_json({"name": name, "secret": secret})
        return
    err.print(f"{name} may sign in with this secret, which is told only now:", markup=False)
    out.print(secret, markup=False, highlight=False)


def remove(name: Name, db: Database = "hunt.db", as_json: Json = False) -> None:
    """Let somebody sign in no longer; where they are signed in, that ends at once."""
    with open_store(db, create=False) as store:
        Ledger(store).moderators.remove(name)
    if as_json:
        print_json({"name": name, "removed": True})
    else:
        out.print(f"{name} is no moderator any more", markup=False)


def listing(db: Database = "hunt.db", as_json: Json = False) -> None:
    """List who may sign in."""
    with open_store(db, create=False) as store:
        found = Ledger(store).moderators.listed()
    if as_json:
        print_json(
            [{"name": each.name, "added": each.added.isoformat(), "signed_in": each.signed_in} for each in found]
        )
        return
    shown = Table("name", "since", Column("signed in", justify="right"))
    for each in found:
        shown.add_row(Text(each.name), f"{each.added:%Y-%m-%d}", str(each.signed_in))
    out.print(shown)


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add the commands to the command line."""
    for name, command in (("add", add), ("remove", remove), ("list", listing)):
        moderators.command(name)(telling(command))
    app.add_typer(moderators, name="moderators")
