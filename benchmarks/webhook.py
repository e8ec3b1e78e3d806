"""How long GitHub waits for the acknowledgement of a delivery, while the dispatcher works on the same database.

    python -m benchmarks.webhook                        # 100 deliveries a second for 30 s, 22 KB each
    python -m benchmarks.webhook --rate 200 --seconds 10
    python -m benchmarks.webhook --deliveries 10000     # with kill -9 of the server and the dispatcher in between

Deliveries are sent at their times, whether or not earlier ones were answered, and a time counts from when a delivery
was due. The limits are 10 ms for the median and 50 ms for the 99th percentile (issue 6).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import statistics
import tempfile
import time
import uuid
from pathlib import Path

import structlog

from tests.bot.web import storm
from tests.bot.web.support import Connections, Program, configured, headers, payload, raw
from tests.ports import unused
from triage.ledger import Ledger
from triage.ledger.records import DeliveryState
from triage.store import open_store

#: Seconds: the limits of the median and of the 99th percentile.
MEDIAN, P99 = 0.010, 0.050
SIZE = 22_000


def requests(number: int, size: int) -> list[bytes]:
    """Deliveries, each with an id of its own."""
    found = []
    for each in range(number):
        body = payload(each, size)
        found.append(raw(body, headers(body, str(uuid.uuid4()))))
    return found


async def load(port: int, wanted: list[bytes], rate: float) -> list[float]:
    """Send them at a steady rate; the seconds from when each was due to its acknowledgement."""
    connections = Connections(port)
    seconds: list[float] = []

    async def one(request: bytes, due: float) -> None:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        status = await connections.send(request)
        if status != 202:
            raise SystemExit(f"a delivery was answered with {status}")
        seconds.append(time.perf_counter() - due)

    begin = time.perf_counter() + 0.5
    async with asyncio.TaskGroup() as group:
        for number, request in enumerate(wanted):
            group.create_task(one(request, begin + number / rate))
    connections.close()
    return seconds


def latency(rate: float, duration: float, size: int) -> None:
    """Print the median and the 99th percentile as shares of their limits."""
    with tempfile.TemporaryDirectory() as folder:
        port = unused()
        config = configured(Path(folder), port)
        programs = Program("serve", config, port), Program("dispatch", config)
        try:
            for program in programs:
                program.start()
            asyncio.run(load(port, requests(50, size), rate))  # everything is imported and connected
            seconds = sorted(asyncio.run(load(port, requests(int(rate * duration), size), rate)))
            handled = _handled(Path(folder) / "bot.db")
        finally:
            for program in programs:
                program.kill()
    median, p99 = statistics.median(seconds), seconds[int(len(seconds) * 0.99)]
    print(f"{len(seconds)} deliveries of {size} bytes at {rate:.0f} a second; {handled} handled meanwhile")
    print(f"median {median * 1000:.1f} ms = {median / MEDIAN:.2f} of its limit")
    print(f"p99 {p99 * 1000:.1f} ms = {p99 / P99:.2f} of its limit; slowest {seconds[-1] * 1000:.0f} ms")


def _handled(database: Path) -> int:
    """How many deliveries the dispatcher had handled by now."""
    with open_store(database, create=False) as store:
        return Ledger(store).deliveries.counts().get(DeliveryState.HANDLED, 0)


def survival(deliveries: int, seed: int) -> int:
    """Print what becomes of deliveries while both programs are killed; how many were lost or handled twice."""
    with tempfile.TemporaryDirectory() as folder, storm.place(Path(folder)) as place:
        storm.rage(place, deliveries, seed, kills=max(2, deliveries // 400))
        acknowledged = {guid for guid, status in place.statuses.items() if status == 202}
        known = storm.known(place)
        print(f"{deliveries} deliveries, {place.kills} times kill -9, {len(acknowledged)} acknowledged")
        print(f"acknowledged and not stored: {len(acknowledged - known)}; stored at all: {len(known)}")
        print(f"from the delivery list: {storm.fetch(place)}")
        end = storm.found(place, 600.0)
        never = deliveries - len(end.works)
        twice = sum(number > 1 for number in end.works.values())
        print(f"never handled: {never}; handled twice: {twice}; {dict(end.states)}")
        return len(acknowledged - known) + never + twice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--deliveries", type=int, default=0, help="this many, with kill -9 in between")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if arguments.deliveries:
        raise SystemExit(1 if survival(arguments.deliveries, arguments.seed) else 0)
    latency(arguments.rate, arguments.seconds, arguments.size)


if __name__ == "__main__":
    main()
