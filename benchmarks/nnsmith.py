"""Isra beside NNSmith (the PyPI package): CPU time of a model, and distinct bugs for equal CPU time.

NNSmith needs packages of its own time, so it lives in an environment of its own, whose Python is named by
GRAPHWARDEN_PYTHON_NNSMITH (benchmarks/README.md says what is in it). Its models come through `_nnsmith_child.py`.

`python -m benchmarks.nnsmith speed [COUNT]`, or `bugs [CPU_SECONDS [FOLDER]]`. Both sides of `bugs` run at once, each
in a process of its own that hunts in ONNX Runtime, OpenVINO and TVM until it and all its children have used that much
CPU time, generation included. What it found is then confirmed, reduced, located and judged as any bug of a hunt is, for
half an hour at most; what is not judged by then is counted as such.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generate import SEED
from fuzz import catalogue, registry
from fuzz.campaign import Policy
from fuzz.case import Case, Origin, Target
from fuzz.generators import isra as source
from fuzz.generators.models import Parameters, isra
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.worker import descendants
from triage import pipeline
from triage.hunt import hunt
from triage.lifecycle import State
from triage.records import Bug
from triage.store import Store, open_store

VARIABLE = "GRAPHWARDEN_PYTHON_NNSMITH"
CHILD = Path(__file__).with_name("_nnsmith_child.py")
COMPILERS = ("onnxruntime", "openvino", "tvm")
#: Operators of a model when bugs are hunted: Isra's default, and as many at most for NNSmith.
OPERATORS = 10
ROUNDS = 5
#: A model of NNSmith's costs so many of ours at least, so that its rounds are shorter.
FEWER = 10
TRIAGE_SECONDS = 1800.0
_TICKS = os.sysconf("SC_CLK_TCK")


class NNSmith:
    """Models of `operators` operators at most from NNSmith's process, each made when it is asked for."""

    def __init__(self, operators: int, seed: int) -> None:
        python = os.environ.get(VARIABLE, "")
        if not python:
            sys.exit(f"{VARIABLE} names no Python that has NNSmith; benchmarks/README.md says how to make one")
        self._folder = tempfile.TemporaryDirectory(prefix="nnsmith-")
        self._seed = seed
        with Path(self._folder.name, "log").open("wb") as log:
            self._process = subprocess.Popen(
                [python, "-I", str(CHILD), self._folder.name, str(operators), str(seed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                text=True,
            )
        self.known = int(self._answer()["operators"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            said = Path(self._folder.name, "log").read_text(errors="replace")[-2000:]
            sys.exit(f"NNSmith's process ended with status {self._process.wait()}:\n{said}")
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self) -> dict[str, Any]:
        """What it says of the next model."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._answer()

    def cases(self) -> Iterator[Case]:
        """Its models with its inputs and the results that PyTorch computes for them, for ever."""
        while True:
            told = self.ask()
            if "error" in told:
                continue
            stem = Path(self._folder.name, str(told["index"]))
            model = stem.with_suffix(".onnx").read_bytes()
            with np.load(stem.with_suffix(".npz")) as stored:
                inputs = {name[3:]: stored[name] for name in stored if name.startswith("in:")}
                expected = tuple(stored[name] for name in stored if name.startswith("out:"))
            yield Case("onnx", model, inputs, Origin("nnsmith", str(told["index"]), seed=self._seed), expected)
            stem.with_suffix(".onnx").unlink()
            stem.with_suffix(".npz").unlink()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


# ---------------------------------------------------------------- CPU time of a model


def speed(count: int = 1000) -> None:
    """CPU milliseconds a model, ONNX bytes included: medians of rounds in turns, and their ratio."""
    for operators in (10, 20):
        theirs = NNSmith(operators, SEED)
        theirs.ask()
        ours_ms, graph_ms, whole_ms = [], [], []
        for at in range(ROUNDS):
            ours_ms.append(_ours(operators, count // ROUNDS, SEED + at))
            told = [theirs.ask() for _ in range(max(1, count // ROUNDS // FEWER))]
            made = [each for each in told if "error" not in each]
            graph_ms.append(1e3 * sum(each["graph"] for each in made) / len(made))
            whole_ms.append(1e3 * sum(each["whole"] for each in made) / len(made))
        theirs.close()
        ours, graph, whole = (float(np.median(each)) for each in (ours_ms, graph_ms, whole_ms))
        print(
            f"{operators} operators: isra {ours:.3f} ms; NNSmith {whole:.1f} ms = {whole / ours:.0f} times as much,"
            f" {graph:.1f} ms = {graph / ours:.0f} times for the graph without weights and export"
        )


def _ours(operators: int, count: int, seed: int) -> float:
    parameters = Parameters(operators, operators)
    isra.generate(parameters, seed, 0)
    started = time.process_time()
    for index in range(count):
        isra.generate(parameters, seed, index)
    return 1e3 * (time.process_time() - started) / count


# ---------------------------------------------------------------- bugs for equal CPU time


def bugs(seconds: float = 180.0, folder: str = "") -> None:
    """Distinct bugs of both sides for `seconds` of CPU time each; databases are kept in `folder` if one is named."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(folder or made)
        place.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.nnsmith", "side"]
        running = [subprocess.Popen([*command, name, str(seconds), str(place)]) for name in SIDES]
        if max(process.wait() for process in running):
            sys.exit("one of the sides failed")
        found = {name: json.loads((place / f"{name}.json").read_text()) for name in SIDES}
    for name, told in found.items():
        print(f"{name}: {json.dumps(told)}")
    ours, theirs = (len(found[name]["confirmed"]) for name in SIDES)
    ratio = f"{ours / theirs:.1f} times as many" if theirs else "there is nothing to divide by"
    print(f"distinct bugs that the court upholds: isra {ours}, NNSmith {theirs}: {ratio}")


def side(name: str, seconds: str, folder: str) -> None:
    """One side: hunts, has its bugs judged, and writes what came of it to FOLDER/NAME.json."""
    database = Path(folder, f"{name}.db")
    database.unlink(missing_ok=True)
    with Runner(Limits(30.0, 4096)) as runner, open_store(database, create=True) as store:
        targets, reference = [catalogue.target(each) for each in COMPILERS], catalogue.target("reference")
        for target in (*targets, reference):
            runner.devices(target)  # imports are paid by nobody
        counted: Counter[str] = Counter()
        campaign = store.begin_campaign({"targets": sorted(target.id for target in targets), "source": name})
        used = _Used()
        hunt(
            store, campaign, _until(SIDES[name](), used, float(seconds), counted), targets, reference, runner, Policy()
        )
        told: dict[str, Any] = {"cpu_seconds": round(used.seconds()), "models": counted["models"]}
        statuses = {str(status): number for status, number in store.counts(campaign.id).statuses.items()}
        settled = _settled(store, runner, reference, Path(folder))
    told |= {"results": statuses, "states": dict(Counter(str(bug.state) for bug in settled))}
    upheld = [bug for bug in settled if bug.state is State.JUDGED]
    told |= {"confirmed": [f"{bug.backend}: {bug.symptom}: {', '.join(bug.operators)}" for bug in upheld]}
    Path(folder, f"{name}.json").write_text(json.dumps(told, indent=1))


def _isra() -> Iterator[Case]:
    parameters = Parameters(1, OPERATORS)
    return (source.case(parameters, SEED, index) for index in itertools.count())


def _nnsmith() -> Iterator[Case]:
    return NNSmith(OPERATORS, SEED).cases()


SIDES: dict[str, Callable[[], Iterator[Case]]] = {"isra": _isra, "nnsmith": _nnsmith}


class _Used:
    """CPU time since it was made: of this process, and of all below it, dead or alive."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._before = _cpu_seconds()

    def seconds(self) -> float:
        return _cpu_seconds() - self._before


def _cpu_seconds() -> float:
    ticks = 0
    for process in (os.getpid(), *descendants(os.getpid())):
        try:
            text = Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks += sum(map(int, text.rpartition(")")[2].split()[11:15]))  # user, system, and those of dead children
    return ticks / _TICKS


def _until(cases: Iterator[Case], used: _Used, seconds: float, counted: Counter[str]) -> Iterator[Case]:
    first = next(cases)  # imports, and what NNSmith finds out about ONNX Runtime, are paid by nobody
    used.restart()
    for case in itertools.chain([first], cases):
        if used.seconds() >= seconds:
            return
        counted["models"] += 1
        yield case


class _Settled(Exception):
    """The court has upheld a bug; it need not be drafted here."""


def _settled(store: Store, runner: Runner, reference: Target, folder: Path) -> list[Bug]:
    desk = pipeline.Desk(store, runner, reference, folder, time.monotonic() + TRIAGE_SECONDS)

    def stop(bug: Bug) -> None:
        if bug.state is State.JUDGED:
            raise _Settled

    def settle(bug: Bug) -> None:
        with contextlib.suppress(_Settled):
            pipeline.advance(desk, bug, stop)

    seen: set[int] = set()
    with ThreadPoolExecutor(runner.jobs) as pool:
        while waiting := [bug for bug in store.bugs([State.NEW]) if bug.id not in seen]:
            seen |= {bug.id for bug in waiting}
            for _ in pool.map(settle, waiting):
                pass
    return [bug for bug in store.bugs() if registry.backend(bug.backend).name in COMPILERS]


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("speed", "bugs", "side"):
        sys.exit("usage: python -m benchmarks.nnsmith speed [COUNT] | bugs [CPU_SECONDS [FOLDER]]")
    given = sys.argv[2:]
    if sys.argv[1] == "speed":
        speed(*map(int, given))
    elif sys.argv[1] == "bugs":
        bugs(float(given[0]) if given else 180.0, *given[1:])
    else:
        side(*given)
