"""Options of the commands that run the bot, and what they open."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bot import logs, settings
from bot.desk import Desk
from bot.failures import Interrupted
from bot.github.access import PerThread
from bot.same import Vouched
from bot.settings import Settings
from triage.ledger import Ledger
from triage.store import open_store

Config = Annotated[Path, typer.Option("--config", "-c", metavar="FILE", help="The bot's configuration.")]
PlainLogs = Annotated[bool, typer.Option("--plain-logs", help="Log lines as text instead of JSON.")]
DEFAULT = Path("graphwarden.toml")

#: Set for processes that `serve` starts: they end with it.
SUPERVISED = "GRAPHWARDEN_SUPERVISED"
_PR_SET_PDEATHSIG = 1


def load(config: Path) -> Settings:
    """The settings. Raises BadSettings."""
    return settings.load(config)


@contextmanager
def opened(config: Path, process: str, plain_logs: bool) -> Iterator[tuple[Desk, threading.Event]]:
    """The desk of one of the bot's processes, and the event that tells it to end."""
    logs.begin(process, plain_logs)
    _end_with_parent()
    known = load(config)
    stop = threading.Event()
    with open_store(known.database, create=True) as store:
        access, ledger = PerThread(known), Ledger(store)
        try:
            yield Desk(known, ledger, Vouched(access.client, known, ledger), access.app), stop
        except Interrupted:
            logs.ended()
        finally:
            stop.set()


def _end_with_parent() -> None:
    """A process that `serve` has started must not outlive it, however that ends."""
    parent = os.environ.pop(SUPERVISED, "")
    if not parent:
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if str(os.getppid()) != parent:
        raise Interrupted
