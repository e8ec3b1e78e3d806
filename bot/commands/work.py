"""`graphwarden work`: the process of the bot that runs compilers."""

from __future__ import annotations

from typing import Annotated

import typer

from bot import kinds, working
from bot.commands import bot_arguments as arguments
from bot.failures import Refusal
from fuzz.zygote import sweep_stale_homes

_KIND = "KIND"


def work(
    config: arguments.Config = arguments.DEFAULT,
    only: Annotated[
        list[str], typer.Option("--only", metavar=_KIND, help="Do this kind of work alone (repeatable).")
    ] = [],  # noqa: B006  Typer copies it
    without: Annotated[
        list[str], typer.Option("--without", metavar=_KIND, help="Leave this kind of work to others (repeatable).")
    ] = [],  # noqa: B006
    plain_logs: arguments.PlainLogs = False,
) -> None:
    """Do the bot's heavy work: gates, suites, triage, bisection, hunts. `graphwarden serve` starts two of these itself.

    One of them does the gates alone, so that a pull request does not wait for a hunt. More may run beside, on the same
    machine and database. May be killed at any moment.
    """
    known = kinds.of_weight(heavy=True)
    for option, names in (("--only", only), ("--without", without)):
        if strange := next((name for name in names if name not in known), ""):
            raise Refusal(f"{option} {strange!r} must be one of: {', '.join(known)}")
    mine = [name for name in (only or known) if name not in without]
    with arguments.opened(config, "work", plain_logs) as (desk, stop):
        sweep_stale_homes()
        working.work_off(desk, mine, stop)
