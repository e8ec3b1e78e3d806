"""Judges mutants on one compiler by oracle 3, and parts logic errors from rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import fuzz.backends
from fuzz import catalogue
from fuzz.case import Case, Outcome, Status, Target
from fuzz.oracles import crash, metamorphic
from fuzz.runner import Runner
from fuzz.wire import Value

#: The evaluation in float64 and under noise; a worker's backend that no registry lists.
WIDENED = str(Path(fuzz.backends.__file__).with_name("_widened.py"))
AGREES, NUMERIC, WRONG, DIED, UNJUDGED = KINDS = ("agrees", "numeric", "wrong", "died", "unjudged")

#: What rounding may do, too.
_OF_ROUNDING = frozenset(("wrong:label", "wrong:score", "wrong:nan", "wrong:inf"))


@dataclass(frozen=True)
class Finding:
    """What oracle 3 says of one mutant, one of `KINDS`.

    ``numeric``: a deviation that rounding explains. ``died``: a crash, a hang or an exception where the original
    runs. ``unjudged``: the compiler does not take the original or the mutant, or is not steady; `detail` says why.
    `symptom` is a class for ``wrong``, ``numeric`` and ``died``; `distance` the largest difference of two scores.
    """

    kind: str
    symptom: str = ""
    detail: str = ""
    distance: float = 0.0


class Judge:
    """Compares mutants with their original on one target. What the original does there is run once."""

    def __init__(self, runner: Runner, original: Case, target: Target, delta: float = metamorphic.DELTA) -> None:
        self._runner, self._original, self._target, self._delta = runner, original, target, delta

    def examine(self, mutant: Case) -> Finding:
        """Run the mutant; what looks wrong is run again in fresh processes before it counts."""
        if self.known.status is not Status.OK:
            return self._without_original()
        return self.judged(mutant, self._runner.run(mutant, self._target))

    def judged(self, mutant: Case, first: Outcome) -> Finding:
        """The same of a mutant that has been run: `first` is what it did."""
        if self.known.status is not Status.OK:
            return self._without_original()
        if self._suspicion(first, self.known) is None:
            return self._unsuspicious(first)
        outcome, known = (self._runner.run_fresh(case, self._target) for case in (mutant, self._original))
        suspicion = self._suspicion(outcome, known) if known.status is Status.OK else None
        if suspicion is None:
            return Finding(UNJUDGED, detail="it deviated once, not in fresh processes")
        return self._weighed(suspicion, mutant, outcome, known)

    def deviates(self, mutant: Case, distance: float) -> bool:
        """Whether the mutant dies or deviates by at least `distance`. Quick: nothing is run again, nor in float64."""
        if self.known.status is not Status.OK:
            return False
        outcome = self._runner.run(mutant, self._target)
        if crash.symptom(outcome):
            return True
        if outcome.status is not Status.OK:
            return False
        found = metamorphic.compare(outcome.values, self.known.values, self._delta)
        return found is not None and found.distance >= distance

    @cached_property
    def known(self) -> Outcome:
        """What the original does on the target."""
        return self._runner.run(self._original, self._target)

    @cached_property
    def _noise(self) -> Sequence[Value] | None:
        return noise_of(self._runner, self._original)

    def _without_original(self) -> Finding:
        return Finding(UNJUDGED, detail=f"the original does not run: {crash.said(self.known)}")

    def _unsuspicious(self, outcome: Outcome) -> Finding:
        return Finding(AGREES) if outcome.status is Status.OK else Finding(UNJUDGED, detail=crash.said(outcome))

    def _suspicion(self, outcome: Outcome, known: Outcome) -> Finding | None:
        died = crash.symptom(outcome)
        if died:
            return Finding(DIED, died, crash.said(outcome))
        if outcome.status is not Status.OK:
            return None
        found = metamorphic.compare(outcome.values, known.values, self._delta)
        return Finding(WRONG, found.symptom, found.detail, found.distance) if found else None

    def _weighed(self, suspicion: Finding, mutant: Case, outcome: Outcome, known: Outcome) -> Finding:
        """The suspicion, unless the noise of both graphs explains it. Without float64 no score is called wrong."""
        if suspicion.symptom not in _OF_ROUNDING:
            return suspicion
        noises = [self._noise, noise_of(self._runner, mutant)]
        told = [each for each in noises if each is not None]
        if len(told) < len(noises):
            return Finding(UNJUDGED, detail=f"{suspicion.detail}, and float64 cannot tell what rounding makes of it")
        if metamorphic.is_numeric(outcome.values, known.values, told, self._delta):
            return replace(suspicion, kind=NUMERIC)
        return suspicion


def noise_of(runner: Runner, case: Case) -> Sequence[Value] | None:
    """What rounding may do to each element of each output, by runs in float64; None where they fail."""
    outcome = runner.run_fresh(case, catalogue.target(WIDENED), limits=catalogue.PATIENT)
    found = dict(outcome.outputs)
    if outcome.status is not Status.OK:
        return None
    return [found[f"noise/{at}"] for at in range(sum(name.startswith("noise/") for name in found))]
