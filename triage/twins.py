"""Bugs that turn out to be the same once they are reduced."""

from __future__ import annotations

from dataclasses import replace

from fuzz.runner import Runner
from triage.lifecycle import State
from triage.records import Bug
from triage.signature import Signature
from triage.signing import Signer
from triage.store import Store

_ASIDE = (State.DUPLICATE, State.INVALID, State.STALE)
_UNSETTLED = (State.NEW, State.CONFIRMED, State.REDUCED, State.FLAKY)


def twin(store: Store, bug: Bug, signature: Signature, operators: list[str]) -> Bug | None:
    """An older bug that the reduced failure belongs to, as far as no person has decided otherwise.

    `operators` are those of the reduced model: where no conversion function is known, they tell the place.
    """
    decided = store.decisions()
    for other in store.bugs(backend=bug.backend):
        if other.id == bug.id or (other.state in _ASIDE and other.fingerprint not in decided.muted):
            continue
        if decided.are_apart(bug.fingerprint, other.fingerprint):
            continue
        if other.fingerprint == decided.fingerprint(signature.fingerprint):
            return other
        settled = other.state not in _UNSETTLED
        if _same_parts(other, signature, operators if settled else []) and (settled or other.id < bug.id):
            return other
    return None


def _same_parts(other: Bug, signature: Signature, operators: list[str]) -> bool:
    """Whether place, symptom and message are the same. A settled bug's operators are those of its reduced model."""
    if (other.symptom, other.message) != (signature.symptom, signature.message or other.message):
        return False
    if signature.conversion_function or other.conversion_function:
        return signature.conversion_function == other.conversion_function
    return bool(operators) and sorted(operators) == sorted(other.operators)


def give(store: Store, runner: Runner, bug: Bug, twin: Bug) -> None:
    """Hand the bug's failures over to its twin."""
    signer = Signer(runner)
    failures = [store.failure(number).failure for number in store.failure_ids(bug.id)]
    store.record(0, (), [replace(signer.describe(one), fingerprint=twin.fingerprint) for one in failures])
