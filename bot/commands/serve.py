"""`graphwarden serve`: the bot."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import structlog

from bot import builds, logs
from bot.commands import bot_arguments as arguments
from bot.failures import Interrupted
from bot.github.auth import Access
from bot.settings import Settings
from bot.supervisor import Supervisor
from bot.web import listening, server
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
    try:
        _serve(config, plain_logs)
    except Interrupted:  # a service that ends when it is told to has not failed, while it begins or ends neither
        logs.ended()


def _serve(config: Path, plain_logs: bool) -> None:
    settings = arguments.load(config)
    sockets = _ready(settings)
    stop = threading.Event()
    supervisor = Supervisor(_commands(settings, plain_logs), arguments.SUPERVISED, patient=("gates", "work"))
    with open_store(settings.database, create=True) as store:
        watching = threading.Thread(target=supervisor.watch, args=(stop,), name="supervisor")
        try:
            watching.start()
            log.info(
                "listening",
                host=settings.server.host,
                port=sockets[0].getsockname()[1],
                path=settings.server.path,
            )
            # Until SIGINT or SIGTERM; requests that have come are answered before.
            server.serve(settings, Ledger(store), sockets)
        finally:
            stop.set()
            if watching.ident is not None:
                watching.join()


def _commands(settings: Settings, plain_logs: bool) -> dict[str, list[str]]:
    flags = ["--config", str(settings.source), *(["--plain-logs"] if plain_logs else [])]
    return {
        "post": ["post", *flags],
        "gates": ["work", "--only", "gate", *flags],
        "work": ["work", "--without", "gate", *flags],
    }


def _ready(settings: Settings) -> list[socket.socket]:
    """What deliveries arrive on. Raises Refusal for what keeps the bot from its work: told before anything is started.

    What is acknowledged GitHub does not send again, so nothing is acknowledged that could not be worked on.
    """
    _ = settings.webhook_secret
    Access(settings)
    for project in settings.projects.values():
        builds.compiler(project.compiler)
    return listening.listen(settings.server)
