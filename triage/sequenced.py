"""Oracle 2 by value on real compilers: what parts, what rounding explains, and the passes guilty of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fuzz import catalogue, deltas, validity
from fuzz.case import Case, Outcome, Status, Target
from fuzz.mutants.judging import noise_of
from fuzz.oracles import differential, levels, metamorphic
from fuzz.oracles.levels import BOTH, MUTATED, OPTIMISED, ORIGINAL, Parting
from fuzz.runner import Runner
from fuzz.sequences import Sequences
from fuzz.wire import Value
from triage import asking
from triage.asking import with_options

#: What is found of one sequence. AGREES also where nothing could be compared that parts.
KINDS = ("agrees", "numeric", "undefined", "wrong", "died", "unjudged")
AGREES, NUMERIC, UNDEFINED, WRONG, DIED, UNJUDGED = KINDS
#: How often a sequence is run while it is minimised.
MOST_RUNS = 60


@dataclass(frozen=True)
class Found:
    """What oracle 2 says of one sequence of steps.

    `like` and `form` are what parts (`fuzz.oracles.levels.FORMS`). `guilty` are the steps without any of which they do
    not part; none where they part without optimisation.
    """

    kind: str
    steps: tuple[str, ...] = ()
    like: str = ""
    form: str = ""
    symptom: str = ""
    detail: str = ""
    guilty: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """What tells failures of one model apart: the symptom and the guilty passes, in their order."""
        return f"{self.symptom} after {' + '.join(self.guilty)}" if self.guilty else f"{self.symptom} without any"


class Levels:
    """Holds a model against itself optimised, and against mutants of it, on one target."""

    def __init__(self, runner: Runner, original: Case, target: Target, delta: float = metamorphic.DELTA) -> None:
        self._runner, self._original, self._target, self._delta = runner, original, target, delta
        self._noises: dict[str, Sequence[Value] | None] = {}

    def sequences(self, case: Case | None = None) -> Sequences:
        """What can be drawn for a case, the original without."""
        met = asking.passes(self._runner, case or self._original, self._target)
        return Sequences(self._target.backend, tuple(met))

    def examine(self, known: Sequences, steps: Sequence[str], mutant: Case | None = None) -> Found:
        """Run the forms with and without the steps, two by two. What parts is run again in fresh processes."""
        plain, optimised = self._targets(known, steps)
        runs = self._forms(plain, optimised, mutant)
        found = self.compare(runs, known.coarser(steps))
        found = replace(found, steps=tuple(steps))
        if found.kind not in (WRONG, DIED) or {found.like, found.form}.isdisjoint((OPTIMISED, BOTH)):
            return found
        return replace(found, guilty=self._guilty(known, steps, mutant, found))

    def across(self, options: Mapping[str, str], mutant: Case | None = None) -> Found:
        """The same for a device, or another way to compute the same: the target with other options (oracle 3)."""
        other = with_options(self._target, **options)
        steps = tuple(f"{key}={value}" for key, value in sorted(options.items()))
        found = self.compare(self._forms(self._target, other, mutant))
        blamed = found.kind in (WRONG, DIED) and not {found.like, found.form}.isdisjoint((OPTIMISED, BOTH))
        return replace(found, steps=steps, guilty=steps if blamed else ())

    def compare(self, runs: Mapping[str, tuple[Case, Target]], coarser: float = 1.0) -> Found:
        """What the forms do, each a case on a target. Rounding may be `coarser` times that of float32."""
        first = self._outcomes(runs, self._runner.run)
        if first[ORIGINAL].status is not Status.OK:
            return Found(UNJUDGED, detail=f"the original does not run: {first[ORIGINAL].status}")
        if not levels.partings(first, self._delta):
            return Found(AGREES)
        outcomes = self._outcomes(runs, self._runner.run_fresh)
        weighed = [self._weighed(each, runs, outcomes, coarser) for each in levels.partings(outcomes, self._delta)]
        return min(weighed, key=lambda each: _WEIGHT.index(each.kind), default=Found(AGREES))

    def _targets(self, known: Sequences, steps: Sequence[str]) -> tuple[Target, Target]:
        without, chosen = known.options(()), known.options(steps)
        return with_options(self._target, **without), with_options(self._target, **{**without, **chosen})

    def _forms(self, plain: Target, optimised: Target, mutant: Case | None) -> dict[str, tuple[Case, Target]]:
        found = {ORIGINAL: (self._original, plain), OPTIMISED: (self._original, optimised)}
        return found if mutant is None else found | {MUTATED: (mutant, plain), BOTH: (mutant, optimised)}

    def _outcomes(
        self, runs: Mapping[str, tuple[Case, Target]], run: Callable[[Case, Target], Outcome]
    ) -> dict[str, Outcome]:
        return {form: run(case, target) for form, (case, target) in runs.items()}

    def _weighed(
        self,
        parting: Parting,
        runs: Mapping[str, tuple[Case, Target]],
        outcomes: Mapping[str, Outcome],
        coarser: float,
    ) -> Found:
        """What a parting is worth: more than rounding, and nothing that the specification leaves open."""
        told = Found(WRONG, (), parting.like, parting.form, parting.symptom, parting.detail)
        if not parting.symptom.startswith("wrong:"):
            return replace(told, kind=DIED)
        pair = (parting.like, parting.form)
        if parting.symptom in differential.FORMS:
            return told
        noises = [self._noise(runs[form][0], coarser) for form in pair]
        known = [each for each in noises if each is not None]
        if len(known) < len(noises):
            detail = f"{told.detail}, and float64 cannot tell what rounding makes of it"
            return replace(told, kind=UNJUDGED, detail=detail)
        one, other = (outcomes[form].values for form in pair)
        if metamorphic.is_numeric(other, one, known, self._delta):
            return replace(told, kind=NUMERIC)
        excuse = self._undefined(runs[parting.form][0], outcomes[parting.form])
        return replace(told, kind=UNDEFINED, detail=excuse) if excuse else told

    def _noise(self, case: Case, coarser: float) -> Sequence[Value] | None:
        if case.id not in self._noises:
            self._noises[case.id] = noise_of(self._runner, case)
        noise = self._noises[case.id]
        if noise is None or coarser == 1.0:
            return noise
        return [each * coarser if isinstance(each, np.ndarray) else each for each in noise]

    def _undefined(self, case: Case, outcome: Outcome) -> str:
        """Why a difference is not the compiler's fault: behaviour that the specification leaves open. Else ""."""
        recorded = validity.recorded(self._runner, case, catalogue.target("reference"))
        return validity.undefined_behaviour(case, recorded, {name for name, _ in outcome.outputs})

    def _guilty(self, known: Sequences, steps: Sequence[str], mutant: Case | None, found: Found) -> tuple[str, ...]:
        """The fewest steps, in their order, with which the same pair parts with the same symptom."""

        def parts(kept: frozenset[int]) -> bool:
            plain, optimised = self._targets(known, [steps[at] for at in sorted(kept)])
            runs = self._forms(plain, optimised, mutant)
            pair = {form: runs[form] for form in (ORIGINAL, found.like, found.form)}
            met = levels.partings(self._outcomes(pair, self._runner.run), self._delta)
            wanted = (found.like, found.form, found.symptom)
            return any((each.like, each.form, each.symptom) == wanted for each in met)

        return tuple(steps[at] for at in sorted(deltas.smallest(range(len(steps)), parts, most_runs=MOST_RUNS)))


#: What is told of several pairs that part: the worst.
_WEIGHT = (DIED, WRONG, UNJUDGED, UNDEFINED, NUMERIC, AGREES)
