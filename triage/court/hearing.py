"""The hearing of one case: what the kinds of evidence may look at, and the order in which they are asked."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fuzz.backends
from fuzz import catalogue, judge, registry, validity
from fuzz.case import Case, Outcome, Status, Target
from fuzz.lane import Limits
from fuzz.runner import Runner
from fuzz.validity import Reference
from fuzz.wire import Value
from fuzz.zygote import BackendUnavailable
from triage.court import measure
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.court.thresholds import thresholds
from triage.court.weigh import weigh

#: The order of gathering: what settles a case at once comes first, what is dear comes last.
ORDER = (
    "environment",
    "validity",
    "unsupported",
    "opset",
    "random",
    "undefined",
    "repeats",
    "memory",
    "float64",
    "ties",
    "provenance",
    "votes",
    "levels",
    "threads",
)
#: The evaluation in float64 and under noise; a worker's backend that no registry lists.
WIDENED = str(Path(fuzz.backends.__file__).with_name("_widened.py"))


@dataclass(frozen=True)
class Court:
    """Where hearings are held: `seconds` for all the evidence of one case, None for what the data file says."""

    runner: Runner
    reference: Target
    seconds: float | None = None

    def hear(self, case: Case, target: Target, perturb: int | None = None) -> Judgement:
        """Run the case, gather evidence, and judge.

        `perturb` is the byte that fresh memory must be filled with for the failure to show.
        """
        begun = time.monotonic()
        try:
            outcome = self.runner.run_fresh(case, target, perturb=perturb)
        except BackendUnavailable as problem:
            sentence = f"{registry.backend(target.backend).name} does not work here: {problem}"
            told = Evidence("environment", Side.FOR, sentence, {}, Ruling.ENVIRONMENT)
            return weigh([_charge_of(target, case, "", "", False), told])
        [known] = validity.judge(self.runner, [case], self.reference)
        deadline = begun + (thresholds().seconds if self.seconds is None else self.seconds)
        hearing = Hearing(self.runner, self.reference, case, target, outcome, known, deadline, perturb)
        return hearing.judged()


@dataclass(frozen=True)
class Widened:
    """The outputs in float64 and the noise of each; `said` is what the evaluation tells of itself."""

    wide: tuple[Value, ...]
    noise: tuple[Value, ...]
    said: Mapping[str, Any]


@dataclass(frozen=True)
class Hearing:
    """One failing case before the court. What costs time is done once, and only when it is asked for.

    `outcome` is the compiler's in a fresh process, `known` the reference's. `deadline` is in monotonic seconds.
    """

    runner: Runner
    reference: Target
    case: Case
    target: Target
    outcome: Outcome
    known: Reference
    deadline: float
    perturb: int | None = None

    def judged(self) -> Judgement:
        """Gather evidence until some of it settles the case, and weigh it."""
        gathered = [self._charge()]
        if self._passes():
            return Judgement(None, "the result agrees with the reference")
        for kind in ORDER:
            module = importlib.import_module(f"triage.court.kinds.{kind}")
            if self.manner not in module.SYMPTOMS:
                continue
            found = module.gather(self)
            if found is not None:
                gathered.append(found)
                if found.settles is not None:
                    break
        return weigh(gathered)

    def _passes(self) -> bool:
        open_question = bool(self.known.invalid or self.known.incomparable)
        return self.outcome.status is Status.OK and not self.symptom[0] and not open_question

    def _charge(self) -> Evidence:
        """What the compiler stands accused of."""
        return _charge_of(self.target, self.case, *self.symptom, self.is_near_miss)

    @cached_property
    def symptom(self) -> tuple[str, str]:
        """(symptom, sentence) of the oracles, or of the stricter tolerance that only the court applies."""
        found, detail = judge.symptom(self.outcome, self.known)
        if not found and self._may_be_near and (near := measure.near_miss(self.actual, self.expected)):
            return "wrong:values", near
        return found, detail

    @cached_property
    def is_near_miss(self) -> bool:
        """Whether only the court objects, not the oracle of a hunt."""
        return bool(self.symptom[0]) and not judge.symptom(self.outcome, self.known)[0]

    @property
    def _may_be_near(self) -> bool:
        return self.outcome.status is Status.OK and not (self.known.invalid or self.known.incomparable)

    @property
    def manner(self) -> str:
        """``wrong`` or ``death`` (everything that has no result)."""
        return "wrong" if self.outcome.status is Status.OK else "death"

    @property
    def compares_values(self) -> bool:
        """Whether only values differ. Where shapes or dtypes do, the values prove nothing."""
        return self.manner == "wrong" and measure.comparable(self.actual, self.expected)

    @property
    def actual(self) -> list[Value]:
        """The compiler's outputs."""
        return judge.values(self.outcome)

    @property
    def expected(self) -> list[Value]:
        """The reference's outputs."""
        return judge.values(self.known.outcome)

    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def hurried(self) -> bool:
        """Whether no further compiler should be asked."""
        return self.left() < thresholds().reserve

    def limits(self, most: float | None = None) -> Limits:
        """The limits of one more run: `most` seconds, without it the runner's own, and not much past the deadline."""
        usual = self.runner.limits
        return Limits(max(1.0, min(most or usual.seconds, self.left())), usual.memory_mb)

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """Every tensor of the main graph by name, as the reference evaluates it."""
        return validity.recorded(self.runner, self.case, self.reference)

    @cached_property
    def repeated(self) -> Sequence[Outcome]:
        """The compiler's outcomes in further fresh processes."""
        found: list[Outcome] = []
        slow = self.outcome.status is Status.TIMEOUT
        for _ in range(1 if slow else thresholds().repeats - 1):
            if found and self.hurried():
                break
            found.append(self.runner.run_fresh(self.case, self.target, perturb=self.perturb))
        return found

    @cached_property
    def widened(self) -> Widened | None:
        """The case in float64, None where it has no such form or the evaluation fails."""
        limits = Limits(max(5.0, self.left()), max(4096, self.runner.limits.memory_mb))
        outcome = self.runner.run_fresh(self.case, catalogue.target(WIDENED), limits=limits)
        found = dict(outcome.outputs)
        if outcome.status is not Status.OK or "said" not in found:
            return None
        said, count = found["said"], len(self.expected)
        assert isinstance(said, np.ndarray)
        wide = tuple(found.get(f"wide/{at}") for at in range(count))
        noise = tuple(found.get(f"noise/{at}") for at in range(count))
        return Widened(wide, noise, json.loads(said.item()))


def _charge_of(target: Target, case: Case, symptom: str, detail: str, near: bool) -> Evidence:
    """`near`: only the court objects, not the oracle of a hunt."""
    name = registry.backend(target.backend).name
    figures = {"symptom": symptom, "backend": name, "near": near, "kind": case.kind}
    return Evidence("charge", Side.AGAINST if symptom else Side.NEUTRAL, detail, figures)
