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

from fuzz.case import Case, Failure, Status, Target, Verdict
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage import causal, drafting, exported, reduce, reproducer, roots, twins, witness
from triage.court.evidence import Judgement, Ruling
from triage.court.hearing import Court
from triage.interesting import recorded, same_signature
from triage.jury import Jury, accused
from triage.lifecycle import State
from triage.localize import Location, localize
from triage.localize.trial import Trial
from triage.operators import node_count, operators
from triage.passes import opset
from triage.records import Bug
from triage.signature import Signature
from triage.signing import Signer, without_overload
from triage.store import Conflict, Store
from triage.trials import Answer, Interesting

#: Fresh-process runs that must all fail the same way before a bug is believed.
CONFIRMATIONS = 3
#: The byte that fills memory when a result varies (glibc's M_PERTURB).
PERTURB = 170
#: Two fillings of fresh memory that differ in every bit.
OTHER_BYTES = (85, 170)
UNINITIALISED = f"reads uninitialised memory: fails every time when fresh memory is filled with byte {PERTURB}"
REDUCE_SECONDS = 60.0
COURT_SECONDS = 60.0
LOCATE_SECONDS = 20.0
#: Failures of one bug that are asked what they need.
MOST_PARTED = 32
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
        """Judges single cases on this desk's runner, those that accuse the reference too."""
        return Jury(self.runner, self.reference)

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
    if len(same) == len(verdicts) and (_repeat(verdicts) or not _about_values(failure)):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
        return
    excused = next((v for v in verdicts if v.status in (Status.SKIPPED, Status.INVALID) and not v.failure), None)
    if excused and not same:
        desk.store.advance(bug.id, State.NEW, State.INVALID, note=excused.reason)
        return
    if _fails_perturbed(desk, failure):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED, note=UNINITIALISED, perturb=PERTURB)
        return
    varies = ", each time with other values" if len(same) == len(verdicts) else ""
    note = f"{failure.symptom} in {len(same)} of {len(verdicts)} fresh processes{varies}"
    desk.store.advance(bug.id, State.NEW, State.FLAKY, note=note)


def _fails_perturbed(desk: Desk, failure: Failure) -> bool:
    judge = replace(desk.judge, perturb=PERTURB)
    verdicts = [judge.examine(failure.case, failure.target) for _ in range(CONFIRMATIONS)]
    return all(_symptom(verdict) == failure.symptom for verdict in verdicts) and _repeat(verdicts)


def _about_values(failure: Failure) -> bool:
    """Whether the values are what is wrong; beside a wrong shape or dtype they may be anything."""
    return failure.symptom not in ("wrong:shape", "wrong:dtype", "wrong:count")


def _repeat(verdicts: Sequence[Verdict]) -> bool:
    """Whether the runs agree in what they computed; a result that is never twice the same proves little."""
    outputs = [values(verdict.outcome) for verdict in verdicts if verdict.outcome]
    return all(not differential.compare(one, outputs[0]) for one in outputs[1:])


def reduce_bug(desk: Desk, bug: Bug) -> None:
    """CONFIRMED: the smallest case with the same signature, which then stands for the bug."""
    judge = replace(desk.judge, perturb=bug.perturb)
    failure = exported.as_model(judge, _failure(desk, bug))
    limit = time.monotonic() + REDUCE_SECONDS
    deadline = limit if desk.deadline is None else min(limit, desk.deadline)
    slips: list[Failure] = []
    sign, wrong = Signer(desk.runner).sign, failure.symptom.startswith("wrong:")
    needs = causal.needs(Trial(judge, failure, deadline)).needed if wrong else frozenset()
    interesting = same_signature(judge, failure, sign, slipped=slips.append, needs=needs)
    confirm = _as_steady(judge, failure, same_signature(judge, failure, sign, fresh=True, needs=needs), needs)
    try:
        found = reduce.reduce(
            failure.case,
            interesting,
            values=recorded(desk.runner, desk.reference),
            deadline=deadline,
            suspects=bug.operators,
            confirm=confirm if wrong else None,
            most_runs=reduce.most_runs(failure.symptom),
        )
    except reduce.NotInteresting as problem:
        desk.store.advance(bug.id, State.CONFIRMED, State.FLAKY, note=str(problem))
        return
    if not found.finished and desk.over():
        return  # the row stays CONFIRMED: the next hunt reduces it with time to spare
    _keep(desk, slips, judge.examine(found.case, failure.target).failure)
    good = found.min_good.difference if found.min_good else ""
    reduced = _in_known_opset(desk, found.case, failure.target, interesting)
    desk.store.advance(
        bug.id, State.CONFIRMED, State.REDUCED, reduced=reduced, nodes=found.nodes_after, passes_with=good
    )


def _as_steady(
    judge: Judge, like: Failure, interesting: Interesting, needs: frozenset[str] = frozenset()
) -> Interesting:
    """The last word on a reduced wrong result: it is as steady as the one that it stands for, and needs the same.

    A deterministic bug must not become a read of uninitialised memory, which is a bug as well, but another one. Nor
    must a second bug come in that fails without the options which the first one `needs`.
    """
    steady = _about_values(like) and _independent(judge, like.case, like.target)

    def confirm(case: Case) -> Answer | bool:
        answer = interesting(case)
        if answer is Answer.SAME and not causal.holds(judge, case, like.target, needs):
            return Answer.OTHER
        if answer is not Answer.SAME or not steady:
            return answer
        return Answer.SAME if _independent(judge, case, like.target) else Answer.OTHER

    return confirm


def _independent(judge: Judge, case: Case, target: Target) -> bool:
    """Whether the result is the same whatever fresh memory holds."""
    return _repeat([replace(judge, perturb=byte).examine(case, target) for byte in OTHER_BYTES])


def _keep(desk: Desk, slips: Sequence[Failure], mine: Failure | None) -> None:
    """Save what was met while a case was reduced, one case for each signature that is not known.

    `mine` is the failure of the reduced case: a small model often tells the place better, which makes no other bug.
    Candidates are no tests: of the exceptions and wrong results among them, read by hand, nearly all were the same
    bug seen otherwise or an honest refusal (decision 006). They are kept as slips. To die is never an answer: that is
    a bug like any other.
    """
    signer = Signer(desk.runner)
    described = {new.fingerprint: new for new in map(signer.describe, slips)}
    with _locating:
        known = {bug.fingerprint for bug in desk.store.bugs()} | ({signer.sign(mine).fingerprint} if mine else set())
        unknown = [new for fingerprint, new in described.items() if fingerprint not in known]
        desk.store.record(0, (), [new for new in unknown if _died(new.failure)])
        desk.store.record(0, (), [new for new in unknown if not _died(new.failure)], state=State.SLIP)


def _died(failure: Failure) -> bool:
    return failure.outcome.status in (Status.SIGNAL, Status.TIMEOUT, Status.OOM)


def _in_known_opset(desk: Desk, case: Case, target: Target, interesting: Interesting) -> Case:
    """The case in an operator set that the compiler knows, if it fails there as well: what is newer is unsupported."""
    newest = desk.runner.newest_opset(target) if case.kind == "onnx" else 0
    if not newest or opset.default_opset(case) <= newest:
        return case
    older = (found for found in opset.older(case) if opset.default_opset(found) <= newest)
    return next((found for found in older if interesting(found) is Answer.SAME), case)


def locate(desk: Desk, bug: Bug) -> None:
    """REDUCED: sign the reduced failure; a small model names its operator, and shows duplicates."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        note = "the reduced case does not fail in a fresh process"
        desk.store.advance(bug.id, State.REDUCED, State.FLAKY, note=note)
        return
    failure = _by_definition(desk, bug, failure)
    if _uprooted(desk, bug, failure):
        return
    failure = witness.better(replace(desk.judge, perturb=bug.perturb), failure)
    signature, location = Signer(desk.runner).sign(failure), Location()
    # A duplicate's place is known already.
    if twins.twin(desk.store, bug, signature, _operators(failure, signature)) is None:
        location = _located(desk, bug, failure, signature)
        signature = _placed(signature, location, failure)
    with _locating:
        twin = twins.twin(desk.store, bug, signature, _operators(failure, signature))
        if twin is not None:
            _merge(desk, bug, twin)
            return
        desk.store.advance(
            bug.id,
            State.REDUCED,
            State.LOCATED,
            why=signature.why,
            conversion_function=signature.conversion_function,
            operators=_operators(failure, signature),
            location=location,
            reduced=failure.case,
            # It was the neighbour of the reduced case; of a clearer witness it need not be one.
            passes_with=bug.passes_with if failure.case.id == bug.reduced_case_id else "",
        )
    _part(desk, bug, failure)


def _uprooted(desk: Desk, bug: Bug, failure: Failure, state: State = State.REDUCED) -> bool:
    """Whether one operator alone, wrong in its own way, is behind the failure: then that is the bug to report.

    `state` is the one that the bug is in.
    """
    root = roots.root(replace(desk.judge, perturb=bug.perturb), failure)
    if root is None:
        return False
    described = Signer(desk.runner).describe(root)
    with _locating:
        desk.store.record(0, (), [described])
        found = next((b for b in desk.store.bugs(backend=bug.backend) if b.fingerprint == described.fingerprint), None)
        if found is None or found.id == bug.id:
            return False
        note = f"comes of {', '.join(_operators(root))}, which is wrong alone: see bug {found.id}"
        desk.store.advance(bug.id, state, State.DUPLICATE, note=note)
    return True


def _by_definition(desk: Desk, bug: Bug, failure: Failure) -> Failure:
    """The failure of what the failing operator is by its definition, if that fails just so; else the failure."""
    return causal.by_definition(replace(desk.judge, perturb=bug.perturb), failure) or failure


def _part(desk: Desk, bug: Bug, reduced: Failure) -> None:
    """Failures that one signature has thrown together become bugs of their own where each needs something else.

    They are held against the `reduced` failure, which is what the report will show: the one that it came from may hold
    several bugs. An exception's message tells bugs apart by itself; a wrong result has none.
    """
    if not bug.symptom.startswith("wrong:"):
        return
    limit = time.monotonic() + LOCATE_SECONDS
    deadline = limit if desk.deadline is None else min(limit, desk.deadline)
    others = [number for number in desk.store.failure_ids(bug.id) if number != bug.best_failure_id]
    if not others or bug.best_failure_id is None:
        return
    judge = replace(desk.judge, perturb=bug.perturb)
    of = causal.needs(Trial(judge, reduced, deadline))
    if not (of.needed or of.known):
        return  # then no other can be shown to be another bug
    failures = {number: desk.store.failure(number).failure for number in others[:MOST_PARTED]}
    found = {number: causal.needs(Trial(judge, failure, deadline)) for number, failure in failures.items()}
    for group in causal.partition(of, found):
        new = desk.store.split(bug.id, group, causal.why(of, found[group[0]]))
        advance(desk, desk.store.bug(new))


def _located(desk: Desk, bug: Bug, failure: Failure, signature: Signature) -> Location:
    limit = time.monotonic() + LOCATE_SECONDS
    deadline = limit if desk.deadline is None else min(limit, desk.deadline)
    return localize(replace(desk.judge, perturb=bug.perturb), failure, signature, deadline)


def _placed(signature: Signature, location: Location, failure: Failure) -> Signature:
    """The signature with the place that the localiser found, where it had none of its own."""
    if signature.conversion_function:
        return signature
    if location.conversion_function:
        return replace(signature, place=location.conversion_function, kind="conversion function")
    if failure.case.kind == "instance" and location.operator:
        return replace(signature, place=without_overload(location.operator), kind="operators")
    return signature


def _operators(failure: Failure, signature: Signature | None = None) -> list[str]:
    """The operators of a case; of an operator instance the core operators that are its place, if they are known.

    Then two calls of different names that become the same operators are one bug.
    """
    if failure.case.kind == "instance" and signature is not None and signature.kind == "operators":
        return signature.place.split("+")
    return list(dict.fromkeys(op_type for _, op_type, _ in operators(failure.case)))


def _merge(desk: Desk, bug: Bug, twin: Bug) -> None:
    """Give the bug's failures to its twin and put it aside."""
    # In this order a kill in between leaves an empty bug to be merged again, never a lost failure.
    twins.give(desk.store, desk.runner, bug, twin)
    desk.store.advance(bug.id, State.REDUCED, State.DUPLICATE, note=f"same as bug {twin.id} once reduced")


def rejoin(desk: Desk, bug: Bug) -> None:
    """DUPLICATE: a later hunt signs the same failures as before; they go to the bug's twin again."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        return
    failure = _by_definition(desk, bug, failure)
    signature = Signer(desk.runner).sign(failure)
    with _locating:
        twin = twins.twin(desk.store, bug, signature, _operators(failure, signature))
        if twin is not None:
            twins.give(desk.store, desk.runner, bug, twin)


def hear(desk: Desk, bug: Bug) -> None:
    """LOCATED: the court judges the reduced case; what is not the compiler's bug is put aside with the evidence.

    Reducing may lose a bug in rounding or in open behaviour that the case it began with is free of, and always
    loses what the source test expects. So where the reduced case does not stand before the court, that one is
    heard, and if it does, takes its place, unless a single operator of it is what is wrong. A bug of the reference
    becomes a bug of its own: a report written for the compiler's maintainers would go to the wrong people.
    """
    case, first = _reduced_case(desk, bug), _failure(desk, bug).case
    judgement = _judgement(desk, bug, case)
    if not _stands(desk, bug, judgement) and first.id != case.id:
        other = _judgement(desk, bug, first)
        if _stands(desk, bug, other):
            if _uprooted(desk, bug, _failure(desk, bug), State.LOCATED):
                return
            count = node_count(first)
            desk.store.advance(
                bug.id,
                State.LOCATED,
                State.JUDGED,
                judgement=other,
                reduced=first,
                nodes=count,
                note=_verdict(judgement),
            )
            return
    if _stands(desk, bug, judgement):
        with _locating:
            kin = twins.kin(desk.store, bug, judgement)
            if kin is None:
                desk.store.advance(bug.id, State.LOCATED, State.JUDGED, judgement=judgement)
                return
            note = f"reads uninitialised memory as bug {kin.id} does, in an operator of the same family"
            desk.store.advance(bug.id, State.LOCATED, State.DUPLICATE, judgement=judgement, note=note)
        return
    flaky = judgement.verdict in (None, Ruling.NONDETERMINISTIC)
    state = State.FLAKY if flaky else State.INVALID
    if judgement.verdict is Ruling.REFERENCE_BUG:
        _accuse_reference(desk, case)  # first: a kill in between has it recorded again, never lost
    desk.store.advance(bug.id, State.LOCATED, state, judgement=judgement, note=_verdict(judgement))


def _stands(desk: Desk, bug: Bug, judgement: Judgement) -> bool:
    """Whether the project that the bug is filed under is the one at fault."""
    guilty = Ruling.REFERENCE_BUG if accused(bug.target, desk.reference) else Ruling.COMPILER_BUG
    return judgement.verdict is guilty


def _accuse_reference(desk: Desk, case: Case) -> None:
    """Record the failure of the reference on the case: it goes through all steps as a compiler's would."""
    failure = desk.judge.examine(case, desk.reference).failure
    if failure is not None:
        described = Signer(desk.runner).describe(failure)
        with _locating:
            desk.store.record(0, (), [described])


def _judgement(desk: Desk, bug: Bug, case: Case) -> Judgement:
    return Court(desk.runner, desk.reference, COURT_SECONDS).hear(case, bug.target, bug.perturb)


def _verdict(judgement: Judgement) -> str:
    whose = f" of {judgement.project}" if judgement.project else ""
    return f"{judgement.verdict or 'does not fail'}{whose}: {judgement.reason}"


def draft(desk: Desk, bug: Bug) -> None:
    """JUDGED: write the report; its reproducer must fail in a fresh process before it is saved."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        note = "the reduced case does not fail in a fresh process"
        desk.store.advance(bug.id, State.JUDGED, State.FLAKY, note=note)
        return
    judge = replace(desk.judge, perturb=bug.perturb)
    try:
        text = drafting.write(desk.store, bug, failure, desk.runner.limits, Signer(desk.runner), bug.perturb, judge)
    except drafting.CannotDraft as problem:
        desk.store.amend(bug.id, State.JUDGED, note=str(problem))
        return
    revision = failure.target.revision
    rerun = reproducer.rerun(text.script, revision.python, untrusted=revision.untrusted)
    message = failure.outcome.error.message if failure.outcome.error else ""
    if not reproducer.reproduces(failure.symptom, message, rerun):
        note = f"the reproducer does not show it (exit status {rerun.status}): {rerun.output[-1000:]}"
        desk.store.advance(bug.id, State.JUDGED, State.FLAKY, note=note)
        return
    with _locating:
        sibling = twins.sibling(desk.store, bug, text.title)
        if sibling is not None:
            note = f"ignores what bug {sibling.id} ignores in a related operator, or the rest of its attributes"
            desk.store.advance(bug.id, State.JUDGED, State.DUPLICATE, note=note)
            return
        path = drafting.save(desk.reports, bug, text)
        desk.store.advance(bug.id, State.JUDGED, State.DRAFTED, draft=text, report_path=str(path))


def reduced_failure(desk: Desk, bug: Bug) -> Failure | None:
    """The failure of the bug's reduced case, run again in a fresh process; None when it passes now."""
    verdict = replace(desk.judge, perturb=bug.perturb).examine(_reduced_case(desk, bug), bug.target)
    return verdict.failure if verdict.failure and verdict.failure.symptom == bug.symptom else None


def _reduced_case(desk: Desk, bug: Bug) -> Case:
    return desk.store.case(bug.reduced_case_id) if bug.reduced_case_id else _failure(desk, bug).case


#: The pipeline, shown once.
STEPS: Mapping[State, Step] = {
    State.NEW: confirm,
    State.CONFIRMED: reduce_bug,
    State.REDUCED: locate,
    State.LOCATED: hear,
    State.JUDGED: draft,
    State.DUPLICATE: rejoin,
}


def advance_all(desk: Desk, bugs: Sequence[Bug], tell: Callable[[Bug], None] = lambda bug: None) -> None:
    """Take every bug through its steps, urgent ones first, until all are done or the time is over."""
    seen: set[int] = set()
    waiting = sorted((bug for bug in bugs if bug.state in STEPS), key=_urgency)
    with ThreadPoolExecutor(desk.runner.jobs, "triage") as pool:
        while waiting:
            seen |= {bug.id for bug in waiting}
            for finished in pool.map(lambda bug: advance(desk, bug), waiting):
                tell(finished)
            found = desk.store.bugs([State.NEW])  # what the others' steps came across
            waiting = [] if desk.over() else sorted((bug for bug in found if bug.id not in seen), key=_urgency)


def advance(desk: Desk, bug: Bug, tell: Callable[[Bug], None] = lambda bug: None) -> Bug:
    """Take one bug through its steps until none is due or the time is over; `tell` hears of it before each.

    What `tell` raises comes through.
    """
    while bug.state in STEPS and not desk.over():
        tell(bug)
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
    lost = bug.best_failure_id is None and bug.state in (State.NEW, State.CONFIRMED, State.LOCATED, State.JUDGED)
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
