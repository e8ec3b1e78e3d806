"""Delta debugging of failing cases: the smallest case that still fails the same way.

The method is greedy: passes propose simpler cases, the first one that is still interesting is kept,
and this goes on until no pass has anything left to propose (Zeller and Hildebrandt, "Simplifying and
isolating failure-inducing input", TSE 28(2), 2002; for structured input, Regehr et al., PLDI 2012).
"""

from __future__ import annotations

import importlib
import itertools
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fuzz import instance
from fuzz.case import Case
from fuzz.wire import Value
from triage.interesting import Interesting, Recorder
from triage.operators import node_count
from triage.passes import nodes
from triage.submodel import load, tensors

#: The passes in the order in which they are tried: what removes most for one run comes first.
ORDER: tuple[str, ...] = (
    "metadata",
    "outputs",
    "nodes",
    "functions",
    "subgraphs",
    "constants",
    "bypass",
    "unused",
    "optional",
    "sequences",
    "shapes",
    "ranks",
    "attributes",
    "values",
    "opset",
    "declarations",
    "names",
    "instance_arguments",
    "instance_shapes",
    "instance_dtypes",
    "instance_values",
)

#: How often the predicate may be run: each run of a hang that is still there costs the whole time limit.
MOST_RUNS = 3000
_MOST_RUNS_OF = {"hang": 60, "oom": 300}


class NotInteresting(ValueError):
    """The case to reduce does not fail, or not in the way that is asked for."""


@dataclass(frozen=True)
class Reduction:
    """The smallest case found. `runs` counts starts of the predicate, `seconds` is wall-clock time.

    Nodes and elements (of inputs and initializers) are counted before and after. `finished` is false
    when the deadline or the cap on runs ended the search before every pass had nothing left to propose.
    """

    case: Case
    runs: int
    seconds: float
    nodes_before: int
    nodes_after: int
    elements_before: int
    elements_after: int
    finished: bool


class _Over(Exception):
    """The deadline or the cap on runs was reached."""


def reduce(
    case: Case,
    interesting: Interesting,
    *,
    values: Recorder,
    deadline: float | None = None,
    progress: Callable[[str, int], None] | None = None,
    suspects: Collection[str] = (),
    confirm: Interesting | None = None,
    most_runs: int = MOST_RUNS,
    clock: Callable[[], float] = time.monotonic,
) -> Reduction:
    """Reduce `case` while `interesting` holds.

    `values` records the tensors of a case (see `recorded`). `deadline` is a time of `clock`;
    `progress` is told the pass and the number of runs so far. `suspects` are operator types that the
    failure names: their nodes are tried alone first. `confirm` (default: `interesting`) has the last
    word on the result; what it refuses is given up for an earlier one. Raises NotInteresting when the
    case itself is not interesting.
    """
    begun = clock()
    search = _Search(case, interesting, values, deadline, most_runs, clock, progress)
    if not interesting(case):
        raise NotInteresting("the case does not fail in the way that is to be kept; there is nothing to reduce")
    finished = search.run(suspects)
    best = search.confirmed(confirm or interesting)
    if best is not case:
        origin = replace(best.origin, parents=(*case.origin.parents, case.id))
        best = replace(best, origin=origin)
    return Reduction(
        case=best,
        runs=search.runs,
        seconds=clock() - begun,
        nodes_before=node_count(case),
        nodes_after=node_count(best),
        elements_before=elements(case),
        elements_after=elements(best),
        finished=finished,
    )


def elements(case: Case) -> int:
    """How many elements the case's inputs and constants have."""
    if case.kind == "instance":
        return sum(int(np.prod(tensor.shape)) for tensor in instance.parse(case.model).tensors)
    sequences = [item for value in case.inputs.values() if isinstance(value, list) for item in value]
    arrays = [*tensors(case, load(case)).values(), *sequences]
    return sum(array.size for array in arrays if isinstance(array, np.ndarray))


def most_runs(symptom: str) -> int:
    """A cap on the runs for a symptom class."""
    return _MOST_RUNS_OF.get(symptom.partition(":")[0], MOST_RUNS)


class _Search:
    """The state of one reduction: what was accepted, what was tried, what is left to spend."""

    def __init__(
        self,
        case: Case,
        interesting: Interesting,
        values: Recorder,
        deadline: float | None,
        most_runs: int,
        clock: Callable[[], float],
        progress: Callable[[str, int], None] | None,
    ) -> None:
        self._interesting, self._record = interesting, values
        self._deadline, self._most_runs, self._clock = deadline, most_runs, clock
        self._progress = progress or (lambda name, runs: None)
        self._accepted = [case]
        self._tried = {case.id}
        self._recorded: tuple[str, Mapping[str, Value]] = ("", {})
        self.runs = 1  # the case itself

    def run(self, suspects: Collection[str]) -> bool:
        """Go on until nothing can be simplified; false when the deadline or the cap came first."""
        try:
            if suspects and self._best.kind == "onnx":
                self._try(nodes.alone(self._best, self._values(), suspects), "nodes")
            while self._round():
                continue
        except _Over:
            return False
        return True

    def _round(self) -> bool:
        """Apply every pass; true when one achieved something, so that the others may find more now."""
        accepted = len(self._accepted)
        for name in ORDER:
            self._exhaust(name)
        return len(self._accepted) > accepted

    def confirmed(self, confirm: Interesting) -> Case:
        """The last accepted case that is confirmed once more, looked for backwards in growing steps.

        After the deadline the best case stands as it is: it was confirmed when it was accepted.
        """
        position, step = len(self._accepted) - 1, 1
        while position > 0 and not self._over():
            self.runs += 1
            if confirm(self._accepted[position]):
                break
            position, step = max(0, position - step), step * 2
        return self._accepted[position]

    @property
    def _best(self) -> Case:
        return self._accepted[-1]

    def _exhaust(self, name: str) -> None:
        """Apply one pass until it proposes nothing that is interesting.

        After a success it goes on where it was, and comes back to its first candidates at the end.
        """
        module = importlib.import_module(f"triage.passes.{name}")
        if self._best.kind not in module.KINDS:
            return
        position = 0
        while position >= 0:
            found = self._try(module.candidates(self._best, self._values()), name, position)
            if found < 0 < position:
                found = self._try(itertools.islice(module.candidates(self._best, self._values()), position), name)
            position = found

    def _try(self, candidates: Iterator[Case], name: str, start: int = 0) -> int:
        """The position of the first interesting candidate from `start` on, which is accepted; -1 for none."""
        for position, candidate in enumerate(candidates):
            if position < start or candidate.id in self._tried:
                continue
            if self._over():
                raise _Over
            self._tried.add(candidate.id)
            self.runs += 1
            self._progress(name, self.runs)
            if self._interesting(candidate):
                self._accepted.append(candidate)
                return position
        return -1

    def _over(self) -> bool:
        late = self._deadline is not None and self._clock() >= self._deadline
        return late or self.runs >= self._most_runs

    def _values(self) -> Mapping[str, Value]:
        if self._recorded[0] != self._best.id:
            self._recorded = (self._best.id, self._record(self._best))
        return self._recorded[1]
