"""Reduction of failing cases: the smallest case that still fails the same way, and its passing neighbour.

Three stages, each of few runs: which nodes are needed (triage/nodesearch.py), in the main graph and then in
bodies and functions; whether control flow and function calls can be unwrapped; and everything else that can be
simpler, all at once (triage/simplify.py). What the failing case is compared with in the end is the largest case
that passes although a single thing is different (triage/neighbour.py). See docs/decisions/006-reduction.md.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fuzz import instance
from fuzz.case import Case
from fuzz.wire import Value
from triage.cuts import Cuts
from triage.forced import forced
from triage.holding import Holding
from triage.interesting import Recorded, Recorder
from triage.neighbour import MinGood, Neighbourhood
from triage.nodesearch import Kept, NodeSearch
from triage.operators import node_count
from triage.parts import with_odd_inputs
from triage.simplify import STACK, Simplifier
from triage.submodel import load, tensors, well_formed
from triage.trials import Interesting, Journal, Over, Trials
from triage.wiring import MAIN, Place, inner_places, wiring

#: Passes that take a structure apart; each of their proposals is tried on its own, before all else.
STRUCTURE: tuple[str, ...] = ("functions", "subgraphs")
#: Passes for what is then left of the structure, tried in the same way.
REST: tuple[str, ...] = ("branches",)
#: Passes for nodes that turn out to be idle once all else is simple, or to matter less than that there is a constant,
#: tried in the same way: on values that nobody has asked about yet, nodes are idle that are not. What they refuse now
#: is often the passing neighbour.
LAST: tuple[str, ...] = ("sources", "noops", "captured", "copies")
#: What is tried after these, and is no neighbour: it differs in several things.
TYPED: tuple[str, ...] = ("bypasses",)
#: Every pass in the order in which they are tried.
ORDER: tuple[str, ...] = (*STRUCTURE, *REST, *LAST, *TYPED, *dict.fromkeys(STACK))
#: Those that go by what nodes make of numbers.
BY_VALUE = frozenset({"noops"})

#: Bodies of so many nodes are searched once more when all else is simple.
MANY_LEFT = 4

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
    `min_good` is a case that passes and differs from `case` in one thing, None where none was found.
    """

    case: Case
    runs: int
    seconds: float
    nodes_before: int
    nodes_after: int
    elements_before: int
    elements_after: int
    finished: bool
    min_good: MinGood | None = None


def reduce(
    case: Case,
    interesting: Interesting,
    *,
    values: Recorder,
    valid: Callable[[Case], bool] | None = None,
    deadline: float | None = None,
    progress: Callable[[str, int], None] | None = None,
    suspects: Collection[str] = (),
    confirm: Interesting | None = None,
    confirmed: bool = True,
    most_runs: int = MOST_RUNS,
    repeats: int = 1,
    jobs: int = 1,
    neighbours: int = 8,
    simplifying: int | None = None,
    fed: bool = True,
    journal: Journal | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Reduction:
    """Reduce `case` while `interesting` holds.

    `values` records the tensors of a case (see `recorded`). `valid` says whether a candidate is worth a run; by
    default `values` says so, if it can. Where it does not take the case itself, onnx.checker is asked instead, and
    nobody where that does not take the case either. `deadline` is a time of `clock`; `progress` is told the stage and
    the number of runs so far. `suspects` are operator types that the failure names. A candidate counts only if
    `interesting` holds `repeats` times in a row; `jobs` candidates are tried at a time. `confirm` (default:
    `interesting`) has the last word on the result unless `confirmed` is false; what it refuses is given up for an
    earlier one. `neighbours` is how many runs may go into the search for a passing neighbour, `simplifying` how many
    into shapes, values, attributes and names once the nodes are found (None: as many as it takes). `fed`: whether the
    predicate is given the values of the inputs, and not just the model. `journal` remembers answers for a later
    process.
    Raises NotInteresting when the case itself is not interesting.
    """
    begun = clock()
    trials = Trials(
        interesting,
        repeats=repeats,
        most_runs=most_runs,
        jobs=jobs,
        deadline=deadline,
        clock=clock,
        progress=progress,
        journal=journal,
    )
    if valid is None and isinstance(values, Recorded):
        valid = values.valid
    taken = (check for check in (valid, well_formed) if check and check(case))
    valid = _whichever_branch(case, next(taken, lambda candidate: True))
    search = _Search(case, trials, values, valid, simplifying, fed)
    if not trials.first(case):
        raise NotInteresting("the case does not fail in the way that is to be kept; there is nothing to reduce")
    finished = search.run(suspects)
    min_good = search.min_good(neighbours) if finished else None
    smallest = search.best
    if confirmed:
        search.confirm(confirm or interesting)
    if search.best is not smallest:
        min_good = None
    best = search.best
    if best is not case:
        origin = replace(best.origin, parents=(*case.origin.parents, case.id))
        best = replace(best, origin=origin)
    return Reduction(
        case=best,
        min_good=min_good,
        runs=trials.runs,
        seconds=clock() - begun,
        nodes_before=node_count(case),
        nodes_after=node_count(best),
        elements_before=elements(case),
        elements_after=elements(best),
        finished=finished,
    )


def _whichever_branch(case: Case, valid: Callable[[Case], bool]) -> Callable[[Case], bool]:
    """`valid`, and what no run takes as well, if all branches of the case itself are."""
    ways = forced(case)
    if not ways or not all(map(valid, ways)):
        return valid
    return lambda candidate: valid(candidate) and all(map(valid, forced(candidate)))


def elements(case: Case) -> int:
    """How many elements the case's inputs and constants have."""
    if case.kind != "onnx":
        return sum(int(np.prod(tensor.shape)) for tensor in instance.parse(case.model).tensors)
    sequences = [item for value in case.inputs.values() if isinstance(value, list) for item in value]
    arrays = [*tensors(case, load(case)).values(), *sequences]
    return sum(array.size for array in arrays if isinstance(array, np.ndarray))


def most_runs(symptom: str) -> int:
    """A cap on the runs for a symptom class."""
    return _MOST_RUNS_OF.get(symptom.partition(":")[0], MOST_RUNS)


class _Search:
    """The state of one reduction: what was accepted so far."""

    def __init__(
        self,
        case: Case,
        trials: Trials,
        values: Recorder,
        valid: Callable[[Case], bool],
        simplifying: int | None,
        fed: bool,
    ) -> None:
        def timely(candidate: Case) -> bool:
            trials.check()
            return valid(candidate)

        self._trials, self._values, self._valid, self._fed = trials, values, timely, fed
        self._accepted = [case]
        self._suspects: Collection[str] = ()
        self._searched: set[int] = set()
        self._holding = Holding(case.inputs.keys(), possible=not fed and case.kind == "onnx")
        self._neighbourhood = Neighbourhood(trials, values, timely)
        self._simplifier = Simplifier(trials, values, timely, simplifying)

    @property
    def best(self) -> Case:
        """The smallest case so far."""
        return self._accepted[-1]

    def run(self, suspects: Collection[str]) -> bool:
        """Go on until nothing can be simplified; false when the deadline or the cap came first."""
        self._suspects = suspects
        try:
            if self.best.kind == "onnx":
                self._structure()
            self._simplifier.run(self.best, self._accepted.append)
            while self.best.kind == "onnx" and (self._first((*LAST, *TYPED)) or self._large_bodies()):
                self._simplifier.run(self.best, self._accepted.append)
            nodes = node_count(self.best)  # what was refused with more of them may pass for what it lacked besides
            self._neighbourhood.offer(case for case in self._simplifier.passing if node_count(case) == nodes)
        except Over:
            return False
        return True

    def _structure(self) -> None:
        """The nodes that are needed, control flow and calls taken apart as long as that helps."""
        self._main_nodes()
        while self._first(STRUCTURE):
            self._main_nodes()
        while self._first(REST):
            continue
        at = 0
        while at < len(places := inner_places(self.best)):
            self._nodes(places[at], last=at == len(places) - 1)
            if places[at].size(self.best) > 1:
                at += 1  # else it is no longer among the places, and the next one has moved up

    def _large_bodies(self) -> bool:
        """Whether nodes of bodies can go that could not before all else was simple, where many are left.

        What casts and unsqueezes real values is needed until the values are plain.
        """
        before = node_count(self.best)
        if before in self._searched:
            return False
        self._searched.add(before)
        for place in inner_places(self.best):
            if place.size(self.best) >= MANY_LEFT:
                self._nodes(place, last=False)
                if node_count(self.best) < before:
                    return True
        return False

    def _main_nodes(self) -> None:
        """The nodes of the main graph; again where a smaller case tells values that the one before did not."""
        while True:
            self._trials.check()
            before = self.best
            self._nodes(MAIN)
            told = len(self._values(before)) > len(before.inputs)
            if told or len(load(self.best).graph.node) >= len(load(before).graph.node):
                return

    def _first(self, passes: Iterable[str]) -> bool:
        """Whether one of the proposals of these passes fails as well; each is tried on its own."""
        for name in passes:
            module = importlib.import_module(f"triage.passes.{name}")
            for candidate in module.candidates(self.best, self._told(name)):
                new = all(candidate.id != case.id for case in self._accepted) and self._valid(candidate)
                if new and self._trials.ask([candidate], name)[0]:
                    self._accepted.append(candidate)
                    return True
                self._neighbourhood.offer([candidate] if new and name in LAST else [])
        return False

    def _told(self, name: str) -> Mapping[str, Value]:
        """What a pass is told of the tensors of the best case.

        Where the predicate feeds inputs of its own, what is idle is judged by numbers that are not plain: on 1, 2, 3 an
        Abs and a Floor are idle.
        """
        return self._values(with_odd_inputs(self.best) if name in BY_VALUE and not self._fed else self.best)

    def _nodes(self, place: Place, *, last: bool = True) -> None:
        """The nodes that are needed at one place; at the `last` one all else is final before they are doubted."""
        case = self.best
        part = place.find(load(case))
        if len(part.node) < 2:
            return
        simpler = self._simplifier.harmless
        holding = self._holding if place is MAIN else Holding()
        cuts = Cuts(case, place, self._values, self._valid, simpler, fed=self._fed, holding=holding)

        def ask(cases: Sequence[Case]) -> list[bool]:
            return self._trials.ask(cases, "nodes")

        def accept(found: Case) -> None:
            self._accepted.append(found)
            cuts.accept(found)

        def polish(kept: Kept) -> None:
            self._simplifier.run(self.best, self._accepted.append)
            cuts.rebase(kept, self.best)

        graph = wiring(part)
        settled = place is MAIN or self._simplifier.harmless(case).id == case.id
        simple = cuts.simple if settled else (lambda kept: [])
        bare = cuts.bare if place is MAIN else (lambda kept: [])
        final = polish if last and not graph.composite else None
        misled = cuts.misled if self._fed and place is MAIN else None
        jobs, held = self._trials.jobs, cuts.held
        NodeSearch(
            graph, cuts.plain, ask, accept, self._suspects, jobs, simple, final, bare, misled, held, holding
        ).run()

    def confirm(self, confirm: Interesting) -> None:
        """Go back to the last accepted case that is confirmed once more, looked for in growing steps.

        After the deadline the best case stands as it is: it was confirmed when it was accepted.
        """
        step = 1
        while len(self._accepted) > 1 and not self._trials.over():
            if self._trials.again(self.best, confirm):
                break
            del self._accepted[max(1, len(self._accepted) - step) :]
            step *= 2

    def min_good(self, most_runs: int) -> MinGood | None:
        """The passing neighbour of the best case, for at most so many runs each time that a smaller case is met."""
        try:
            while True:
                found = self._neighbourhood.largest(self.best, most_runs)
                if self._neighbourhood.smaller is None:
                    return found
                self._accepted.append(self._neighbourhood.smaller)
        except Over:
            return None
