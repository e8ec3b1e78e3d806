"""Oracle 2 for `graphwarden mutate --sequences` and `--devices`: models optimised otherwise, and for other devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bot.failures import Refusal
from fuzz import sequences
from fuzz.case import Case, Target
from fuzz.mutants.model import MutantModel
from fuzz.mutants.subject import Subject
from fuzz.runner import Runner
from triage.sequenced import DIED, WRONG, Found, Levels


@dataclass
class LevelCheck:
    """The mutants of one subject on one target, each with `drawn` sequences, and on other `devices`.

    `counts` are by kind of what was found; `failures` are told, those of one signature once. Raises Refusal for a
    backend whose optimisations cannot be put in sequences.
    """

    runner: Runner
    subject: Subject
    target: Target
    delta: float
    drawn: int
    devices: bool
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            found = self.runner.devices(self.target) if self.devices else []
            self._elsewhere = sequences.devices(self.target.backend, found)
        except sequences.NoSequences as error:
            raise Refusal(f"--sequences: {error}") from error
        self._levels = Levels(self.runner, self.subject.case, self.target, self.delta)
        self._seen: set[str] = set()

    def examine(self, number: int, mutant: MutantModel) -> None:
        """Hold the seed, the mutant and both as they are optimised against each other."""
        for found in self._found(number, self.subject.case_of(mutant, number)):
            self.counts[found.kind] += 1
            if found.kind in (WRONG, DIED) and found.signature not in self._seen:
                self._seen.add(found.signature)
                self.failures.append(_told(number, found))

    def _found(self, number: int, case: Case) -> Iterator[Found]:
        known = self._levels.sequences(case)
        for at in range(self.drawn):
            steps = known.draw(f"{self.seed}/{number}/{at}")
            yield self._levels.examine(known, steps, case)
        for options in self._elsewhere if self.devices else ():
            yield self._levels.across(options, case)


def _told(number: int, found: Found) -> dict[str, Any]:
    return {
        "mutant": number,
        "symptom": found.symptom,
        "detail": f"{found.form} against {found.like}: {found.detail}",
        "steps": list(found.steps),
        "guilty": list(found.guilty),
        "signature": found.signature,
    }
