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
#: So many pieces for each process make its load even.
_PIECES = 8


def spread(
    work: Callable[[Sequence[Item]], list[Result]],
    items: Sequence[Item],
    jobs: int,
    like: Callable[[Item], str] = lambda item: "",
    size: Callable[[Item], int] = lambda item: 1,
) -> list[Result]:
    """`work(items)`, done in up to `jobs` processes. `work` gives one result an item, in order; results are pickled.

    Items of which `like` says the same go to one process, as far as the sums of `size` allow: what it remembers of one
    serves for the next.
    """
    jobs = min(jobs, len(items) // _WORTH) if _can_fork() else 1
    if jobs < 2:
        return work(items)
    own, *parts = _shared_out(items, jobs, like, size)
    context = multiprocessing.get_context("fork")
    running = []
    for part in parts:
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(sending, work, [items[at] for at in part]), daemon=True)
        process.start()
        sending.close()
        running.append((part, receiving, process))
    results: dict[int, Result] = dict(zip(own, work([items[at] for at in own]), strict=True))
    for part, receiving, process in running:
        with receiving:
            found = _received(receiving) or work([items[at] for at in part])
        results.update(zip(part, found, strict=True))
        process.join()
    return [results[at] for at in range(len(items))]


def _shared_out(
    items: Sequence[Item], jobs: int, like: Callable[[Item], str], size: Callable[[Item], int]
) -> list[list[int]]:
    """The positions of the items for each process, the largest part first: it is done here and costs no start."""
    sizes = [size(item) for item in items]
    most = sum(sizes) // (_PIECES * jobs)
    pieces: list[tuple[int, list[int]]] = []
    latest: dict[str, int] = {}
    for at, item in enumerate(items):
        key = like(item)
        if key not in latest or pieces[latest[key]][0] > most:
            latest[key] = len(pieces)
            pieces.append((0, []))
        total, positions = pieces[latest[key]]
        positions.append(at)
        pieces[latest[key]] = total + sizes[at], positions
    parts: list[list[int]] = [[] for _ in range(jobs)]
    load = [0] * jobs
    for total, positions in sorted(pieces, key=lambda piece: -piece[0]):
        least = load.index(min(load))
        parts[least] += positions
        load[least] += total
    return [part for _, part in sorted(zip(load, parts, strict=True), key=lambda each: -each[0]) if part]


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
