"""The hearing of one case: what the kinds of evidence may look at, and the order in which they are asked."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fuzz.backends
from fuzz import catalogue, judge, registry, validity
from fuzz.case import Case, Outcome, Status, Target
from fuzz.limits import Limits
from fuzz.oracles import differential
from fuzz.runner import Runner
from fuzz.validity import Reference
from fuzz.wire import Value
from fuzz.zygote import BackendUnavailable
from triage.court import measure, openness, refusal
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.court.restated import against_reference
from triage.court.thresholds import thresholds
from triage.court.weigh import weigh

#: The order of gathering: what settles a case at once comes first, what is dear comes last.
ORDER = (
    "environment",
    "validity",
    "unsupported",
    "opset",
    "library",
    "random",
    "undefined",
    "steps",
    "layers",
    "repeats",
    "memory",
    "precision",
    "float64",
    "second",
    "ties",
    "provenance",
    "votes",
    "levels",
    "devices",
    "threads",
)
#: Who is held against the reference where that one is accused.
WITNESSES = ("onnxruntime", "openvino", "tvm")
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
        if registry.backend(target.backend).name == registry.backend(self.reference.backend).name:
            return self._hear_reference(case)
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

    def _hear_reference(self, case: Case) -> Judgement:
        """The reference stands accused: compilers that contradict it are heard until one of them turns out right."""
        if case.kind == "onnx" and (refused := refusal.heard(self.runner, self.reference, case)) is not None:
            return refused
        last = Judgement(None, "no other implementation contradicts the reference")
        for name in WITNESSES if case.kind == "onnx" else ():
            if name not in registry.names():
                continue
            judgement = self.hear(case, catalogue.target(name))
            if judgement.verdict is Ruling.REFERENCE_BUG:
                return against_reference(judgement, name)
            last = judgement if judgement.verdict is not None else last
        return last


@dataclass(frozen=True)
class Widened:
    """The outputs in float64 and the noise of each; `said` is what the evaluation tells of itself.

    `places` is the noise of what operators like ArgMax pick from, by the name of their first output. `second` are the
    outputs by code that is not the reference's, where that code disagrees with the reference's operators.
    """

    wide: tuple[Value, ...]
    noise: tuple[Value, ...]
    said: Mapping[str, Any]
    places: Mapping[str, np.ndarray] = field(default_factory=dict)
    second: tuple[Value, ...] = ()

    @property
    def truth(self) -> tuple[Value, ...]:
        """The outputs in float64: by the specification's words where the reference's operators do not keep to them."""
        return self.second if len(self.second) == len(self.wide) else self.wide


@dataclass(frozen=True)
class Hearing:
    """One failing case before the court. What costs time is done once, and only when it is asked for.

    `masks` say which elements are open, where some are; where `formal`, all values are, and only dtypes, shapes and the
    number of outputs are in question.
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
    masks: openness.Masks | None = None
    formal: bool = False

    def judged(self) -> Judgement:
        """Gather evidence until some of it settles the case, and weigh it."""
        if self._passes():
            return Judgement(None, "the result agrees with the reference")
        return weigh(self._gathered())

    def _gathered(self) -> list[Evidence]:
        gathered, hearing = [self._charge()], self
        for kind in ORDER:
            module = importlib.import_module(f"triage.court.kinds.{kind}")
            if self.manner not in module.SYMPTOMS:
                continue
            found = module.gather(hearing)
            if found is not None:
                gathered.append(found)
                if found.settles is not None:
                    break
                if found.figures.get("defined"):
                    hearing = hearing.defined()
                    gathered[0] = hearing._charge()
        return gathered

    @cached_property
    def errs_where_defined(self) -> bool:
        """Whether results differ in elements that the specification does not leave open."""
        if not self.compares_values:
            return False
        masks = self._open
        return masks is not None and bool(self._without(masks).symptom[0])

    @cached_property
    def errs_beside_random(self) -> bool:
        """Whether results differ in elements that hang on no random number."""
        masks = self._random if self.compares_values else None
        return masks is not None and bool(self._without(masks).symptom[0])

    @cached_property
    def errs_in_form(self) -> bool:
        """Whether dtypes, shapes or the number of outputs differ, in which no open or random value has a part."""
        if self.formal or self.manner != "wrong" or self.compares_values or self.known.outcome.status is not Status.OK:
            return self.formal
        if differential.misdeclared(self.actual, self.expected):
            return True
        names = [name for name, _ in self.known.outcome.outputs]
        pairs = zip(names, self.actual, self.expected, strict=True)
        other = {name for name, one, two in pairs if not measure.comparable([one], [two])}
        return openness.sizes_stand(self.runner, self.reference, self.case, self.values, self.expected, other)

    @cached_property
    def _random(self) -> openness.Masks | None:
        """What hangs on random numbers."""
        outputs = self.known.outcome.outputs
        return openness.random_masks(self.runner, self.reference, self.case, self.values, outputs)

    @cached_property
    def _open(self) -> openness.Masks | None:
        """What the specification leaves open, together with what is known to be open already."""
        names = [name for name, _ in self.known.outcome.outputs]
        known = self.masks or tuple(np.zeros(()) for _ in names)
        asked = {name for name, mask in zip(names, known, strict=True) if not mask.size or not mask.all()}
        found = openness.open_masks(self.runner, self.reference, self.case, self.values, self.expected, asked)
        if found is None or self.masks is None:
            return found
        return tuple(one | other for one, other in zip(found, self.masks, strict=True))

    def defined(self) -> Hearing:
        """The same hearing of what is not open: in all that is, the compiler's result is taken for right."""
        if self.errs_in_form:
            return replace(self, known=replace(self.known, incomparable=""), formal=True)
        random = bool(self.known.incomparable)
        masks = self._random if random else self._open
        assert masks is not None
        return self._without(masks)

    def _without(self, masks: openness.Masks) -> Hearing:
        known = replace(self.known, incomparable="")
        return replace(self, outcome=self._closed(self.outcome, masks), masks=masks, known=known)

    def heard_of(self, outcome: Outcome) -> Outcome:
        """Another outcome, of the compiler or of another one, without what is open in it."""
        return outcome if self.masks is None else self._closed(outcome, self.masks)

    def _closed(self, outcome: Outcome, masks: openness.Masks) -> Outcome:
        ordered = openness.in_order(outcome, self.case, self.values)
        ordered = openness.of_equal_values(ordered, self.case, self.expected)
        return openness.defined(ordered, self.expected, masks)

    def _passes(self) -> bool:
        open_question = bool(self.known.invalid or self.known.incomparable)
        return self.outcome.status is Status.OK and not self.symptom[0] and not open_question

    def _charge(self) -> Evidence:
        """What the compiler stands accused of."""
        return _charge_of(self.target, self.case, *self.symptom, self.is_near_miss)

    @cached_property
    def symptom(self) -> tuple[str, str]:
        """(symptom, sentence) of the oracles, or of the stricter tolerance that only the court applies."""
        found, detail = judge.symptom(self.outcome, self.known, judge.rule(self.target))
        if not found and self._may_be_near and (near := measure.near_miss(self.actual, self.expected)):
            return "wrong:values", near
        return found, detail

    @cached_property
    def is_near_miss(self) -> bool:
        """Whether only the court objects, not the oracle of a hunt."""
        return bool(self.symptom[0]) and not judge.symptom(self.outcome, self.known, judge.rule(self.target))[0]

    @property
    def _may_be_near(self) -> bool:
        return self.outcome.status is Status.OK and not (self.known.invalid or self.known.incomparable)

    @property
    def manner(self) -> str:
        """``wrong`` or ``death`` (everything that has no result, or none that anything could be compared with)."""
        return "wrong" if self.outcome.status is Status.OK and not self.known.broken else "death"

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
        return [self.heard_of(each) for each in found]

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
        noise = tuple(_of_numbers(found, at, (self.actual, self.expected)) for at in range(count))
        places = {
            name.removeprefix("places/"): value
            for name, value in found.items()
            if name.startswith("places/") and isinstance(value, np.ndarray)
        }
        second = tuple(found[f"second/{at}"] for at in range(count) if f"second/{at}" in found)
        return Widened(wide, noise, json.loads(said.item()), places, second)


def _of_numbers(found: Mapping[str, Value], at: int, results: Sequence[Sequence[Value]]) -> Value:
    """The noise of one output: where it may be infinite and all `results` are numbers, that of numbers alone."""
    noise, finite = found.get(f"noise/{at}"), found.get(f"finite/{at}")
    given = [measure.numbers(values[at]) for values in results if at < len(values)]
    if not isinstance(noise, np.ndarray) or not isinstance(finite, np.ndarray) or len(given) < len(results):
        return noise
    known = [one for one in given if one is not None and one.shape == noise.shape == finite.shape]
    if len(known) < len(given):
        return noise
    return np.where(np.isinf(noise) & np.all(np.isfinite(known), axis=0), finite, noise)


def _charge_of(target: Target, case: Case, symptom: str, detail: str, near: bool) -> Evidence:
    """`near`: only the court objects, not the oracle of a hunt."""
    name = registry.backend(target.backend).name
    figures = {"symptom": symptom, "backend": name, "near": near, "kind": case.kind}
    return Evidence("charge", Side.AGAINST if symptom else Side.NEUTRAL, detail, figures)
