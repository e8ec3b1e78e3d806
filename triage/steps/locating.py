"""REDUCED to LOCATED: sign the reduced failure, ask where it lies, and join it with its twin."""

from __future__ import annotations

from dataclasses import replace

from fuzz.case import Failure
from fuzz.oracles import differential
from triage import causal, dying, guilty, haste, raised_at, roots_call, twins, witness
from triage.lifecycle import State
from triage.localize import Location, localize, operator
from triage.localize.trial import COSTLY, Trial
from triage.operators import node_count
from triage.records import Bug
from triage.signature import CRASH_SITE, Signature
from triage.signing import Signer, without_overload
from triage.steps.desk import Desk, operators_of, reduced_failure, settling
from triage.steps.uprooting import uprooted
from triage.variants import call_types

#: Inductor takes seconds for an answer; most others take so many milliseconds.
LOCATE_SECONDS = 60.0
#: Failures of one bug that are asked what they need.
MOST_PARTED = 32


def locate(desk: Desk, bug: Bug) -> list[int]:
    """Sign the reduced failure: a small model names its operator, and shows duplicates.

    Returns the ids of bugs that parted from this one, or of the one behind it: new ones are still to be taken through
    their steps.
    """
    failure = reduced_failure(desk, bug)
    if failure is None:
        note = "the reduced case does not fail in a fresh process"
        desk.store.advance(bug.id, State.REDUCED, State.FLAKY, note=note)
        return []
    failure = by_definition(desk, bug, failure)
    beside = _beside(desk, bug, failure)
    if (behind := uprooted(desk, bug, failure)) is not None:
        return [behind, *beside]
    failure = _alone(desk, bug, failure)
    failure = witness.better(replace(desk.judge, perturb=bug.perturb), failure)
    died = dying.steadily(replace(desk.judge, perturb=bug.perturb), failure)
    signature, location = _signed(desk, failure, died), Location()
    # A duplicate's place is known already.
    if twins.twin(desk.store, bug, signature, operators_of(failure, signature), died) is None:
        location = _located(desk, bug, failure, signature)
        signature = _placed(signature, location, failure)
    with settling:
        twin = twins.twin(desk.store, bug, signature, operators_of(failure, signature), died)
        note = f"same as bug {twin.id} once reduced" if twin else ""
        if twin is None and (twin := guilty.twin(desk.store, bug, signature, location)) is not None:
            note = guilty.why(location.pass_, twin)
        elif twin is None and (twin := raised_at.twin(desk.store, bug, signature, failure)) is not None:
            note = raised_at.why(twin)
        if twin is not None:
            _merge(desk, bug, twin, note)
            return beside
        desk.store.advance(
            bug.id,
            State.REDUCED,
            State.LOCATED,
            why=signature.why,
            conversion_function=signature.conversion_function,
            operators=operators_of(failure, signature),
            location=location,
            reduced=failure.case,
            nodes=node_count(failure.case),
            # It was the neighbour of the reduced case; of a clearer witness it need not be one.
            passes_with=bug.passes_with if failure.case.id == bug.reduced_case_id else "",
        )
    return [*beside, *_part(desk, bug, failure)]


def _beside(desk: Desk, bug: Bug, failure: Failure) -> list[int]:
    """The bugs that a call has in float32 as well, beside the wrong type that it gives of another one.

    Both are wrong in one result, and the report of the one speaks of the other as of something else.
    """
    if failure.case.kind != "instance" or failure.symptom != differential.DTYPE:
        return []
    judge = replace(desk.judge, perturb=bug.perturb)
    plain = (one.cases[0] for one in call_types.variants(failure.case) if "float" in one.text)
    found = (judge.examine(case, failure.target, fresh=False).failure for case in plain)
    others = [one for one in found if one is not None and one.symptom.startswith("wrong:")]
    described = [Signer(desk.runner).describe(one) for one in others if one.symptom != failure.symptom]
    with settling:
        desk.store.record(0, (), described)
        known = {one.fingerprint for one in described}
        return [one.id for one in desk.store.bugs(backend=bug.backend) if one.fingerprint in known]


def by_definition(desk: Desk, bug: Bug, failure: Failure) -> Failure:
    """The failure of what the failing operator is by its definition, if that fails just so; else the failure."""
    judge = replace(desk.judge, perturb=bug.perturb)
    if failure.outcome.status in COSTLY:
        return failure
    return causal.by_definition(judge, failure) or roots_call.renamed(judge, failure) or failure


def _alone(desk: Desk, bug: Bug, failure: Failure) -> Failure:
    """The failure of the guilty operator alone, where the time for reducing ended with others beside it."""
    if node_count(failure.case) < 2 or failure.outcome.status in COSTLY:
        return failure
    judge = replace(desk.judge, perturb=bug.perturb)
    case = operator.guilty(Trial(judge, failure, _deadline(desk)))
    found = judge.examine(case, failure.target).failure if case is not None else None
    if found is None:
        return failure
    one, other = Signer(desk.runner).sign(found), Signer(desk.runner).sign(failure)
    same = (one.symptom, one.message, one.conversion_function) == (
        other.symptom,
        other.message,
        other.conversion_function,
    )
    return found if same and one.conversion_function else failure


def _part(desk: Desk, bug: Bug, reduced: Failure) -> list[int]:
    """Failures that one signature has thrown together become bugs of their own where each needs something else.

    They are held against the `reduced` failure, which is what the report will show: the one that it came from may hold
    several bugs. An exception's message tells bugs apart by itself; a wrong result has none.
    """
    if not bug.symptom.startswith("wrong:"):
        return []
    deadline = _deadline(desk)
    others = [number for number in desk.store.failure_ids(bug.id) if number != bug.best_failure_id]
    if not others or bug.best_failure_id is None:
        return []
    judge = replace(desk.judge, perturb=bug.perturb)
    of = causal.needs(Trial(judge, reduced, deadline))
    if not (of.needed or of.known):
        return []  # then no other can be shown to be another bug
    failures = {number: desk.store.failure(number).failure for number in others[:MOST_PARTED]}
    found = {number: causal.needs(Trial(judge, failure, deadline)) for number, failure in failures.items()}
    groups = causal.partition(of, found)
    return [desk.store.split(bug.id, group, causal.why(of, found[group[0]])) for group in groups]


def _located(desk: Desk, bug: Bug, failure: Failure, signature: Signature) -> Location:
    return localize(replace(desk.judge, perturb=bug.perturb), failure, signature, _deadline(desk))


def _deadline(desk: Desk) -> float:
    return haste.ends(LOCATE_SECONDS, desk.deadline)


def _signed(desk: Desk, failure: Failure, died: str) -> Signature:
    """The signature of a failure; one that has not `died` at one place each time is signed without the place."""
    return Signer(desk.runner).sign(failure if died else dying.unplaced(failure))


def _placed(signature: Signature, location: Location, failure: Failure) -> Signature:
    """The signature with the place that the localiser found, where it had none of its own."""
    if signature.conversion_function or signature.kind == CRASH_SITE:
        return signature
    if location.conversion_function:
        return replace(signature, place=location.conversion_function, kind="conversion function")
    if failure.case.kind == "instance" and location.operator:
        return replace(signature, place=without_overload(location.operator), kind="operators")
    return signature


def _merge(desk: Desk, bug: Bug, twin: Bug, note: str) -> None:
    """Give the bug's failures to its twin and put it aside."""
    # In this order a kill in between leaves an empty bug to be merged again, never a lost failure.
    twins.give(desk.store, desk.runner, bug, twin)
    desk.store.advance(bug.id, State.REDUCED, State.DUPLICATE, note=note)


def rejoin(desk: Desk, bug: Bug) -> None:
    """DUPLICATE: a later hunt signs the same failures as before; they go to the bug's twin again."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        return
    failure = by_definition(desk, bug, failure)
    died = dying.steadily(replace(desk.judge, perturb=bug.perturb), failure)
    signature = _signed(desk, failure, died)
    with settling:
        twin = twins.twin(desk.store, bug, signature, operators_of(failure, signature), died)
        if twin is not None:
            twins.give(desk.store, desk.runner, bug, twin)
