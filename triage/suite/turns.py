"""Working through an order in small batches, several at a time, until it or the time ends."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

#: Cases in a batch: enough to keep a worker busy, few enough that two builds see the same machine.
BATCH = 12
Result = TypeVar("Result")


@dataclass(frozen=True)
class Deadline:
    """When to stop, in seconds of the monotonic clock; None: never."""

    at: float | None = None

    @staticmethod
    def after(seconds: float | None) -> Deadline:
        """The deadline so many seconds from now."""
        return Deadline(None if seconds is None else time.monotonic() + seconds)

    def over(self) -> bool:
        """Whether the time has ended."""
        return self.at is not None and time.monotonic() >= self.at


def turns(
    order: Iterator[int],
    work: Callable[[int, Sequence[int]], Sequence[Result]],
    jobs: int,
    deadline: Deadline,
    batch: int = BATCH,
) -> Iterator[Result]:
    """What `work` gives for each batch of positions, in the order in which batches end.

    `work` takes the number of the batch and its positions, and runs in a thread. `order` is asked for the next batch
    only when a thread is free, so it may learn from what was given. A batch that has begun is ended, whatever the time.
    """
    numbers = itertools.count()
    with ThreadPoolExecutor(jobs, "batch") as pool:
        running: set[Future[Sequence[Result]]] = set()
        try:
            while True:
                while len(running) < jobs and not deadline.over():
                    positions = list(itertools.islice(order, batch))
                    if not positions:
                        break
                    running.add(pool.submit(work, next(numbers), positions))
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield from future.result()
        finally:
            for future in running:
                future.cancel()
