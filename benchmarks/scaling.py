"""What a campaign on many machines costs whom, with a compiler that costs nothing; hosts are processes on loopback.

Run: ``python -m benchmarks.scaling [--cases N] [--rounds N]``. Two questions:

- How much faster are two hosts than one? The compiler waits 20 ms a case, so that the processors of this machine are
  not what is measured. Rounds alternate; the median of the ratios is shown.
- How many seconds of processor does a case cost the coordinator, the scheduler and a host? Processor time hardly
  depends on what else the machine does, and a part with one thread that matters can do no more than its inverse.

docs/scaling.md computes from these figures.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper
from rich.console import Console
from rich.table import Table

from bot import hosts
from bot.hosts import Tls
from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import Case, Origin, Target
from fuzz.limits import Limits
from fuzz.remote import RemotePool
from fuzz.runner import Runner
from fuzz.worker import descendants
from tests.bot.hosts.support import Cluster, members, wait_until
from triage.hunt import hunt
from triage.store import open_store

INSTANT = str(Path(__file__).with_name("_instant.py"))
LIMITS = Limits(600, 2000)
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Seconds of one run: the clock's, and the processor's of each part."""

    wall: float
    coordinator: float
    scheduler: float
    hosts: float


def cases(number: int, seed: int) -> list[Case]:
    """Different models of one operator."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    data = np.random.default_rng(seed).standard_normal((number, 3)).astype(np.float32)
    return [Case("onnx", model, {"x": row}, Origin("bench", str(at), seed=seed)) for at, row in enumerate(data)]


def target(wait: int) -> Target:
    return catalogue.target(INSTANT, {"wait": str(wait)})


@contextmanager
def running(number: int) -> Iterator[tuple[Cluster, Runner]]:
    """A cluster of so many hosts with one worker each, all of them there."""
    with tempfile.TemporaryDirectory() as folder, Cluster(Path(folder)) as cluster:
        for _ in range(number):
            cluster.add()
        connected = hosts.connect(cluster.url, Tls())
        with Runner(LIMITS, pool=RemotePool(connected, LIMITS)) as runner:
            wait_until(lambda: connected.slots == number, "not all hosts came")
            yield cluster, runner


def raw(runner: Runner, chosen: Sequence[Case], wait: int) -> float:
    """Seconds for the cases as batches of 16, as many at once as the runner takes; nothing is judged or kept."""
    batches = [chosen[at : at + 16] for at in range(0, len(chosen), 16)]
    began = time.perf_counter()
    with ThreadPoolExecutor(runner.jobs) as pool:
        list(pool.map(lambda batch: list(runner.run_batch(batch, target(wait))), batches))
    return time.perf_counter() - began


def speedup(number: int, rounds: int) -> list[float]:
    """How much faster two hosts were than one, in every round."""
    ratios = []
    with running(1) as (_, one), running(2) as (_, two):
        for runner in (one, two):
            raw(runner, cases(64, 0), 20)  # workers are started before the clock is
        for at in range(1, rounds + 1):
            chosen = cases(number, at)
            ratios.append(raw(one, chosen, 20) / raw(two, chosen, 20))
    return ratios


def campaign(number: int) -> Cost:
    """A whole campaign: the reference, the compiler, judging and recording."""
    reference, instant = catalogue.target("reference"), target(0)
    with running(1) as (cluster, runner), tempfile.TemporaryDirectory() as folder:
        list(runner.run_batch(cases(64, 0), reference))
        with open_store(Path(folder, "hunt.db"), create=True) as store:
            begun = store.begin_campaign({})
            before = _spent(cluster)
            hunt(store, begun, cases(number, 1), [instant], reference, runner, Policy())
            after = _spent(cluster)
    return Cost(*(end - start for start, end in zip(before, after, strict=True)))


def _spent(cluster: Cluster) -> tuple[float, float, float, float]:
    assert cluster.scheduler is not None
    own = [cluster.scheduler.pid]
    theirs = [below for each in cluster.hosts for pid in members(each) for below in (pid, *descendants(pid))]
    return time.perf_counter(), time.process_time(), _seconds(own), _seconds(list(dict.fromkeys(theirs)))


def _seconds(pids: Sequence[int]) -> float:
    """The processor time of processes and of their children that have ended."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(sum(map(int, each[11:15])) for each in fields) / _TICK


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    console = Console()
    found = campaign(asked.cases)
    table = Table(
        "part", "ms of processor a case", "cases a second at most", title=f"a campaign of {asked.cases} cases"
    )
    for part in ("coordinator", "scheduler", "hosts"):
        cost = getattr(found, part) / asked.cases
        table.add_row(part, f"{1000 * cost:.2f}", f"{1 / cost:,.0f}" if cost else "more than can be told")
    console.print(table)
    console.print(f"in {found.wall:.1f} s by the clock, {asked.cases / found.wall:.0f} cases/s")
    ratios = speedup(asked.cases // 4, asked.rounds)
    each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    console.print(f"two hosts are {statistics.median(ratios):.2f} times as fast as one ({each})")


if __name__ == "__main__":
    main()
