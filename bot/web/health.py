"""How the bot is, for whoever watches it: may the database be written, is it stopped, do deliveries wait?"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import structlog

from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.store import StoreError

log = structlog.get_logger()

#: Seconds that an answer holds: anybody may ask, and each look writes.
HOLDS = 2.0
#: Seconds that a look may take before the database counts as not writable.
PATIENCE = 5.0
#: The switch that each look writes.
SWITCH = "healthz"


class Health:
    """Looks when asked, and not more often than is good."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._looking: asyncio.Task[dict[str, Any]] | None = None
        self._until = 0.0

    async def look(self) -> dict[str, Any]:
        """``{ok, database, stopped, waiting_seconds}``: `ok` is whether deliveries can be stored."""
        if self._looking is None or (self._looking.done() and time.monotonic() > self._until):
            self._looking = asyncio.create_task(asyncio.to_thread(self._look))
            self._looking.add_done_callback(lambda _: self._hold())
        try:
            # Shielded: whoever asks meanwhile waits for the same look.
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(self._looking)
        except TimeoutError:
            return _bad(f"has been busy for more than {PATIENCE:.0f} s")

    def _hold(self) -> None:
        self._until = time.monotonic() + HOLDS

    def _look(self) -> dict[str, Any]:
        try:
            self._ledger.switches.set(SWITCH, now().isoformat(timespec="seconds"))
            oldest = self._ledger.deliveries.oldest()
            stopped = bool(self._ledger.switches.stopped())
        except StoreError as error:
            log.error("database_not_writable", error=str(error))
            return _bad("cannot be written")
        waiting = 0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds())
        return {"ok": True, "database": "writable", "stopped": stopped, "waiting_seconds": round(waiting, 1)}


def _bad(why: str) -> dict[str, Any]:
    return {"ok": False, "database": why, "stopped": None, "waiting_seconds": None}
