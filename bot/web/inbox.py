"""Stores what many requests bring at once in one transaction: a commit costs about as much for fifty as for one.

One thread writes. A request waits until its own delivery is committed, and is acknowledged only then.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import structlog

from triage.ledger.deliveries import Deliveries
from triage.ledger.records import NewDelivery

log = structlog.get_logger()

#: Deliveries in one transaction, and their bytes (more only where a single one is larger).
MOST, MOST_BYTES = 200, 16_000_000


class NotStored(Exception):
    """The delivery is not in the database, or nobody knows; GitHub must keep it as failed."""


@dataclass(frozen=True)
class _Waiting:
    """A delivery and the request that waits for it: what it is told is whether the delivery is new."""

    delivery: NewDelivery
    loop: asyncio.AbstractEventLoop
    stored: asyncio.Future[bool]

    def tell(self, answer: bool | NotStored) -> None:
        """Called by the writer; the loop may have ended, and the request may have given up."""

        def resolve() -> None:
            if self.stored.done():
                return
            if isinstance(answer, NotStored):
                self.stored.set_exception(answer)
            else:
                self.stored.set_result(answer)

        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(resolve)


class Inbox:
    """Use it in a ``with``; leaving it stores what is still waiting."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="inbox", daemon=True)

    def __enter__(self) -> Self:
        self._writer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._waiting.put(None)
        self._writer.join()

    async def put(self, delivery: NewDelivery) -> bool:
        """Store a delivery; whether it is new. Raises NotStored."""
        if not self._writer.is_alive():
            raise NotStored("the inbox is closed")
        loop = asyncio.get_running_loop()
        waiting = _Waiting(delivery, loop, loop.create_future())
        self._waiting.put(waiting)
        return await waiting.stored

    def _write(self) -> None:
        kept: _Waiting | None = None
        ended = False
        while not ended or kept:
            first = kept or self._waiting.get()
            if first is None:
                return
            batch, kept, ended = self._batch(first)
            self._store(batch)

    def _batch(self, first: _Waiting) -> tuple[list[_Waiting], _Waiting | None, bool]:
        """All that waits now, as far as it fits; then the first that did not fit, and whether the end was seen."""
        batch, size = [first], len(first.delivery.body)
        while len(batch) < MOST:
            try:
                found = self._waiting.get_nowait()
            except queue.Empty:
                break
            if found is None:
                return batch, None, True
            size += len(found.delivery.body)
            if size > MOST_BYTES:
                return batch, found, False
            batch.append(found)
        return batch, None, False

    def _store(self, batch: Sequence[_Waiting]) -> None:
        try:
            new = self._deliveries.add_many([each.delivery for each in batch])
        except Exception as error:  # noqa: BLE001 a thread's edge: whoever waits must hear of any failure
            log.error("deliveries_not_stored", deliveries=len(batch), error=str(error))
            for each in batch:
                each.tell(NotStored(str(error)))
            return
        for each in batch:
            each.tell(each.delivery.id in new)
            new.discard(each.delivery.id)  # the same id again within a batch is known
