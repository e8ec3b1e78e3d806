"""The smallest mutant that still fails beside its original: the fewest mutations (section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzz.case import Case
from fuzz.mutants.judging import Finding, Judge
from fuzz.mutants.minimise import minimise
from fuzz.mutants.model import MutantModel
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.subject import Subject
from fuzz.oracles.metamorphic import DELTA

#: How often a mutant is run while its mutations are minimised.
MOST_RUNS = 300


@dataclass(frozen=True)
class Smallest:
    """The mutant after the mutations of the indices `kept`."""

    kept: tuple[int, ...]
    mutant: MutantModel
    case: Case


def smallest(
    judge: Judge,
    subject: Subject,
    mutations: Sequence[Mutation],
    finding: Finding,
    delta: float = DELTA,
    over: Callable[[], bool] = lambda: False,
) -> Smallest:
    """The mutant with the fewest of `mutations` of which `judge` gives a finding of the same kind.

    `finding` is that on all of them. Where a deviation that was followed turns out to be too small, all are kept. Once
    it is `over`, what has been found is the answer.
    """
    number = mutations[-1].index

    def made(chosen: frozenset[int]) -> Smallest:
        mutant = subject.replayed(mutations, chosen, freeze=True)
        return Smallest(tuple(sorted(chosen)), mutant, subject.case_of(mutant, number))

    def deviates(chosen: frozenset[int]) -> bool:
        return not over() and judge.deviates(made(chosen).case, min(finding.distance, 10 * delta))

    found = made(minimise(mutations, deviates, MOST_RUNS))
    if judge.examine(found.case).kind == finding.kind:
        return found
    mutant = subject.replayed(mutations)
    return Smallest(tuple(each.index for each in mutations), mutant, subject.case_of(mutant, number))
