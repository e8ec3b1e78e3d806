"""`graphwarden work`: the process of the bot that runs compilers."""

from __future__ import annotations

from bot import kinds, working
from bot.commands import bot_arguments as arguments
from fuzz.zygote import sweep_stale_homes


def work(config: arguments.Config = arguments.DEFAULT, plain_logs: arguments.PlainLogs = False) -> None:
    """Do the bot's heavy work: gates, suites, triage, bisection, hunts. `graphwarden serve` starts one of these itself.

    More of them may run beside it, on the same machine and database. May be killed at any moment.
    """
    with arguments.opened(config, "work", plain_logs) as (desk, stop):
        sweep_stale_homes()
        working.work_off(desk, kinds.of_weight(heavy=True), stop)
