"""`graphwarden pages`: the bugs and hunts of a database, to look at and moderate in a browser."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from bot import sweepfile
from bot.commands import bot_arguments as arguments
from bot.commands.arguments import Database
from bot.console import err
from bot.failures import Refusal
from bot.pages.app import make_app
from triage.store import open_store
from triage.store_place import shown


def pages(
    db: Database = "hunt.db",
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at. Whoever reaches it sees all.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: one that is free.")] = 8090,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="The bot's configuration: whose projects are moderated."),
    ] = None,
    sweep: Annotated[
        list[Path],
        typer.Option("--sweep", metavar="FILE.json", help="Show what `sweep --json` printed as a map. Repeatable."),
    ] = [],  # noqa: B006
) -> None:
    """Show the bugs and hunts of a database as web pages, and the same as JSON.

    Who is named by `graphwarden moderators` may sign in and decide there; nobody else can change anything. A hunt may
    go on meanwhile. Ctrl-C ends it.
    """
    for file in sweep:
        sweepfile.read(file)
    projects = None if config is None else arguments.load(config).of_repository
    with open_store(db, create=False) as store, _listening(host, port) as listening:
        name, taken = listening.getsockname()[:2]
        address = f"{f'[{name}]' if ':' in name else name}:{taken}"
        err.print(f"graphwarden: http://{address}/ shows {shown(db)}", markup=False)
        app = make_app(store, projects, sweep)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
        app.state.ending = lambda: server.should_exit  # nobody's open page keeps the process
        server.run([listening])


def _listening(host: str, port: int) -> socket.socket:
    """Raises Refusal where that address cannot be had."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise Refusal(f"{host} port {port}: {error.strerror}; choose another with --host or --port") from error
