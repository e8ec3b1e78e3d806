"""Whether a failure of a large model is one that was seen before, told while a campaign runs.

What a reduction would show costs minutes. Until then (graph-based fuzzing, section IV-B) failures of conversion or
inference are one if they complain of the same, wrong results if the first wrong operator is. A frontend that cannot
convert one operator may complain of all behind it, too, so that a failure is known if any of its complaints is. Too few
are told apart rather than too many: whoever is rewarded for new failures must not be rewarded for known ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from fuzz import validity
from fuzz.case import Failure, Status, Target
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage.records import Bug, NewFailure
from triage.submodel import load, replace_items, value_info, with_model

#: Where one complaint of a message ends and the next one begins.
_NEXT = re.compile(r"(?=\bCheck ')|(?=\bException from )")


def fingerprint(new: NewFailure) -> str:
    """What a failure of one operator is recognised by."""
    return new.fingerprint


class Recogniser:
    """Knows failures by keys, and remembers those it gave. A wrong result costs two more runs, one of each side."""

    def __init__(self, runner: Runner, reference: Target, known: Collection[str] = ()) -> None:
        """`known` are keys of failures that are known from before (`keys`)."""
        self._runner, self._reference = runner, reference
        self._given = {each: each for each in known}

    def key(self, new: NewFailure) -> str:
        """Equal for failures that are taken for the same: the fingerprint of the failure of one operator."""
        failure = new.failure
        if failure.case.kind != "onnx" or len(load(failure.case).graph.node) < 2:
            return new.fingerprint
        if failure.symptom.startswith("wrong:"):
            return _key(failure.target.backend, failure.symptom, self.first_wrong(failure))
        found = _complaints(failure.target.backend, failure.symptom, new.message)
        key = next((self._given[each] for each in found if each in self._given), found[0])
        self._given.update((each, key) for each in found)
        return key

    def first_wrong(self, failure: Failure) -> str:
        """The type of the first node whose result is wrong where all results are outputs; "" where none is."""
        recorded = validity.recorded(self._runner, failure.case, self._reference)
        model = load(failure.case)
        makers = {name: node.op_type for node in model.graph.node for name in node.output if name in recorded}
        infos = [info for name in makers if (info := value_info(name, recorded[name])) is not None]
        replace_items(model.graph.output, infos)
        outcome = self._runner.run(with_model(failure.case, model), failure.target)
        if outcome.status is not Status.OK:
            return ""
        for name, value in outcome.outputs:
            if differential.compare([value], [recorded[name]]) is not None:
                return str(makers[name])
        return ""


def _key(*parts: str) -> str:
    return " ".join(parts)


def _complaints(backend: str, symptom: str, message: str) -> list[str]:
    """A key for each complaint of a message, at least one."""
    parts = [part.strip() for part in _NEXT.split(message)]
    return [_key(backend, symptom, part) for part in parts if part] or [_key(backend, symptom, "")]


def keys(bug: Bug) -> set[str]:
    """What failures of a recorded bug are recognised by, as far as that can be told without running anything."""
    found = {bug.fingerprint}
    if not bug.symptom.startswith("wrong:"):
        return found | set(_complaints(bug.backend, bug.symptom, bug.message))
    return found | {_key(bug.backend, bug.symptom, name) for name in bug.operators if len(bug.operators) == 1}
