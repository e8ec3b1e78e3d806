"""Everything simpler at once: the cheapest way to see that shapes, values, attributes and names do not matter.

Passes propose; what the reference accepts is stacked up, each change upon the one before, and only the last
case of the stack is given to the predicate. If it refuses, bisection finds the first change that matters: what
came before it is kept, the change is never proposed again, and the stack is built anew.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from onnx import numpy_helper

from fuzz import instance
from fuzz.case import Case
from fuzz.wire import Value
from triage.difference import differences
from triage.interesting import Recorder
from triage.submodel import load, tensors
from triage.trials import Trials

#: The passes from the harmless to the risky. What `attributes` opens is declared anew at the end.
STACK: tuple[str, ...] = (
    "metadata",
    "unused",
    "results",
    "parameters",
    "constants",
    "bodies",
    "sequences",
    "shapes",
    "extents",
    "values",
    "ranks",
    "opset",
    "declarations",
    "names",
    "outputs",
    "returned",
    "optional",
    "attributes",
    "dtypes",
    "declarations",
    "instance_defaults",
    "instance_shapes",
    "instance_values",
    "instance_arguments",
    "instance_numbers",
    "instance_dtypes",
)
#: Those that change nothing that most failures could need: they go along with a cut of the nodes.
HARMLESS: tuple[str, ...] = tuple(name for name in STACK[: STACK.index("names") + 1] if name != "ranks")
#: Where runs are dear, fewer axes than this are few enough for a person.
_FEW_AXES = 3
#: The odds that what a pass changes is what the failure needs; 0.02 for those that are not named.
_ODDS: Mapping[str, float] = {
    "metadata": 0.01,
    "names": 0.01,
    "instance_defaults": 0.01,
    "ranks": 0.05,
    "outputs": 0.1,
    "returned": 0.1,
    "optional": 0.1,
    "attributes": 0.3,
    "dtypes": 0.2,
    "instance_arguments": 0.3,
    "instance_numbers": 0.5,
    "instance_dtypes": 0.2,
}
#: Passes of which one refusal is believed for all changes to the same tensors.
_COARSE = frozenset({"ranks"})
#: Passes that cut tensors off at one end or the other, which the words of a change do not tell.
_BOTH_ENDS = frozenset({"instance_shapes"})
#: A pass may add this many changes to one stack.
_MOST_OF_ONE = 16
#: One pass can open the way for another that came before it.
_ROUNDS = 3
#: Constants with at most so many numbers are settings more often than data.
_FEW_NUMBERS = 4
#: What makes a case too large for a person.
_LARGE = frozenset({"shapes", "extents"})
#: So many refusals before sizes are left as they are, where runs are dear.
_PATIENT = 2
#: Passes with odds up to this are suspected no more than sizes are.
_INNOCENT = 0.05


@dataclass(frozen=True)
class Step:
    """One change of the stack: what made it, what it changes, and the case with it and all before it."""

    name: str
    change: tuple[str, ...]
    case: Case


class Simplifier:
    """Applies the passes to one case; `refused` are the changes that the failure did not survive."""

    def __init__(
        self, trials: Trials, values: Recorder, valid: Callable[[Case], bool], most_runs: int | None = None
    ) -> None:
        self._trials, self._values, self._valid = trials, values, valid
        self._most_runs = most_runs
        self._refused: set[tuple[str, tuple[str, ...]]] = set()
        self._given_up: set[str] = set()  # passes
        self.passing: list[Case] = []
        self._spent = 0  # runs
        self._in_vain = 0  # runs that blamed the sizes for nothing, which happens once

    def run(self, case: Case, accept: Callable[[Case], None]) -> None:
        """Simplify until nothing is left to propose, or the runs are spent; what is kept goes to `accept`."""
        begun, stack = self._trials.runs - self._spent, self._rounds(case, STACK)
        while stack and ((limit := self._limit(begun, stack)) is None or self._trials.runs < limit):
            if self._sizes_matter(case, stack, accept):
                break
            kept, refused = self._longest(stack, self._patience(limit, stack))
            if kept:
                case = stack[kept - 1].case
                accept(case)
            if kept + 1 == refused <= len(stack):
                culprit = stack[kept]
                self._refused.add((culprit.name, culprit.change))
                self.passing.append(culprit.case)
            elif not kept and self._most_runs is not None:
                self._keeps_sizes(case, accept)
                break
            stack = self._rounds(case, STACK)
        self._spent = self._trials.runs - begun

    def _limit(self, begun: int, stack: Sequence[Step]) -> int | None:
        """The number of runs to stop at: half as many are enough where the sizes are human already."""
        if self._most_runs is None:
            return None
        most = self._most_runs if any(step.name in _LARGE for step in stack) else self._most_runs // 2
        return begun + most + self._in_vain

    def _patience(self, limit: int | None, stack: Sequence[Step]) -> int | None:
        """The number of runs after which sizes, which a failure needs more often than all else, are given up for it."""
        if limit is None or not any(step.name in _LARGE for step in stack):
            return limit
        return min(limit, self._trials.runs + _PATIENT)

    def _sizes_matter(self, case: Case, stack: Sequence[Step], accept: Callable[[Case], None]) -> bool:
        """Whether the stack is refused, but not what is harmless in it with the sizes as they are, which is kept.

        Where runs are dear, sizes are blamed before anything that is suspected no more than they are.
        """
        names = {step.name for step in stack}
        if self._most_runs is None or self._in_vain or not names & _LARGE:
            return False
        if any(_ODDS.get(name, 0.0) > _INNOCENT for name in names):
            return False
        if self._trials.ask([stack[-1].case], stack[-1].name)[0]:
            return False
        before = self._trials.runs
        if self._keeps_sizes(case, accept):
            self.passing += [stack[-1].case] if "ranks" not in names else []  # an axis less tells nothing of sizes
            return True
        self._given_up -= _LARGE
        self._in_vain = self._trials.runs - before
        return False

    def _keeps_sizes(self, case: Case, accept: Callable[[Case], None]) -> bool:
        """Give the sizes up; whether the failure survives all else that is still thought to be harmless, in one run."""
        self._given_up |= _LARGE
        simpler = self.harmless(case)
        if simpler.id == case.id or not self._trials.ask([simpler], HARMLESS[-1])[0]:
            return False
        accept(simpler)
        return True

    def harmless(self, case: Case) -> Case:
        """The case with everything simpler that hardly a failure needs; the predicate is not asked."""
        steps = self._rounds(case, HARMLESS, settings=True)
        return steps[-1].case if steps else case

    def _rounds(self, case: Case, passes: Sequence[str], *, settings: bool = False) -> list[Step]:
        """The stack, and what one pass opens for those that came before it; with `settings`, see `_stack`."""
        steps: list[Step] = []
        for _ in range(_ROUNDS):
            more = self._stack(steps[-1].case if steps else case, passes, settings=settings)
            if not more:
                break
            steps += more
        return steps

    def _stack(self, case: Case, passes: Sequence[str] = STACK, *, settings: bool = False) -> list[Step]:
        """Changes by these passes, each upon those before; with `settings`, small constants keep their values."""
        steps: list[Step] = []
        seen = {case.id}
        for name in passes:
            module = importlib.import_module(f"triage.passes.{name}")
            for _ in range(_MOST_OF_ONE if self._wanted(name, case) else 0):
                proposed = module.candidates(case, self._values(case))
                if settings and name == "values":
                    proposed = (other for other in proposed if _settings(other) == _settings(case))
                step = self._next(name, case, proposed)
                if step is None or step.case.id in seen:
                    break
                seen.add(step.case.id)
                if name == "declarations" and steps and steps[-1].name not in HARMLESS:
                    step = replace(steps.pop(), case=step.case)  # what follows from a change is no change of its own
                steps.append(step)
                case = step.case
        return steps

    def _wanted(self, name: str, case: Case) -> bool:
        """Whether a pass is for this kind of case, and worth a run."""
        if case.kind not in importlib.import_module(f"triage.passes.{name}").KINDS:
            return False
        if name in self._given_up:
            return False
        ranks = [array.ndim for array in tensors(case, load(case)).values()] if name == "ranks" else []
        return self._most_runs is None or not ranks or max(ranks) > _FEW_AXES

    def _next(self, name: str, case: Case, candidates: Iterator[Case]) -> Step | None:
        """The first proposal that was not refused, that the reference accepts and that still shows something."""
        telling = not self._degenerate(case)
        for candidate in candidates:
            change = _change(name, case, candidate)
            if candidate.id == case.id or (name, change) in self._refused or self._known_bad(candidate):
                continue
            if self._valid(candidate) and not (telling and self._degenerate(candidate)):
                return Step(name, change, candidate)
        return None

    def _known_bad(self, case: Case) -> bool:
        answer = self._trials.known(case)
        return answer is not None and not answer

    def _degenerate(self, case: Case) -> bool:
        """Whether a result is empty, nothing but zeros, or not finite: a witness that would prove little."""
        values = self._values(case)
        if case.kind != "onnx":
            return any(tells_nothing(value) for value in values.values())
        return any(tells_nothing(values.get(info.name)) for info in load(case).graph.output)

    # ------------------------------------------------------------ bisection

    def _longest(self, stack: list[Step], limit: int | None) -> tuple[int, int]:
        """How many steps of the stack can be kept, and the smallest number that is known to be too many."""
        low, high = self._bounds(stack)
        while high - low > 1 and (limit is None or self._trials.runs < limit):
            tested = [len(stack)] if high > len(stack) else []
            tested += self._cuts(stack, low, min(high, len(stack)), self._trials.jobs - len(tested))
            answers = self._trials.ask([stack[at - 1].case for at in tested], stack[tested[0] - 1].name)
            low = max([at for at, same in zip(tested, answers, strict=True) if same], default=low)
            high = min([at for at, same in zip(tested, answers, strict=True) if not same and at > low], default=high)
        return low, high

    def _bounds(self, stack: list[Step]) -> tuple[int, int]:
        """What is known before a run: so many steps can be kept, so many are too many."""
        answers = {at: self._trials.known(step.case) for at, step in enumerate(stack, start=1)}
        low = max([at for at, answer in answers.items() if answer], default=0)
        refused = [at for at, answer in answers.items() if answer is not None and not answer and at > low]
        return low, min(refused, default=len(stack) + 1)

    def _cuts(self, stack: list[Step], low: int, high: int, count: int) -> list[int]:
        """At most `count` positions between `low` and `high` that share the odds evenly."""
        odds = np.cumsum([_ODDS.get(step.name, 0.02) for step in stack[low:high]])
        wanted = [odds[-1] * part / (count + 1) for part in range(1, count + 1)]
        found = {low + int(np.searchsorted(odds, each)) for each in wanted}
        return sorted({min(max(at, low + 1), high - 1) for at in found} - {low, high})


def _settings(case: Case) -> dict[str, bytes]:
    """The small constants of a case: bounds, scales and the like, which say what a model does."""
    if case.kind != "onnx":
        return {}
    tensors_ = [tensor for tensor in load(case).graph.initializer if math.prod(tensor.dims) <= _FEW_NUMBERS]
    return {tensor.name: numpy_helper.to_array(tensor).tobytes() for tensor in tensors_}


def _change(name: str, before: Case, after: Case) -> tuple[str, ...]:
    """What a refused change is remembered by."""
    found = differences(before, after, named=False)
    if name in _COARSE:
        return tuple(phrase.partition(":")[0] for phrase in found)
    return (*found, *(["at the other end"] if name in _BOTH_ENDS and _at_the_end(before, after) else []))


def _at_the_end(before: Case, after: Case) -> bool:
    """Whether tensors of a call were cut off at their beginning."""
    pairs = zip(instance.parse(before.model).tensors, instance.parse(after.model).tensors, strict=False)
    cut = [(one.values, other.values) for one, other in pairs if one.shape != other.shape]
    return any(one and other and one[0] != other[0] and one[-1] == other[-1] for one, other in cut)


def tells_nothing(value: Value) -> bool:
    """Whether a result is empty, nothing but zeros, or not finite."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiuc":
        return isinstance(value, np.ndarray) and value.size == 0
    return not np.any(value) or not bool(np.all(np.isfinite(value)))
