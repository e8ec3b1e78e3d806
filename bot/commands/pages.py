"""`graphwarden pages`: the bugs and hunts of a database, to look at in a browser."""

from __future__ import annotations

import socket
from typing import Annotated

import typer
import uvicorn

from bot.commands.arguments import Database
from bot.console import err
from bot.failures import Refusal
from bot.pages.app import make_app
from triage.store import open_store


def pages(
    db: Database = "hunt.db",
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at. Whoever reaches it sees all.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: one that is free.")] = 8090,
) -> None:
    """Show the bugs and hunts of a database as web pages, and the same as JSON; nothing can be changed there.

    A hunt may go on meanwhile. Ctrl-C ends it.
    """
    with open_store(db, create=False) as store, _listening(host, port) as listening:
        name, taken = listening.getsockname()[:2]
        err.print(f"graphwarden: http://{f'[{name}]' if ':' in name else name}:{taken}/ shows {db}", markup=False)
        settings = uvicorn.Config(make_app(store), log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(settings).run([listening])


def _listening(host: str, port: int) -> socket.socket:
    """Raises Refusal where that address cannot be had."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise Refusal(f"{host} port {port}: {error.strerror}; choose another with --host or --port") from error
