"""Whether a failure of a large model is one that was seen before, told while a campaign runs.

What a reduction would show costs minutes. Until then (graph-based fuzzing, section IV-B) failures are one if they begin
at the same operator (`triage.beginning`); those of conversion or inference if they complain of the same there. A
frontend that cannot convert one operator may complain of all behind it, too, so that a failure is known if any of its
complaints is. Too few are told apart rather than too many: whoever is rewarded for new failures must not be rewarded
for known ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from fuzz.case import Target
from fuzz.runner import Runner
from triage.beginning import beginning
from triage.messages import said
from triage.records import Bug, NewFailure
from triage.submodel import load

#: Where one complaint of a message ends and the next one begins.
_NEXT = re.compile(r"(?=\bCheck ')|(?=\bException from )")


@dataclass(frozen=True)
class Recognised:
    """By what a failure is known, and the operators that it may be due to: one, or all of the model."""

    key: str
    operators: tuple[str, ...]


def fingerprint(new: NewFailure) -> Recognised:
    """What a failure of one operator is recognised by."""
    return Recognised(new.fingerprint, new.operators)


class Recogniser:
    """Knows failures by keys, and remembers those it gave. A failure costs up to a dozen runs of beginnings."""

    def __init__(self, runner: Runner, reference: Target, known: Collection[str] = ()) -> None:
        """`known` are keys of failures that are known from before (`keys`)."""
        self._runner, self._reference = runner, reference
        self._given = {each: each for each in known}

    def recognise(self, new: NewFailure) -> Recognised:
        """Keys are equal for failures that are taken for the same: the fingerprint of the failure of one operator."""
        failure = new.failure
        if failure.case.kind != "onnx" or len(load(failure.case).graph.node) < 2:
            return fingerprint(new)
        backend, operators, symptom, message = failure.target.backend, new.operators, failure.symptom, new.message
        if begins := beginning(self._runner, failure, self._reference):
            operators, symptom, message = (begins.operator,), begins.symptom, said(begins.message)
        if not symptom.startswith("exception:"):
            return Recognised(_key(backend, symptom, operators[0] if len(operators) == 1 else ""), operators)
        found = _complaints(backend, symptom, message)
        key = next((self._given[each] for each in found if each in self._given), found[0])
        self._given.update((each, key) for each in found)
        return Recognised(key, operators)


def _key(*parts: str) -> str:
    return " ".join(parts)


def _complaints(backend: str, symptom: str, message: str) -> list[str]:
    """A key for each complaint of a message, at least one."""
    parts = [part.strip() for part in _NEXT.split(message)]
    return [_key(backend, symptom, part) for part in parts if part] or [_key(backend, symptom, "")]


def keys(bug: Bug) -> set[str]:
    """What failures of a recorded bug are recognised by, as far as that can be told without running anything."""
    found = {bug.fingerprint}
    if bug.symptom.startswith("exception:"):
        return found | set(_complaints(bug.backend, bug.symptom, bug.message))
    return found | {_key(bug.backend, bug.symptom, name) for name in bug.operators if len(bug.operators) == 1}
