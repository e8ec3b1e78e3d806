"""`graphwarden stop`: the emergency stop. Nothing at all is said at GitHub while it is set."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands import bot_arguments as arguments
from bot.commands import person
from bot.commands.arguments import Json
from bot.console import out, print_json
from triage.ledger import Ledger
from triage.ledger.outbox import STOP
from triage.scrub import plain
from triage.store import open_store


def stop(
    config: arguments.Config = arguments.DEFAULT,
    reason: Annotated[str, typer.Option("--reason", help="Why; shown wherever somebody asks what goes on.")] = "",
    off: Annotated[bool, typer.Option("--off", help="Let the bot speak again.")] = False,
    as_json: Json = False,
) -> None:
    """Stop every kind of outgoing text, at once and until further notice. Work goes on, and what it says waits.

    Holds for running processes and over restarts. What is being sent at this moment may still arrive.
    """
    settings = arguments.load(config)
    told = "" if off else f"stopped: {plain(reason)}" if reason.strip() else "stopped"
    with open_store(settings.database, create=not off) as store:
        Ledger(store).switches.set(STOP, told, person.name())
    if as_json:
        print_json({"stopped": told})
        return
    spoken = "the bot may speak again" if off else f"{told}; `graphwarden stop --off` lets the bot speak again"
    out.print(spoken, markup=False)
