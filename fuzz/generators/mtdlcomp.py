"""Mutants of small seeds (`fuzz.mutants`) as cases: each must give what its seed gives on the same compiler.

The seeds are cases, too, which the reference judges.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

import onnx

from fuzz.backends._profiled import profile
from fuzz.case import Case
from fuzz.generators import MUTANT, Skip
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.mutator import Mutator
from fuzz.mutants.profile import profile_of
from fuzz.mutants.subject import Subject, seed_case

NAME = "mtdlcomp"
#: Cases in a row when several sources share a campaign.
PER_TURN = 4
#: Its models are large beside operator tests.
ON_REQUEST = True
#: Seeds whose mutants stay small enough to be run by the hundred.
SEEDS = ("lstm", "transformer", "unet")
#: Mutations of one series, and how many lie between two cases. The paper takes every tenth of a thousand; what rounding
#: makes of a failing mutant takes seconds for each hundred of them.
MUTATIONS, EVERY = 60, 5


def cases(seed: int) -> Iterator[Case | Skip]:
    """The seeds, and a series of mutants of each, the mutants with few mutations first."""
    series = {name: _Series(name, seed) for name in SEEDS}
    for each in series.values():
        yield each.subject.case
    for _ in range(MUTATIONS // EVERY):
        for each in series.values():
            yield each.next()


def original(case: Case) -> Case:
    """The seed of a mutant."""
    return _seed(case.origin.test.partition("/")[0], case.origin.seed)


@functools.lru_cache(maxsize=8)
def _seed(name: str, seed: int) -> Case:
    return seed_case(name, seed)


def again(case: Case) -> tuple[Subject, list[Mutation]]:
    """The subject and the mutations of a mutant, drawn again from its origin."""
    name, _, count = case.origin.test.partition("/")
    series = _Series(name, case.origin.seed)
    return series.subject, series.mutate(int(count))


class _Series:
    """The iterative mutation of one seed."""

    def __init__(self, name: str, seed: int) -> None:
        case = _seed(name, seed)
        model = onnx.load_model_from_string(case.model)
        self.subject = Subject(case, profile_of(profile(model, dict(case.inputs))))
        self._mutant = self.subject.mutant()
        self._mutator = Mutator(self._mutant, self.subject.profile, seed)
        self._count = 0

    def next(self) -> Case:
        """The mutant after `EVERY` more mutations."""
        self._count += len(self.mutate(EVERY))
        case = self.subject.case_of(self._mutant, self._count)
        return replace(case, origin=replace(case.origin, variant=MUTANT))

    def mutate(self, count: int) -> list[Mutation]:
        """So many more mutations."""
        return [self._mutator.mutate() for _ in range(count)]
