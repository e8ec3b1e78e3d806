"""The largest case that passes although it differs from the smallest failing one in a single thing.

Zeller's "isolating failure-inducing input" (TSE 28(2), 2002) narrows both ends; here the failing end is narrow
already, and the changes that it did not survive are known from the reduction. Those that are still a single
change away from it are free; only then are runs spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fuzz.case import Case
from triage import near_instance
from triage.difference import CONSEQUENCE, differences
from triage.interesting import Recorder
from triage.near import (
    given_otherwise,
    other_attributes,
    other_dtypes,
    other_operator,
    other_shapes,
    other_values,
    without_a_node,
)
from triage.operators import node_count
from triage.simplify import tells_nothing
from triage.trials import Answer, Trials, structure

#: With at most so many runs to spend, the likeliest neighbour comes first, not the largest.
_DEAR = 3


#: How a difference begins that takes a node away and hands on what it read.
COPIED = "Identity in the place of "


@dataclass(frozen=True)
class MinGood:
    """A case that passes, and what is different: "axis of Softmax: 1 -> 0", as seen from the failing case."""

    case: Case
    difference: str


class Neighbourhood:
    """Looks for the passing neighbour of a case; `offer` it cases that were refused on the way."""

    def __init__(self, trials: Trials, values: Recorder, valid: Callable[[Case], bool]) -> None:
        self._trials, self._values, self._valid = trials, values, valid
        self._offered: list[Case] = []
        self.smaller: Case | None = None  # a neighbour with fewer nodes that fails as well

    def offer(self, cases: Iterable[Case]) -> None:
        """Cases whose answer is known."""
        self._offered += cases

    def largest(self, case: Case, most_runs: int) -> MinGood | None:
        """The best neighbour that passes, for at most so many runs. May raise triage.trials.Over.

        None with `smaller` set when a smaller failing case came to light instead.
        """
        self.smaller = None
        if self._fails_alone(case):
            return None
        free = [other for other in self._offered if self._passes(other) and _single(case, other)]
        largest = max(free, key=lambda other: (node_count(other), len(other.model)), default=None)
        if largest is not None and self._tells(largest):
            return self._told(case, largest)
        limit = self._trials.runs + most_runs
        for other in self._proposed(case, most_runs <= _DEAR):
            if self._trials.known(other) is not None and not self._passes(other):
                continue
            if self._trials.known(other) is None and self._trials.runs >= limit:
                break
            [fails] = self._trials.ask([other], "neighbour")
            if self._passes(other):
                return self._told(case, other)
            if fails and node_count(other) < node_count(case):
                self.smaller = other
                return None
        return self._told(case, largest) if largest is not None else None

    def _fails_alone(self, case: Case) -> bool:
        """Whether one of two nodes is enough that was never asked about alone, since larger parts without the other
        passed; of a bug that is not monotone that tells little. What passes is a neighbour."""
        alone = without_a_node(case, self._values(case)) if _pair(case) else ()
        for other in alone:
            if structure(other) in self._trials.structures or not self._valid(other):
                continue
            if self._trials.ask([other], "neighbour")[0]:
                self.smaller = other
                return True
            self.offer([other])
        return False

    def _tells(self, case: Case) -> bool:
        """Whether the result of a call is other than zero, which many mistakes give; models are not asked."""
        return case.kind == "onnx" or not any(tells_nothing(value) for value in self._values(case).values())

    def _passes(self, case: Case) -> bool:
        return self._trials.known(case) is Answer.PASSES

    def _told(self, case: Case, other: Case) -> MinGood:
        return MinGood(other, " ".join(_single(case, other)))

    def _proposed(self, case: Case, dear: bool) -> Iterator[Case]:
        """Valid neighbours, each once."""
        variants = self._variants(case, dear) if case.kind == "onnx" else self._telling_first(case)
        for other in variants:
            if other.id != case.id and self._valid(other) and _single(case, other):
                yield other

    def _telling_first(self, case: Case) -> Iterator[Case]:
        """The variants of a call; those that tell nothing come last."""
        later = []
        for other in near_instance.variants(case):
            if self._tells(other):
                yield other
            else:
                later.append(other)
        yield from later

    def _variants(self, case: Case, dear: bool) -> Iterator[Case]:
        """What people would try first; where runs are dear, what a change of the structure is likelier to flip."""
        if dear:
            yield from self._unasked_first(without_a_node(case, self._values(case)))
            yield from other_operator(case)
        yield from other_attributes(case)
        yield from given_otherwise(case)
        yield from other_dtypes(case)
        yield from without_a_node(case, self._values(case))
        yield from other_values(case)
        yield from other_shapes(case)
        yield from other_operator(case)

    def _unasked_first(self, cases: Iterable[Case]) -> list[Case]:
        """First those of whose structure nobody knows anything yet: of bugs that are not monotone one may fail."""
        return sorted(cases, key=lambda case: structure(case) in self._trials.structures)


def _pair(case: Case) -> bool:
    return case.kind == "onnx" and len(structure(case)) == 2


def _single(case: Case, other: Case) -> list[str]:
    """The one difference between two cases, nothing when there are more; what follows from it is not counted."""
    found = [phrase for phrase in differences(case, other) if not phrase.startswith(CONSEQUENCE)]
    if len(found) == 2 and found[0].startswith("without ") and found[1] == "with Identity":
        found = [f"{COPIED}{found[0].removeprefix('without ')}"]
    return found if len(found) == 1 else []
