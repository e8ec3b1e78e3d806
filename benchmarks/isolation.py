"""What isolation costs: the same cases bare, through a warm worker, a pool, a fork each, a process each.

Run: ``python -m benchmarks.isolation [--backend NAME ...] [--cases N] [--rounds N]``. All figures of one
table come from one run with the ways interleaved; the ratio of each round is taken to the bare loop of
the same round, and the median is shown, because a machine that is shared drifts by more than the differences.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fuzz import catalogue
from fuzz.case import Case, Outcome, Status, Target
from fuzz.generators import onnx_node
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.zygote import private_environment

BACKENDS = ("onnxruntime", "openvino", "tvm")
#: A bare loop cannot survive these, so no way is measured on them.
DEADLY = (Status.SIGNAL, Status.TIMEOUT, Status.OOM)
LIMITS = Limits(seconds=60)
#: So many cases are run before the clock starts, in the loop as in the workers: first touches cost both.
WARM_UP = 64

#: The bare loop: one process that imports the backend and calls it, nothing else.
BARE = """
import os, pickle, sys, time
sys.path.insert(0, sys.argv[1])
import worker
jobs, backend = worker._load_project(sys.argv[2])
backend.warm()
with open(sys.argv[3], "rb") as file:
    jobs = [jobs.wire.Job(*job) for job in pickle.load(file)]
sys.stdout.flush()
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

def run(jobs):
    for job in jobs:
        try:
            backend.execute(job, lambda stage: None)
        except Exception:
            pass

run(jobs[: int(sys.argv[4])])
started = time.perf_counter()
run(jobs)
os.write(out, b"%r" % (time.perf_counter() - started))
os._exit(0)
"""


@dataclass(frozen=True)
class Way:
    """One way to run cases: its name, how many cases it is given, and what runs them in how many seconds."""

    name: str
    cases: int
    seconds: Callable[[Sequence[Case], Target], float]


def bare(cases: Sequence[Case], target: Target, tuned: bool = False) -> float:
    """Seconds of the bare in-process loop over all cases, imports not counted.

    The peer is what a user would write: one native thread and glibc's allocator as it comes. With `tuned`
    the loop has the allocator setting of the workers.
    """
    with tempfile.TemporaryDirectory() as folder:
        jobs = Path(folder) / "jobs.pickle"
        jobs.write_bytes(pickle.dumps([(c.kind, c.model, dict(c.inputs), dict(target.options)) for c in cases]))
        fuzz = Path(__file__).parent.parent / "fuzz"
        command = [sys.executable, "-B", "-c", BARE, str(fuzz), target.backend, str(jobs), str(WARM_UP)]
        home = Path(folder) / "home"
        environment = private_environment(home)
        if not tuned:
            del environment["GLIBC_TUNABLES"]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=True)
    return float(done.stdout)


def warm_worker(cases: Sequence[Case], target: Target) -> float:
    """Seconds through one worker that is warm, recycled as in production."""
    with Runner(LIMITS, jobs=1) as runner:
        _drain(runner, cases[:WARM_UP], target)
        return _timed(lambda: [None for _ in runner.run_batch(cases, target)])


def pool(cases: Sequence[Case], target: Target) -> float:
    """Seconds through as many workers as there are cores, in chunks as a campaign hands them out."""
    chunks = [cases[at : at + 16] for at in range(0, len(cases), 16)]
    with Runner(LIMITS) as runner, ThreadPoolExecutor(runner.jobs) as threads:
        list(threads.map(lambda _: _drain(runner, cases[:WARM_UP], target), range(runner.jobs)))
        return _timed(lambda: list(threads.map(lambda chunk: list(runner.run_batch(chunk, target)), chunks)))


def _drain(runner: Runner, cases: Sequence[Case], target: Target) -> None:
    for _ in runner.run_batch(cases, target):
        continue


def fork_per_case(cases: Sequence[Case], target: Target) -> float:
    """Seconds with a fresh fork of the zygote for every case, as failures are confirmed."""
    with Runner(LIMITS, jobs=1) as runner:
        runner.devices(target)
        return _timed(lambda: [runner.run_fresh(case, target) for case in cases])


def process_per_case(cases: Sequence[Case], target: Target) -> float:
    """Seconds with a new interpreter for every case."""

    def one(case: Case) -> Outcome:
        with Runner(LIMITS, jobs=1) as runner:
            return runner.run(case, target)

    return _timed(lambda: [one(case) for case in cases])


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def measure(target: Target, cases: Sequence[Case], rounds: int) -> Table:
    """Run every way `rounds` times, interleaved, and tabulate cases per second and ratios to the bare loop."""
    ways = [
        Way("bare in-process loop", len(cases), bare),
        Way("the same, allocator as workers have it", len(cases), partial(bare, tuned=True)),
        Way("one warm worker", len(cases), warm_worker),
        Way(f"pool of {len(os.sched_getaffinity(0))} workers", len(cases), pool),
        Way("fork per case", max(10, len(cases) // 20), fork_per_case),
        Way("process per case", 3, process_per_case),
    ]
    rates: dict[str, list[float]] = {way.name: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            rates[way.name].append(way.cases / way.seconds(cases[: way.cases], target))
    table = Table("way", "cases", "cases/s", "ratio to bare", "rounds", title=f"{target.id}, {len(cases)} node tests")
    for way in ways:
        ratios = [rate / base for rate, base in zip(rates[way.name], rates[ways[0].name], strict=True)]
        spread = " ".join(f"{ratio:.2f}" for ratio in ratios)
        rate = statistics.median(rates[way.name])
        table.add_row(way.name, str(way.cases), f"{rate:.1f}", f"{statistics.median(ratios):.3f}", spread)
    return table


def survivors(target: Target, wanted: int) -> list[Case]:
    """The first `wanted` node tests (inputs as they are) that do not kill a process of the target."""
    source = (case for case in onnx_node.cases(0) if isinstance(case, Case) and case.origin.variant == "plain")
    cases = [case for case, _ in zip(source, range(wanted), strict=False)]
    with Runner(LIMITS) as runner:
        outcomes = list(runner.run_batch(cases, target))
    return [case for case, outcome in zip(cases, outcomes, strict=True) if not _deadly(outcome)]


def _deadly(outcome: Outcome) -> bool:
    exited = outcome.error is not None and outcome.error.type == "Exit"
    return exited or outcome.status in DEADLY


def main() -> None:
    """Parse the command line and print one table per backend."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="may be repeated; default: all three")
    parser.add_argument("--cases", type=int, help="how many node tests (default: all, 300 openvino, 100 tvm)")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    usual = {"onnxruntime": 2000, "openvino": 300, "tvm": 100}
    console = Console()
    for name in chosen.backend or BACKENDS:
        target = catalogue.target(name)
        cases = survivors(target, chosen.cases or usual[name])
        console.print(measure(target, cases, chosen.rounds))


if __name__ == "__main__":
    main()
