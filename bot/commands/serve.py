"""`graphwarden serve`: the bot."""

from __future__ import annotations

import threading

import structlog

from bot import logs
from bot.commands import bot_arguments as arguments
from bot.supervisor import Supervisor
from bot.web import server
from triage.ledger import Ledger
from triage.store import open_store

log = structlog.get_logger()


def serve(
    config: arguments.Config = arguments.DEFAULT,
    plain_logs: arguments.PlainLogs = False,
) -> None:
    """Run the bot: take GitHub's webhooks, and start `graphwarden post` and `graphwarden work` beside.

    One command and one SQLite file are all there is. Any of its processes may be killed at any moment: what was
    acknowledged is stored, and is done when the bot runs again.
    """
    logs.begin("web", plain_logs)
    settings = arguments.load(config)
    _ = settings.webhook_secret  # that there is none is told before anything is started
    flags = ["--config", str(settings.source), *(["--plain-logs"] if plain_logs else [])]
    stop = threading.Event()
    commands = {
        "post": ["post", *flags],
        "gates": ["work", "--only", "gate", *flags],
        "work": ["work", "--without", "gate", *flags],
    }
    supervisor = Supervisor(commands, arguments.SUPERVISED, patient=("gates", "work"))
    with open_store(settings.database, create=True) as store:
        watching = threading.Thread(target=supervisor.watch, args=(stop,), name="supervisor")
        watching.start()
        log.info("listening", host=settings.server.host, port=settings.server.port, path=settings.server.path)
        try:
            # Until SIGINT or SIGTERM; requests that have come are answered before.
            server.serve(settings, Ledger(store))
        finally:
            stop.set()
            watching.join()
