"""A pure function over a list, in several processes: each works through a part of it, this one included.

The others are forked, so they have the list already; only results are sent. Where that cannot be done (no fork on this
system, other threads that may hold locks) or is not worth it, all is done here. A process that dies costs time only:
its part is done here.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Below so many items for each process, starting one takes longer than it saves.
_WORTH = 1_000


def spread(work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item], jobs: int) -> list[Result]:
    """`work(items)`, done in up to `jobs` processes. `work` gives one result an item, in order; results are pickled."""
    jobs = min(jobs, len(items) // _WORTH) if _can_fork() else 1
    if jobs < 2:
        return work(items)
    # In turns, since neighbours are alike: each part holds as much of what is slow.
    own, *parts = (items[at::jobs] for at in range(jobs))
    context = multiprocessing.get_context("fork")
    running = []
    for part in parts:
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(sending, work, part), daemon=True)
        process.start()
        sending.close()
        running.append((part, receiving, process))
    results: list[Any] = [None] * len(items)
    results[::jobs] = work(own)
    for at, (part, receiving, process) in enumerate(running, 1):
        with receiving:
            results[at::jobs] = _received(receiving) or work(part)
        process.join()
    return results


def _can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1


def _send(sending: Connection, work: Callable[[Sequence[Item]], list[Result]], part: Sequence[Item]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends this one
    sending.send_bytes(pickle.dumps(work(part), pickle.HIGHEST_PROTOCOL))


def _received(receiving: Connection) -> list[Any]:
    """The results of a process, [] if it died before it had sent them all."""
    try:
        found: list[Any] = pickle.loads(receiving.recv_bytes())  # sent by a process of our own
    except (EOFError, OSError):  # the end before a message, and within one
        return []
    return found
