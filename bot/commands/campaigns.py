"""`graphwarden campaigns`: how schedules and campaigns stand, and pausing, resuming, cancelling and starting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from bot.commands import bot_arguments, person
from bot.commands.arguments import Json
from bot.console import out, print_json
from bot.failures import Refusal
from triage import campaign_control as control
from triage.campaign_control import Line
from triage.scrub import plain
from triage.store import Store, open_store

_DEFAULT = "hunt.db"
OwnDatabase = Annotated[
    str | None, typer.Option("--db", metavar="FILE|URL", help="An SQLite file, or postgresql://…; hunt.db without.")
]
OwnConfig = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="The bot's configuration, whose database is meant."),
]
Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Schedules, or numbers of campaigns.")]
By = Annotated[str, typer.Option("--by", help="Who asks; the user's name without.")]

_Ask = Callable[[Store, str, str], Line]


def campaigns(context: typer.Context, db: OwnDatabase = None, config: OwnConfig = None, as_json: Json = False) -> None:
    """Schedules and campaigns: list them, pause, resume, cancel or start them, on the bot's database or a hunt's.

    A running `graphwarden hunt` and the bot's processes obey within seconds.
    """
    if context.invoked_subcommand is None:
        _list(context, db, config, as_json)


def listing(context: typer.Context, db: OwnDatabase = None, config: OwnConfig = None, as_json: Json = False) -> None:
    """List schedules, each with the campaign that it is at, then all other campaigns, the newest first."""
    _list(context, db, config, as_json)


#: What may be asked of campaigns, by the name of the command, and its help.
_ASKS: dict[str, tuple[_Ask, str]] = {
    "pause": (control.pause, "Stop it where it is. A schedule that is paused does not ring, either."),
    "resume": (control.resume, "Let it go on where it was paused."),
    "cancel": (control.cancel, "End it for good. Its bugs and drafts stay; a schedule rings again when it is due."),
    "start": (control.start, "Let a schedule ring now."),
}


def _command(ask: _Ask, told: str) -> Callable[..., None]:
    def command(
        context: typer.Context,
        names: Names,
        db: OwnDatabase = None,
        config: OwnConfig = None,
        by: By = "",
        as_json: Json = False,
    ) -> None:
        _ask(context, ask, names, db, config, by, as_json)

    command.__doc__ = told
    return command


def register(app: typer.Typer, telling: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Add `campaigns` and what belongs to it to the command line; `telling` wraps each command."""
    mine = typer.Typer(invoke_without_command=True, rich_markup_mode="rich")
    mine.callback()(telling(campaigns))
    mine.command("list")(telling(listing))
    for name, (ask, told) in _ASKS.items():
        mine.command(name)(telling(_command(ask, told)))
    app.add_typer(mine, name="campaigns")


def database(db: str | None, config: Path | None) -> str:
    """The database that is meant. Raises Refusal."""
    if db is not None and config is not None:
        raise Refusal("--db and --config both name a database: give one of them")
    return bot_arguments.load(config).database if config is not None else db or _DEFAULT


def _opened(context: typer.Context, db: str | None, config: Path | None) -> Store:
    """The database named behind the subcommand, else before it."""
    before = context.parent.params if context.parent and not (db or config) else {}
    return open_store(database(db or before.get("db"), config or before.get("config")), create=False)


def _json(context: typer.Context, as_json: bool) -> bool:
    return as_json or bool(context.parent and context.parent.params.get("as_json"))


def _ask(
    context: typer.Context,
    ask: _Ask,
    names: Sequence[str],
    db: str | None,
    config: Path | None,
    by: str,
    as_json: bool,
) -> None:
    with _opened(context, db, config) as store:
        lines = [ask(store, name, by or person.name()) for name in dict.fromkeys(names)]
    _tell(lines, _json(context, as_json))


def _list(context: typer.Context, db: str | None, config: Path | None, as_json: bool) -> None:
    with _opened(context, db, config) as store:
        lines = control.listed(store)
    _tell(lines, _json(context, as_json))


def _tell(lines: Sequence[Line], as_json: bool) -> None:
    documents = [_document(line) for line in lines]
    if as_json:
        print_json(documents)
        return
    sources = Column("sources", no_wrap=True, overflow="ellipsis", ratio=1)
    shown = Table("name", "stands", "campaign", "due (UTC)", "budget", sources, "by", expand=True)
    for each in documents:
        names = ", ".join(each["sources"])
        cells = (each["name"], each["standing"], each["campaign"], each["cron"], each["budget"], names, each["by"])
        shown.add_row(*(Text(plain(str(cell or ""))) for cell in cells))
    out.print(shown)


def _document(line: Line) -> dict[str, Any]:
    planned = line.schedule.planned if line.schedule else None
    campaign = line.campaign
    sources = planned.sources if planned else campaign.parameters.get("sources", ()) if campaign else ()
    return {
        "name": line.name,
        "standing": str(line.standing),
        "campaign": campaign.id if campaign else None,
        "project": planned.project if planned else None,
        "cron": planned.cron if planned else None,
        "budget": planned.budget if planned else None,
        "sources": list(sources),
        "targets": list(campaign.parameters.get("targets", ())) if campaign else [],
        "by": line.by,
        "at": line.at.isoformat() if line.at else None,
    }
