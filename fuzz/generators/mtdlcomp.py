"""Mutants of small seeds (`fuzz.mutants`) as cases: each must give what its seed gives, which the reference knows.

A campaign holds them against the reference like any case; `graphwarden mutate --backend` compares them with their
original on the same compiler.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from fuzz.backends._profiled import profile
from fuzz.case import Case
from fuzz.generators import Skip
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
#: Mutations of one series, and how many lie between two cases. The paper takes every tenth of a thousand.
MUTATIONS, EVERY = 300, 10


def cases(seed: int) -> Iterator[Case | Skip]:
    """A series of mutants of each seed, the mutants with few mutations first."""
    series: dict[str, _Series] = {}
    for _ in range(MUTATIONS // EVERY):
        for name in SEEDS:
            if name not in series:
                series[name] = _Series(name, seed)
            yield series[name].next()


class _Series:
    """The iterative mutation of one seed."""

    def __init__(self, name: str, seed: int) -> None:
        case = seed_case(name, seed)
        model = onnx.load_model_from_string(case.model)
        self._subject = Subject(case, profile_of(profile(model, dict(case.inputs))))
        self._mutant = self._subject.mutant()
        self._mutator = Mutator(self._mutant, self._subject.profile, seed)
        self._count = 0

    def next(self) -> Case:
        """The mutant after `EVERY` more mutations."""
        for _ in range(EVERY):
            self._mutator.mutate()
        self._count += EVERY
        return self._subject.case_of(self._mutant, self._count)
