"""Real failures of a hunt, reduced alone and embedded in random valid models.

Run: ``python -m benchmarks.embedded HUNT.db [--failures N] [--sizes 10,50,200,500] [--backend NAME ...]``. For
every bug of the hunt the failure as it was found (not as it was reduced) is reduced under its own signature.
An embedded failure that the compiler shows with another signature, or that the random part is refused for
(it may need a newer opset), is told and left out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.random_models import embedded
from fuzz import catalogue
from fuzz.case import Case, Failure
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.interesting import recorded, same_signature
from triage.lifecycle import State
from triage.operators import node_count
from triage.reduce import NotInteresting, elements, most_runs, reduce
from triage.signing import Signer
from triage.store import Store, open_store
from triage.submodel import load, tensors

_LEFT_OUT = (State.DUPLICATE, State.FLAKY, State.INVALID, State.STALE)


@dataclass(frozen=True)
class Row:
    """How one reduction ended; `largest` is the largest size of an axis, `nodes` counts nodes left."""

    bug: int
    backend: str
    size: int
    before: int
    nodes: int
    elements: int
    largest: int
    runs: int
    seconds: float
    neighbour: str


def failures(store: Store, backends: Sequence[str], most: int) -> Iterator[tuple[int, Failure]]:
    """The failure that stands for each bug, in turn from each backend, crashes and wrong results mixed."""
    queues = {name: [b for b in store.bugs(backend=name) if b.state not in _LEFT_OUT] for name in backends}
    taken = 0
    while any(queues.values()) and taken < most:
        for queue in queues.values():
            if queue and taken < most:
                bug = queue.pop(0)
                stored = [store.failure(number).failure for number in store.failure_ids(bug.id)]
                onnx_ones = [each for each in stored if each.case.kind == "onnx"]
                if onnx_ones:
                    taken += 1
                    yield bug.id, max(onnx_ones, key=lambda failure: len(failure.case.model))


class Bench:
    """Reduces failures on one pool of workers."""

    def __init__(self, runner: Runner) -> None:
        self._judge = Judge(runner, catalogue.target("reference"))
        self._signer = Signer(runner)
        self._values = recorded(runner, self._judge.reference)

    def row(self, bug: int, failure: Failure, size: int, case: Case) -> Row | str:
        """One reduction, or why there was none."""
        again = self._judge.examine(case, failure.target).failure
        if again is None:
            return "does not fail"
        wanted, found = self._signer.sign(failure), self._signer.sign(again)
        if wanted.symptom != found.symptom:
            return f"fails otherwise: {found.symptom}"
        error = again.outcome.error
        try:
            done = reduce(
                case,
                same_signature(self._judge, again, self._signer.sign),
                values=self._values,
                suspects=[error.operator] if error and error.operator else (),
                most_runs=most_runs(again.symptom),
            )
        except NotInteresting as problem:
            return str(problem)
        arrays = tensors(done.case, load(done.case)).values()
        return Row(
            bug,
            failure.target.backend,
            size,
            node_count(case),
            done.nodes_after,
            elements(done.case),
            max((axis for array in arrays for axis in array.shape), default=0),
            done.runs,
            done.seconds,
            done.min_good.difference if done.min_good else "",
        )


def main() -> int:
    """Parse the command line, reduce, and print every row and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    parser.add_argument("--failures", type=int, default=30)
    parser.add_argument("--sizes", default="10,50,200,500", help="nodes of the random models")
    parser.add_argument("--backend", action="append", help="may be repeated; default: onnxruntime, openvino, tvm")
    chosen = parser.parse_args()
    console = Console(width=160)
    sizes = [int(size) for size in chosen.sizes.split(",") if size]
    rows: list[Row] = []
    backends = chosen.backend or ["onnxruntime", "openvino", "tvm"]
    with open_store(chosen.database, create=False) as store, Runner(Limits(60), jobs=1) as runner:
        bench = Bench(runner)
        for at, (bug, failure) in enumerate(failures(store, backends, chosen.failures)):
            cases = [(0, failure.case)]
            cases += [(sizes[at % len(sizes)], embedded(failure.case, sizes[at % len(sizes)], at))] if sizes else []
            for size, case in cases:
                row = bench.row(bug, failure, size, case)
                console.print(f"bug {bug} in {size}: {row}", highlight=False)
                rows += [row] if isinstance(row, Row) else []
    _summary(console, rows)
    return 0


def _summary(console: Console, rows: Sequence[Row]) -> None:
    table = Table(
        "",
        "failures",
        "nodes: median (worst)",
        "at most 2",
        "elements: median",
        "largest axis: median",
        "runs: median (worst)",
        "with neighbour",
    )
    for name, some in (("alone", [r for r in rows if not r.size]), ("embedded", [r for r in rows if r.size])):
        if some:
            nodes, runs = [row.nodes for row in some], [row.runs for row in some]
            table.add_row(
                name,
                str(len(some)),
                f"{statistics.median(nodes):g} ({max(nodes)})",
                str(sum(count <= 2 for count in nodes)),
                f"{statistics.median(row.elements for row in some):g}",
                f"{statistics.median(row.largest for row in some):g}",
                f"{statistics.median(runs):g} ({max(runs)})",
                str(sum(bool(row.neighbour) for row in some)),
            )
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
