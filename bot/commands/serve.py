"""`graphwarden serve`: the bot."""

from __future__ import annotations

import threading

import structlog
import uvicorn

from bot import logs
from bot.commands import bot_arguments as arguments
from bot.settings import Settings
from bot.supervisor import Supervisor
from bot.web.app import make_app
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
    assert settings.webhook_secret  # told now rather than with the first delivery
    flags = ["--config", str(settings.source), *(["--plain-logs"] if plain_logs else [])]
    stop = threading.Event()
    supervisor = Supervisor({"post": ["post", *flags], "work": ["work", *flags]}, arguments.SUPERVISED)
    with open_store(settings.database, create=True) as store:
        watching = threading.Thread(target=supervisor.watch, args=(stop,), name="supervisor")
        watching.start()
        try:
            _serve(settings, Ledger(store))
        finally:
            stop.set()
            watching.join()


def _serve(settings: Settings, ledger: Ledger) -> None:
    """Until SIGINT or SIGTERM; requests that have come are answered before."""
    server = settings.server
    log.info("listening", host=server.host, port=server.port, path=server.path)
    uvicorn.run(
        make_app(settings, ledger),
        host=server.host,
        port=server.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        limit_concurrency=1000,
    )
