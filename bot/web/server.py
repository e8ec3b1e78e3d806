"""Runs the web application under uvicorn in this process, until it is told to end."""

from __future__ import annotations

import resource
import socket

import uvicorn

from bot.settings import Settings
from bot.web.app import make_app
from triage.ledger import Ledger

#: Connections at a time; more are answered with 503 at once.
CONNECTIONS = 4096
#: Seconds that requests under way have when the server ends, and that an idle connection is kept.
GRACE, IDLE = 10, 30


def configuration(settings: Settings, ledger: Ledger) -> uvicorn.Config:
    """How uvicorn runs the application. Raises BadSettings where there is no webhook secret."""
    return uvicorn.Config(
        make_app(settings, ledger),
        host=settings.server.host,
        port=settings.server.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # the application tells of every delivery itself
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=GRACE,
    )


def serve(settings: Settings, ledger: Ledger, sockets: list[socket.socket]) -> None:
    """Take deliveries on these sockets until SIGTERM or SIGINT. Raises BadSettings where there is no webhook secret."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + 256 if hard == resource.RLIM_INFINITY else min(CONNECTIONS + 256, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    uvicorn.Server(configuration(settings, ledger)).run(sockets)
