"""One step per state: what turns a NEW bug into a DRAFTED one. The row is the queue.

A step does its work, saves and returns; after a kill the bug is still in the state whose step has not
finished, and that step is done again. Steps of different bugs may run in parallel.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from fuzz.case import Failure, Status, Target, Verdict
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage import drafting, reduce, reproducer
from triage.interesting import recorded, same_signature
from triage.lifecycle import State
from triage.operators import operators
from triage.records import Bug
from triage.signature import Signature
from triage.signing import Signer
from triage.store import Conflict, Store

#: Fresh-process runs that must all fail the same way before a bug is believed.
CONFIRMATIONS = 3
#: The byte that fills memory when a result varies (glibc's M_PERTURB).
PERTURB = 170
UNINITIALISED = f"reads uninitialised memory: fails every time when fresh memory is filled with byte {PERTURB}"
REDUCE_SECONDS = 60.0
#: What maintainers want to hear about first.
_URGENCY = ("crash", "hang", "oom", "wrong", "exception", "dies-on-invalid")


@dataclass(frozen=True)
class Desk:
    """Everything a step needs."""

    store: Store
    runner: Runner
    reference: Target
    reports: Path
    deadline: float | None = None

    @property
    def judge(self) -> Judge:
        """Judges single cases on this desk's runner."""
        return Judge(self.runner, self.reference)

    def over(self) -> bool:
        """Whether the time for triage has ended."""
        return self.deadline is not None and time.monotonic() >= self.deadline


#: Two bugs that turn out to be the same must not both be looked at before either is settled.
_locating = threading.Lock()

Step = Callable[[Desk, Bug], None]


def confirm(desk: Desk, bug: Bug) -> None:
    """NEW: fresh processes must show the same failure every time, with memory perturbed if they do not."""
    failure = _failure(desk, bug)
    verdicts = [desk.judge.examine(failure.case, failure.target) for _ in range(CONFIRMATIONS)]
    same = [verdict for verdict in verdicts if _symptom(verdict) == failure.symptom]
    if len(same) == len(verdicts) and _repeat(verdicts):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
        return
    excused = next((v for v in verdicts if v.status in (Status.SKIPPED, Status.INVALID) and not v.failure), None)
    if excused and not same:
        desk.store.advance(bug.id, State.NEW, State.INVALID, note=excused.reason)
        return
    if _fails_perturbed(desk, failure):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED, note=UNINITIALISED)
        return
    varies = ", each time with other values" if len(same) == len(verdicts) else ""
    note = f"{failure.symptom} in {len(same)} of {len(verdicts)} fresh processes{varies}"
    desk.store.advance(bug.id, State.NEW, State.FLAKY, note=note)


def _fails_perturbed(desk: Desk, failure: Failure) -> bool:
    judge = replace(desk.judge, perturb=PERTURB)
    verdicts = [judge.examine(failure.case, failure.target) for _ in range(CONFIRMATIONS)]
    return all(_symptom(verdict) == failure.symptom for verdict in verdicts) and _repeat(verdicts)


def _repeat(verdicts: Sequence[Verdict]) -> bool:
    """Whether the runs agree in what they computed; a result that is never twice the same proves little."""
    outputs = [values(verdict.outcome) for verdict in verdicts if verdict.outcome]
    return all(not differential.compare(one, outputs[0]) for one in outputs[1:])


def perturbation(bug: Bug) -> int | None:
    """The byte that memory must be filled with for the bug to show every time, None for other bugs."""
    return PERTURB if bug.note == UNINITIALISED else None


def reduce_bug(desk: Desk, bug: Bug) -> None:
    """CONFIRMED: the smallest case with the same signature, which then stands for the bug."""
    failure = _failure(desk, bug)
    judge = replace(desk.judge, perturb=perturbation(bug))
    interesting = same_signature(judge, failure, Signer(desk.runner).sign)
    limit = time.monotonic() + REDUCE_SECONDS
    deadline = limit if desk.deadline is None else min(limit, desk.deadline)
    try:
        found = reduce.reduce(
            failure.case,
            interesting,
            values=recorded(desk.runner, desk.reference),
            deadline=deadline,
            suspects=bug.operators,
            most_runs=reduce.most_runs(failure.symptom),
        )
    except reduce.NotInteresting as problem:
        desk.store.advance(bug.id, State.CONFIRMED, State.FLAKY, note=str(problem))
        return
    if not found.finished and desk.over():
        return  # the row stays CONFIRMED: the next hunt reduces it with time to spare
    desk.store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=found.case, nodes=found.nodes_after)


def locate(desk: Desk, bug: Bug) -> None:
    """REDUCED: sign the reduced failure; a small model names its operator, and shows duplicates."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        note = "the reduced case does not fail in a fresh process"
        desk.store.advance(bug.id, State.REDUCED, State.FLAKY, note=note)
        return
    signature = Signer(desk.runner).sign(failure)
    with _locating:
        twin = _twin(desk.store, bug, signature)
        if twin is not None:
            _merge(desk, bug, twin)
            return
        desk.store.advance(
            bug.id,
            State.REDUCED,
            State.LOCATED,
            why=signature.why,
            conversion_function=signature.conversion_function,
            operators=_operators(failure),
        )


def _operators(failure: Failure) -> list[str]:
    return list(dict.fromkeys(op_type for _, op_type, _ in operators(failure.case)))


def _twin(store: Store, bug: Bug, signature: Signature) -> Bug | None:
    """An older bug that the reduced failure belongs to."""
    for other in store.bugs(backend=bug.backend):
        if other.id == bug.id or other.state in (State.DUPLICATE, State.INVALID, State.STALE):
            continue
        same_key = other.fingerprint == signature.fingerprint
        same_parts = other.conversion_function and (other.conversion_function, other.symptom, other.message) == (
            signature.conversion_function,
            signature.symptom,
            signature.message or other.message,
        )
        settled = other.state not in (State.NEW, State.CONFIRMED, State.REDUCED, State.FLAKY)
        if same_key or (same_parts and (settled or other.id < bug.id)):
            return other
    return None


def _merge(desk: Desk, bug: Bug, twin: Bug) -> None:
    """Give the bug's failures to its twin and put it aside."""
    # In this order a kill in between leaves an empty bug to be merged again, never a lost failure.
    _give(desk, bug, twin)
    desk.store.advance(bug.id, State.REDUCED, State.DUPLICATE, note=f"same as bug {twin.id} once reduced")


def _give(desk: Desk, bug: Bug, twin: Bug) -> None:
    signer = Signer(desk.runner)
    failures = [desk.store.failure(number).failure for number in desk.store.failure_ids(bug.id)]
    desk.store.record(0, (), [replace(signer.describe(one), fingerprint=twin.fingerprint) for one in failures])


def rejoin(desk: Desk, bug: Bug) -> None:
    """DUPLICATE: a later hunt signs the same failures as before; they go to the bug's twin again."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        return
    signature = Signer(desk.runner).sign(failure)
    with _locating:
        twin = _twin(desk.store, bug, signature)
        if twin is not None:
            _give(desk, bug, twin)


def draft(desk: Desk, bug: Bug) -> None:
    """LOCATED: write the report; its reproducer must fail in a fresh process before it is saved."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        note = "the reduced case does not fail in a fresh process"
        desk.store.advance(bug.id, State.LOCATED, State.FLAKY, note=note)
        return
    try:
        text = drafting.write(desk.store, bug, failure, desk.runner.limits, Signer(desk.runner), perturbation(bug))
    except drafting.CannotDraft as problem:
        desk.store.amend(bug.id, State.LOCATED, note=str(problem))
        return
    rerun = reproducer.rerun(text.script, failure.target.revision.python)
    message = failure.outcome.error.message if failure.outcome.error else ""
    if not reproducer.reproduces(failure.symptom, message, rerun):
        note = f"the reproducer does not show it (exit status {rerun.status}): {rerun.output[-1000:]}"
        desk.store.advance(bug.id, State.LOCATED, State.FLAKY, note=note)
        return
    path = drafting.save(desk.reports, bug, text)
    desk.store.advance(bug.id, State.LOCATED, State.DRAFTED, draft=text, report_path=str(path))


def reduced_failure(desk: Desk, bug: Bug) -> Failure | None:
    """The failure of the bug's reduced case, run again in a fresh process; None when it passes now."""
    case = desk.store.case(bug.reduced_case_id) if bug.reduced_case_id else _failure(desk, bug).case
    verdict = replace(desk.judge, perturb=perturbation(bug)).examine(case, bug.target)
    return verdict.failure if verdict.failure and verdict.failure.symptom == bug.symptom else None


#: The pipeline, shown once.
STEPS: Mapping[State, Step] = {
    State.NEW: confirm,
    State.CONFIRMED: reduce_bug,
    State.REDUCED: locate,
    State.LOCATED: draft,
    State.DUPLICATE: rejoin,
}


def advance_all(desk: Desk, bugs: Sequence[Bug], tell: Callable[[Bug], None] = lambda bug: None) -> None:
    """Take every bug through its steps, urgent ones first, until all are done or the time is over."""
    waiting = sorted((bug for bug in bugs if bug.state in STEPS), key=_urgency)
    with ThreadPoolExecutor(desk.runner.jobs, "triage") as pool:
        for finished in pool.map(lambda bug: _advance(desk, bug), waiting):
            tell(finished)


def _advance(desk: Desk, bug: Bug) -> Bug:
    while bug.state in STEPS and not desk.over():
        before = bug.state
        try:
            _step(bug)(desk, bug)
        except Conflict:
            # Another process works on the same database and was faster with this bug.
            return desk.store.bug(bug.id)
        bug = desk.store.bug(bug.id)
        if bug.state is before:
            break
    return bug


def _step(bug: Bug) -> Step:
    """The step that is due. A reduced bug's may need no failure of its own: it may have been half merged."""
    lost = bug.best_failure_id is None and bug.state in (State.NEW, State.CONFIRMED, State.LOCATED)
    return put_aside if lost else STEPS[bug.state]


def put_aside(desk: Desk, bug: Bug) -> None:
    """Any state: a bug without a failure cannot be judged."""
    desk.store.advance(bug.id, bug.state, State.STALE, note="all its failures turned out to be another bug's")


def _urgency(bug: Bug) -> tuple[int, int, int]:
    kind = bug.symptom.partition(":")[0]
    return (_URGENCY.index(kind) if kind in _URGENCY else len(_URGENCY), -bug.count, bug.id)


def _failure(desk: Desk, bug: Bug) -> Failure:
    assert bug.best_failure_id is not None
    return desk.store.failure(bug.best_failure_id).failure


def _symptom(verdict: Verdict) -> str:
    return verdict.failure.symptom if verdict.failure else ""
