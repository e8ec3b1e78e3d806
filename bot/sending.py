"""Sends what the outbox holds, one thing after the other, until it is told to end (issue 6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bot.desk import Desk
from bot.github.client import Client
from bot.github.pace import Pace
from bot.github.sender import SETTLED, Sender
from bot.life import against, refusing, sent
from bot.settings import Settings
from triage.ledger import Ledger

#: Seconds between two looks into an empty outbox.
IDLE = 0.2
#: Seconds after which it looks at least, whatever GitHub's limits ask for: what is to be said may be stopped meanwhile.
_LONGEST = 5.0


def sender_of(
    ledger: Ledger,
    github: Callable[[str], Client],
    pace: Pace,
    settled: float = SETTLED,
    settings: Settings | None = None,
) -> Sender:
    """The sender of a bot's outbox: it looks at what people decided, and does what follows from what has arrived.

    With `settings` issues that were moved are followed to other repositories of theirs.
    """
    return Sender(
        ledger,
        github,
        pace,
        settled,
        after=lambda one, result: sent.after(one, result, ledger),
        against=lambda one: against.before(one, ledger),
        refused=lambda one, why: refusing.after(one, why, ledger, github, settings),
    )


def send_all(desk: Desk, stop: threading.Event) -> None:
    """Send things as they become ready, until `stop` is set."""
    sender = sender_of(desk.ledger, desk.github, Pace(time.monotonic), settings=desk.settings)
    while not stop.is_set():
        wait = sender.step()
        if wait is None or wait > 0:
            stop.wait(IDLE if wait is None else min(wait, _LONGEST))
