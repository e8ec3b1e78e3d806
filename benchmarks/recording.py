"""How many chunks of a hunt a database records a second, by one process and by several at once.

Run: ``python -m benchmarks.recording --db PLACE [--db PLACE …] [--writers N] [--chunks N] [--together N]``. A place is
a new SQLite file or the URL of an empty PostgreSQL database. A transaction has the 16 results of a chunk, or of so many
chunks together: of those that finished while the last transaction lasted.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.synchronize
import time

from rich.console import Console
from rich.table import Table

from fuzz.campaign import CHUNK
from fuzz.case import Origin, Stage, Status
from triage import store_file
from triage.records import Result
from triage.store import open_store

_SPAWN = multiprocessing.get_context("spawn")


def record(place: str, writer: int, chunks: int, together: int, ready: multiprocessing.synchronize.Barrier) -> None:
    """One hunt's share: campaigns of their own, as several hunts have."""
    store_file.BUSY_SECONDS = 600.0
    with open_store(place, create=True) as store:
        campaign = store.begin_campaign({"writer": writer}, resume=False).id
        ready.wait()
        for at in range(chunks):
            origin = Origin("bench", str(at))
            rows = [
                Result(f"{writer}-{at}-{n}", "tvm@1", origin, Status.OK, Stage.RUN) for n in range(together * CHUNK)
            ]
            store.record(campaign, rows)


def rate(place: str, writers: int, chunks: int, together: int) -> float:
    """Transactions a second of all writers together."""
    ready = _SPAWN.Barrier(writers + 1)
    running = [
        _SPAWN.Process(target=record, args=(place, writer, chunks, together, ready)) for writer in range(writers)
    ]
    for process in running:
        process.start()
    ready.wait()
    began = time.perf_counter()
    for process in running:
        process.join()
    return writers * chunks / (time.perf_counter() - began)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", action="append", required=True)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--chunks", type=int, default=150)
    parser.add_argument("--together", type=int, default=1)
    asked = parser.parse_args()
    table = Table("database", "writers", "transactions a second", "results a second")
    for place in asked.db:
        for writers in (1, asked.writers):
            found = rate(place, writers, asked.chunks, asked.together)
            table.add_row(
                place.partition(":")[0], str(writers), f"{found:.0f}", f"{asked.together * CHUNK * found:,.0f}"
            )
    Console().print(table)


if __name__ == "__main__":
    main()
