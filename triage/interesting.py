"""When a simplified case is still the same bug: the reducer's predicate, and what it records of a case."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from fuzz.case import Case, Failure, Outcome, Status, Target, options_from
from fuzz.judge import Judge
from fuzz.operators.graph import walk
from fuzz.oracles import differential, undefined
from fuzz.runner import Runner
from fuzz.wire import Value
from triage.signature import LONGEST_MESSAGE, Signature, normalise
from triage.submodel import load

Interesting = Callable[[Case], bool]
#: The recorded tensors of a case, by name.
Recorder = Callable[[Case], Mapping[str, Value]]

#: A result that is wrong by more than this many tolerances is no rounding noise.
_GROSS = 10.0
_TOKEN = re.compile(r"[\w./:]+|[^\s\w]")


def recorded(runner: Runner, reference_target: Target) -> Recorder:
    """Records every tensor of an ONNX case's main graph with the reference evaluator.

    A case that it cannot evaluate gives its inputs alone, an operator instance nothing.
    """
    options = {**dict(reference_target.options), "intermediates": "on"}
    tapped = replace(reference_target, options=options_from(options))

    def record(case: Case) -> Mapping[str, Value]:
        if case.kind != "onnx":
            return {}
        outcome = runner.run(case, tapped)
        return {**dict(outcome.outputs), **case.inputs} if outcome.status is Status.OK else dict(case.inputs)

    return record


def same_signature(judge: Judge, like: Failure, sign: Callable[[Failure], Signature]) -> Interesting:
    """The predicate "fails on the same target with the same signature" as the failure `like`.

    Beyond symptom and normalised message the stage must be the same and, where it can be known, the
    place; a grossly wrong result must stay so, and no candidate may newly run into undefined behaviour
    (a wrong value that does is excused by the judge already).
    """
    wanted = sign(like)
    record = recorded(judge.runner, judge.reference)
    undefined_before = _undefined(like.case, record)
    gross = _gross(like)

    def interesting(case: Case) -> bool:
        failure = judge.examine(case, like.target, fresh=False).failure
        if failure is None or failure.outcome.stage is not like.outcome.stage:
            return False
        if not _same(sign(failure), case, wanted, like.case) or (gross and not _gross(failure)):
            return False
        if undefined_before or failure.symptom.startswith("wrong:"):
            return True
        return not _undefined(case, record)

    return interesting


def _undefined(case: Case, record: Recorder) -> bool:
    """Whether a crash could be the answer to behaviour that the specification leaves undefined."""
    objection = undefined.screen(case.kind, case.model, record(case))
    return objection is not None and objection.kind is undefined.Kind.UNDEFINED


def _same(found: Signature, case: Case, wanted: Signature, original: Case) -> bool:
    """A smaller model may tell its place better than the original, never another place of the same kind."""
    if found.symptom != wanted.symptom or not _same_message(found.message, case, wanted.message, original):
        return False
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
