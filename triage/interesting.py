"""When a simplified case is still the same bug: the reducer's predicate, and what it records of a case."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from fuzz import catalogue, registry, validity
from fuzz.case import Case, Failure, Outcome, Status, Target, options_from
from fuzz.judge import Judge
from fuzz.operators.graph import walk
from fuzz.oracles import differential, refusal, undefined
from fuzz.runner import Runner
from fuzz.wire import Value
from fuzz.zygote import BackendUnavailable
from triage import causal, crash_site, dying, stack
from triage.signature import CRASH_SITE, LONGEST_MESSAGE, Signature, normalise
from triage.submodel import load
from triage.trials import Answer, Interesting

__all__ = ["Interesting", "Recorded", "Recorder", "recorded", "same_signature"]

#: The recorded tensors of a case, by name.
Recorder = Callable[[Case], Mapping[str, Value]]

#: Who says whether a reduced model is still one: it knows all of ONNX and is quick to ask.
SECOND = "onnxruntime"
#: So many frames lie between the line of a compiler that is at fault and the check that stops it.
_LINES = 6

#: A result that is wrong by more than this many tolerances is no rounding noise.
_GROSS = 10.0
_LIBERTIES = (undefined.Kind.UNDEFINED, undefined.Kind.NONDETERMINISTIC)
_TOKEN = re.compile(r"[\w./:]+|[^\s\w]")


#: How many cases' tensors are kept at hand.
_REMEMBERED = 16


class Recorded:
    """What the reference evaluator says of cases: their tensors, and whether they are valid tests at all.

    Called with a case it gives every tensor of its main graph, or the inputs alone where that cannot be
    evaluated; of an operator instance, its results.
    """

    def __init__(self, runner: Runner, reference_target: Target) -> None:
        options = options_from({**dict(reference_target.options), "intermediates": "on"})
        self._runner, self._plain = runner, reference_target
        self._tapped = replace(reference_target, options=options)
        self._outcomes: OrderedDict[str, Outcome] = OrderedDict()
        self._valid: dict[str, bool] = {}
        self._lock = threading.Lock()

    def __call__(self, case: Case) -> Mapping[str, Value]:
        outcome = self._outcome(case)
        return {**dict(outcome.outputs), **case.inputs} if outcome.status is Status.OK else dict(case.inputs)

    def valid(self, case: Case) -> bool:
        """Whether the reference accepts and evaluates the case, and no stated precondition is broken."""
        if case.id not in self._valid:
            outcome = self._outcome(case)
            values = {**dict(outcome.outputs), **case.inputs}
            self._valid[case.id] = outcome.status is Status.OK and not validity.violation(case, values)
        return self._valid[case.id]

    def _outcome(self, case: Case) -> Outcome:
        with self._lock:
            known = self._outcomes.get(case.id)
        if known is None:
            known = self._runner.run(case, self._tapped if case.kind == "onnx" else self._plain)
        with self._lock:
            self._outcomes[case.id] = known
            self._outcomes.move_to_end(case.id)
            if len(self._outcomes) > _REMEMBERED:
                self._outcomes.popitem(last=False)
        return known


def recorded(runner: Runner, reference_target: Target) -> Recorded:
    """Records every tensor of an ONNX case's main graph with the reference evaluator."""
    return Recorded(runner, reference_target)


def same_signature(
    judge: Judge,
    like: Failure,
    sign: Callable[[Failure], Signature],
    *,
    slipped: Callable[[Failure], None] | None = None,
    fresh: bool = False,
    needs: frozenset[str] = frozenset(),
) -> Interesting:
    """The predicate "fails on the same target with the same signature" as the failure `like`.

    Beyond symptom and normalised message the stage must be the same and, where it can be known, the
    place; a grossly wrong result must stay so, and no candidate may newly run into undefined behaviour or be random
    (a wrong value that does is excused by the judge already). A candidate that fails in another way is
    told to `slipped`: it may be another bug. What a second implementation takes must stay something that it takes:
    checker and evaluator let pass what no maintainer would call a model. With `fresh` every candidate gets a process
    of its own; so does one that dies, if the failure dies at one place each time: only such a process tells the place.
    `needs` are options without which the failing operator is right (`causal.needs`): one that is wrong without them is
    wrong for another reason.
    """
    died = dying.steadily(judge, like)
    signed = sign if died else lambda failure: sign(dying.unplaced(failure))
    wanted = signed(like)
    record = recorded(judge.runner, judge.reference)
    before = _liberty(like.case, record)
    gross, place = _gross(like), _place(like)
    other = second(judge, like)

    def same(failure: Failure, case: Case) -> bool:
        if failure.outcome.stage is not like.outcome.stage or _place(failure) != place:
            return False
        if died and crash_site.same(died, dying.last_output(failure), one_build=True) is False:
            return False
        if not _same(signed(failure), case, wanted, like.case) or (gross and not _gross(failure)):
            return False
        if like.symptom.startswith(refusal.ON_INVALID) and not _breaks_the_same(failure, like):
            return False
        if needs and not needs <= causal.given(case):
            return False
        if other is not None and judge.runner.run(case, other).status is not Status.OK:
            return False
        return failure.symptom.startswith("wrong:") or _liberty(case, record) in (None, before)

    def interesting(case: Case) -> Answer:
        verdict = judge.examine(case, like.target, fresh=fresh)
        if died and not fresh and verdict.status is Status.SIGNAL:
            verdict = judge.examine(case, like.target, fresh=True)
        if verdict.failure is None:
            return Answer.PASSES if verdict.status is Status.OK else Answer.OTHER
        if same(verdict.failure, case):
            return Answer.SAME
        if slipped is not None:
            slipped(verdict.failure)
        return Answer.OTHER

    return interesting


def _breaks_the_same(failure: Failure, like: Failure) -> bool:
    """Whether two invalid cases break the same rule: else a reduction would end with any invalid model at all."""
    return _same_message(normalise(failure.detail), failure.case, normalise(like.detail), like.case)


def _place(failure: Failure) -> list[tuple[str, int]]:
    """The innermost lines of code that a failure came through: one check may fail for two reasons.

    Lines differ between versions, which does not matter here: all candidates run on one.
    """
    error = failure.outcome.error
    found = stack.frames(error) if error else ()
    return [(PurePath(frame.file).name, frame.line) for frame in found[-_LINES:]]


def second(judge: Judge, like: Failure) -> Target | None:
    """Another implementation that runs the failing model, None where it is the accused, missing, or refuses."""
    if like.case.kind != "onnx" or registry.backend(like.target.backend).name == SECOND:
        return None
    target = catalogue.target(SECOND)
    try:
        return target if judge.runner.run(like.case, target).status is Status.OK else None
    except BackendUnavailable:
        return None


def _liberty(case: Case, record: Recorder) -> undefined.Kind | None:
    """What could make a crash the answer to undefined behaviour, or the expected result another one in every run."""
    objection = undefined.screen(case.kind, case.model, record(case))
    return objection.kind if objection is not None and objection.kind in _LIBERTIES else None


def _same(found: Signature, case: Case, wanted: Signature, original: Case) -> bool:
    """A smaller model may tell its place better than the original, never another place of the same kind."""
    if found.symptom != wanted.symptom or not _same_message(found.message, case, wanted.message, original):
        return False
    if (found.kind == CRASH_SITE) != (wanted.kind == CRASH_SITE):
        return True  # of one of the two the site is not known
    if wanted.kind == "conversion function":
        return found.place == wanted.place
    return found.kind != wanted.kind or wanted.kind == "operators" or found.place == wanted.place


def _same_message(one: str, case: Case, other: str, original: Case) -> bool:
    """Whether two normalised messages differ at most where each names a value of its own model."""
    if one == other:
        return True
    pairs = list(zip(_TOKEN.findall(one), _TOKEN.findall(other), strict=False))
    cut = max(len(one), len(other)) >= LONGEST_MESSAGE
    if not cut and len(_TOKEN.findall(one)) != len(_TOKEN.findall(other)):
        return False
    mine, theirs = _spoken_names(case), _spoken_names(original)
    return all(a == b or (a in mine and b in theirs) for a, b in (pairs[:-1] if cut else pairs))


def _spoken_names(case: Case) -> set[str]:
    """How the values of a model can appear in a normalised message; compilers replace odd characters."""
    if case.kind != "onnx":
        return {"NAME"}
    names = {name for node in walk(load(case).graph) for name in [*node.input, *node.output, node.name] if name}
    return {"NAME"} | {normalise(form) for name in names for form in (name, re.sub(r"\W", "_", name))}


def _gross(failure: Failure) -> bool:
    """Whether a value is wrong by far more than its tolerance."""
    if failure.symptom != "wrong:values" or failure.reference is None:
        return False
    return _distance(failure.outcome, failure.reference) > _GROSS


def _distance(outcome: Outcome, reference: Outcome) -> float:
    """The largest distance of the first output that differs, in units of its tolerance."""
    expected = [value for _, value in reference.outputs]
    difference = differential.compare([value for _, value in outcome.outputs], expected)
    value = expected[difference.output] if difference else None
    if difference is None or not isinstance(value, np.ndarray) or not np.isfinite(difference.distance):
        return float("inf")
    allowed = differential.tolerance(value.dtype.name)
    largest = np.nanmax(np.abs(value.astype(np.float64)), initial=0.0, where=np.isfinite(value.astype(np.float64)))
    return difference.distance / (allowed.absolute + allowed.relative * float(largest))
