"""`graphwarden queue`: what the bot wants to say at GitHub, and what a moderator says to that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from bot import moderation
from bot.commands import bot_arguments as arguments
from bot.commands import person
from bot.commands.arguments import Json
from bot.console import err, out, print_json
from bot.failures import Refusal
from bot.settings import Settings
from triage.ledger import Ledger
from triage.ledger.outbox import NotHeld
from triage.ledger.records import Outgoing, OutKind, OutState
from triage.scrub import plain
from triage.store import open_store

#: What `list` shows without --all.
_UNSENT = (OutState.HELD, OutState.READY, OutState.SENDING)

OwnConfig = Annotated[Path | None, typer.Option("--config", "-c", metavar="FILE", help="The bot's configuration.")]
Everything = Annotated[bool, typer.Option("--all", help="Also what was sent, rejected or refused.")]
Ids = Annotated[list[int], typer.Argument(metavar="ID...", help="Numbers from `queue list`.")]
By = Annotated[str, typer.Option("--by", help="Who decides; the user's name without.")]


def queue(
    context: typer.Context,
    config: arguments.Config = arguments.DEFAULT,
    everything: Everything = False,
    as_json: Json = False,
) -> None:
    """What waits to be said at GitHub: list it, show one thing as it would be posted, approve or reject it."""
    if context.invoked_subcommand is None:
        _list(config, everything, as_json)


def listing(
    context: typer.Context, config: OwnConfig = None, everything: Everything = False, as_json: Json = False
) -> None:
    """List what waits: held for a moderator, ready, or being sent."""
    _list(_config(context, config), everything, as_json)


def show(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="ID", help="A number from `queue list`.")],
    config: OwnConfig = None,
    as_json: Json = False,
) -> None:
    """Print one thing exactly as it would be posted."""
    with _opened(_config(context, config)) as (_, ledger):
        one = ledger.outbox.get(number)
        place = moderation.places([one], ledger)[one.id]
    if as_json:
        print_json(_document(one, place) | {"payload": dict(one.payload), "posted": moderation.posted(one)})
        return
    err.print(f"{one.kind} for {place}, {one.state}" + (f": {plain(one.note)}" if one.note else ""), markup=False)
    out.print(plain(moderation.posted(one)), markup=False, highlight=False, soft_wrap=True)


def approve(context: typer.Context, numbers: Ids, config: OwnConfig = None, by: By = "") -> None:
    """Let things go, with whatever must go out before them in the same issue. A notice counts as read then."""
    with _opened(_config(context, config)) as (_, ledger):
        told: set[int] = set()  # what went along with another one is approved already
        for number in dict.fromkeys(numbers):
            if number not in told:
                with _decidable():
                    approved = moderation.approve(ledger, number, by or person.name())
                told |= {one.id for one in approved}
                places = moderation.places(approved, ledger)
                for one in approved:
                    what = "read" if one.kind is OutKind.NOTICE else "approved"
                    out.print(f"{one.id}: {one.kind} for {places[one.id]} is {what}", markup=False)


def reject(
    context: typer.Context,
    numbers: Ids,
    config: OwnConfig = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with it.")] = "",
    by: By = "",
) -> None:
    """Do not say these things, for good. A bug that a comment would call known is then filed as one of its own."""
    with _opened(_config(context, config)) as (settings, ledger):
        for number in dict.fromkeys(numbers):
            with _decidable():
                one = moderation.reject(ledger, settings.of_repository, number, by or person.name(), reason)
            place = moderation.places([one], ledger)[one.id]
            out.print(f"{one.id}: {one.kind} for {place} is rejected", markup=False)
            if moderation.says_known(one) and one.bug_id is not None and settings.of_repository(one.repository):
                out.print(f"bug {one.bug_id} is put forward as an issue of its own", markup=False)


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add `queue` and its commands to the command line; `telling` wraps each command."""
    mine = typer.Typer(invoke_without_command=True, rich_markup_mode="rich")
    mine.callback()(telling(queue))
    for name, command in (("list", listing), ("show", show), ("approve", approve), ("reject", reject)):
        mine.command(name)(telling(command))
    app.add_typer(mine, name="queue")


def _config(context: typer.Context, config: Path | None) -> Path:
    """The configuration named behind the subcommand, else before it."""
    before = context.parent.params.get("config") if context.parent else None
    return config or before or arguments.DEFAULT


@contextmanager
def _opened(config: Path) -> Iterator[tuple[Settings, Ledger]]:
    settings = arguments.load(config)
    with open_store(settings.database, create=False) as store:
        yield settings, Ledger(store)


@contextmanager
def _decidable() -> Iterator[None]:
    try:
        yield
    except NotHeld as error:
        raise Refusal(str(error)) from error


def _list(config: Path, everything: bool, as_json: bool) -> None:
    with _opened(config) as (_, ledger):
        found = ledger.outbox.listed(None if everything else _UNSENT, limit=1000)
        places = moderation.places(found, ledger)
        documents = [_document(one, places[one.id]) for one in found]
        stopped = ledger.switches.stopped()
    if as_json:
        print_json(documents)
        return
    if stopped:
        err.print(f"nothing is sent: {plain(stopped)} (`graphwarden stop --off`)", markup=False, soft_wrap=True)
    _print(documents)


def _print(documents: Sequence[dict[str, Any]]) -> None:
    shown = Table(
        Column("id", justify="right"),
        "state",
        "what",
        "where",
        "bug",
        Column("text", no_wrap=True, overflow="ellipsis", ratio=1),
        expand=True,
    )
    for each in documents:
        cells = (each["id"], each["state"], each["kind"], each["where"], each["bug"] or "", each["text"])
        shown.add_row(*(Text(plain(str(cell))) for cell in cells))
    out.print(shown)


def _document(one: Outgoing, place: str) -> dict[str, Any]:
    return {
        "id": one.id,
        "state": str(one.state),
        "kind": str(one.kind),
        "where": place,
        "bug": one.bug_id,
        "text": " ".join(moderation.headline(one).split())[:200],
        "note": one.note,
        "created": one.created.isoformat(),
    }
