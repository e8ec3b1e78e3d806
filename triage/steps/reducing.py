"""CONFIRMED to REDUCED: the smallest case with the same signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fuzz.case import Case, Failure, Status, Target
from fuzz.judge import Judge
from fuzz.oracles import differential
from triage import causal, exported, haste, plain, reduce
from triage.interesting import recorded, same_signature
from triage.lifecycle import State
from triage.localize.trial import Trial
from triage.passes import opset
from triage.records import Bug, BugFields
from triage.signing import Signer
from triage.steps.desk import Desk, about_values, failure_of, repeat, settling
from triage.steps.uprooting import uprooted
from triage.trials import Answer, Interesting

#: Two fillings of fresh memory that differ in every bit.
OTHER_BYTES = (85, 170)
REDUCE_SECONDS = 60.0
#: Of the time limit, what a candidate is given that should hang, and how many times as long its reduction may take: of
#: whole limits a reduction would end before it had begun. The last word has the whole limit.
HASTE, HANGS_LONGER = 1 / 6, 3.0


@dataclass(frozen=True)
class _Search:
    """What is looked for: cases that fail as `failure` does, and what is met on the way (`slips`)."""

    judge: Judge
    failure: Failure
    deadline: float
    interesting: Interesting
    confirm: Interesting | None
    slips: list[Failure]


def reduce_bug(desk: Desk, bug: Bug) -> list[int]:
    """CONFIRMED: the smallest case with the same signature, which then stands for the bug.

    A call of which one step alone is at fault is not reduced: the id of that bug is returned, which may be new.
    """
    search = _begun(desk, bug)
    if search is None:
        desk.store.advance(bug.id, State.CONFIRMED, State.INVALID, note=plain.ONLY_BESIDE)
        return []
    if search.failure.case.kind == "instance" and (
        (behind := uprooted(desk, bug, search.failure, State.CONFIRMED)) is not None
    ):
        return [behind]
    try:
        found = _reduced(desk, bug, search, search.confirm)
    except reduce.NotInteresting as problem:
        desk.store.advance(bug.id, State.CONFIRMED, State.FLAKY, note=str(problem))
        return []
    if not found.finished and desk.over():
        return []  # the row stays CONFIRMED: the next hunt reduces it with time to spare
    keep(desk, search.slips, search.judge.examine(found.case, search.failure.target).failure)
    good = found.min_good.difference if found.min_good else ""
    reduced = _in_known_opset(desk, found.case, search.failure.target, search.interesting)
    target = _needed(search.judge, reduced, bug.target, Signer(desk.runner))
    desk.store.advance(
        *(bug.id, State.CONFIRMED, State.REDUCED),
        **BugFields(reduced=reduced, nodes=found.nodes_after, passes_with=good, target=target),
    )
    return []


def _needed(judge: Judge, case: Case, target: Target, signer: Signer) -> Target:
    """The target with those options alone that the failure needs: what fails on a CPU, too, is no bug of a GPU.

    The way on which a case gets to the compiler (an option called like its kind) stays.
    """
    like = judge.examine(case, target).failure if target.options else None
    if like is None:
        return target

    def still_fails(simpler: Target) -> bool:
        found = judge.examine(case, simpler).failure
        if found is None or signer.sign(found).fingerprint != signer.sign(like).fingerprint:
            return False
        same = differential.compare(found.outcome.values, like.outcome.values) is None
        return same or like.oracle != "inconsistency"

    left = target
    for pair in target.options:  # each as a whole: a long list, of passes say, would cost a run an entry
        fewer = replace(left, options=tuple(one for one in left.options if one != pair))
        if pair[0] != case.kind and still_fails(fewer):
            left = fewer
    return left


def smaller(desk: Desk, bug: Bug, stands: Callable[[Case], bool]) -> Case | None:
    """The smallest case of a bug's reduction that `stands`, where the last one does not; None where none is smaller.

    Nodes go first, then shapes and values: what values lose in rounding, one operator alone need not have lost.
    """
    search = _begun(desk, bug)
    if search is None:
        return None

    def confirm(case: Case) -> Answer | bool:
        answer = search.confirm(case) if search.confirm else search.interesting(case)
        return answer if answer is not Answer.SAME or stands(case) else Answer.OTHER

    try:
        found = _reduced(desk, bug, search, confirm)
    except reduce.NotInteresting:
        return None
    return found.case if found.case.id != search.failure.case.id else None


def _begun(desk: Desk, bug: Bug) -> _Search | None:
    """None where the failure only shows beside others."""
    judge = replace(desk.judge, perturb=bug.perturb)
    hangs = bug.symptom == "hang"
    deadline = haste.ends(REDUCE_SECONDS * (HANGS_LONGER if hangs else 1.0), desk.deadline)
    own = plain.by_itself(judge, failure_of(desk, bug), deadline)
    if own is None:
        return None
    failure = exported.as_model(judge, own)
    slips: list[Failure] = []
    sign, wrong = Signer(desk.runner).sign, failure.symptom.startswith("wrong:")
    needs = causal.needs(Trial(judge, failure, deadline)).needed if wrong else frozenset()
    interesting = same_signature(hasty(judge) if hangs else judge, failure, sign, slipped=slips.append, needs=needs)
    confirm = as_steady(judge, failure, same_signature(judge, failure, sign, fresh=True, needs=needs), needs)
    return _Search(judge, failure, deadline, interesting, confirm if wrong or hangs else None, slips)


def hasty(judge: Judge) -> Judge:
    """The judge with a part of the time limit: what ends well does so in a small part of it."""
    usual = judge.runner.limits
    return replace(judge, limits=replace(usual, seconds=max(1.0, usual.seconds * HASTE)))


def _reduced(desk: Desk, bug: Bug, search: _Search, confirm: Interesting | None) -> reduce.Reduction:
    """Raises NotInteresting."""
    return reduce.reduce(
        search.failure.case,
        search.interesting,
        values=recorded(desk.runner, desk.reference),
        deadline=search.deadline,
        suspects=bug.operators,
        confirm=confirm,
        most_runs=reduce.most_runs(search.failure.symptom),
    )


def as_steady(
    judge: Judge, like: Failure, interesting: Interesting, needs: frozenset[str] = frozenset()
) -> Interesting:
    """The last word on a reduced wrong result: it is as steady as the one that it stands for, and needs the same.

    A deterministic bug must not become a read of uninitialised memory, which is a bug as well, but another one. Nor
    must a second bug come in that fails without the options which the first one `needs`.
    """
    steady = about_values(like) and _independent(judge, like.case, like.target)

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
    return repeat([replace(judge, perturb=byte).examine(case, target) for byte in OTHER_BYTES])


def keep(desk: Desk, slips: Sequence[Failure], mine: Failure | None) -> None:
    """Save what was met while a case was reduced, one case for each signature that is not known.

    `mine` is the failure of the reduced case: a small model often tells the place better, which makes no other bug.
    Candidates are no tests: of the exceptions and wrong results among them, read by hand, nearly all were the same
    bug seen otherwise or an honest refusal (decision 006). They are kept as slips. To die is never an answer: that is
    a bug like any other.
    """
    signer = Signer(desk.runner)
    described = {new.fingerprint: new for new in map(signer.describe, slips)}
    with settling:
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
