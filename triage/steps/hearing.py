"""LOCATED to JUDGED: the court hears the case."""

from __future__ import annotations

from dataclasses import replace

from fuzz.case import Case
from triage import drafting, haste, twins
from triage.court.evidence import Judgement, Ruling
from triage.court.hearing import Court
from triage.jury import accused
from triage.lifecycle import State
from triage.operators import node_count
from triage.records import Bug, BugFields
from triage.signing import Signer
from triage.steps.desk import Desk, failure_of, reduced_case, settling
from triage.steps.reducing import smaller
from triage.steps.uprooting import uprooted

_KIN = "reads uninitialised memory as bug {id} does, in an operator of the same family"


def hear(desk: Desk, bug: Bug) -> None:
    """LOCATED: the court judges the reduced case; what is not the compiler's bug is put aside with the evidence.

    Reducing may lose a bug in rounding or in open behaviour that the case it began with is free of, and always
    loses what the source test expects. So where the reduced case does not stand before the court, that one is
    heard, and if it does, the smallest case on the way that stands takes its place, unless a single operator of it is
    what is wrong. A bug of the reference
    becomes a bug of its own: a report written for the compiler's maintainers would go to the wrong people.
    """
    case, first = reduced_case(desk, bug), failure_of(desk, bug).case
    judgement = _judgement(desk, bug, case)
    if not _stands(desk, bug, judgement) and first.id != case.id:
        other = _judgement(desk, bug, first)
        if _stands(desk, bug, other):
            if uprooted(desk, bug, failure_of(desk, bug), State.LOCATED):
                return
            found = smaller(desk, bug, lambda tried: _stands(desk, bug, _judgement(desk, bug, tried)))
            if found is not None:
                first, other = found, _judgement(desk, bug, found)
            count, note = node_count(first), _verdict(judgement)
            settle(desk, replace(bug, nodes=count), other, {"reduced": first, "nodes": count, "note": note})
            return
    if _stands(desk, bug, judgement):
        settle(desk, bug, judgement)
        return
    flaky = judgement.verdict in (None, Ruling.NONDETERMINISTIC)
    state = State.FLAKY if flaky else State.INVALID
    if judgement.verdict is Ruling.REFERENCE_BUG:
        _accuse_reference(desk, case)  # first: a kill in between has it recorded again, never lost
    desk.store.advance(bug.id, State.LOCATED, state, judgement=judgement, note=_verdict(judgement))


def settle(desk: Desk, bug: Bug, judgement: Judgement, more: BugFields | None = None) -> None:
    """LOCATED to JUDGED, with what `more` is to be kept of it, or to DUPLICATE where such a bug is known already.

    Of the two the one with fewer nodes is kept, as long as nothing was said of the other: what several operators give
    that read memory which nobody wrote differs from run to run, so that a model may not be reduced.
    """
    with settling:
        kin = twins.kin(desk.store, bug, judgement)
        if kin is not None and not _simpler(bug, kin):
            desk.store.advance(bug.id, State.LOCATED, State.DUPLICATE, judgement=judgement, note=_KIN.format(id=kin.id))
            return
        if kin is not None:
            drafting.withdraw(desk.reports, kin)
            note = _KIN.format(id=bug.id)
            desk.store.advance(kin.id, kin.state, State.DUPLICATE, note=note, report_path="")
        fields: BugFields = {**(more or {}), "judgement": judgement}
        desk.store.advance(bug.id, State.LOCATED, State.JUDGED, **fields)


def _simpler(bug: Bug, other: Bug) -> bool:
    """Whether the first has fewer nodes, and the other is nobody's concern yet."""
    unsaid = other.state in (State.JUDGED, State.DRAFTED)
    return unsaid and bug.nodes is not None and other.nodes is not None and bug.nodes < other.nodes


def _stands(desk: Desk, bug: Bug, judgement: Judgement) -> bool:
    """Whether the project that the bug is filed under is the one at fault."""
    guilty = Ruling.REFERENCE_BUG if accused(bug.target, desk.reference) else Ruling.COMPILER_BUG
    return judgement.verdict is guilty


def _accuse_reference(desk: Desk, case: Case) -> None:
    """Record the failure of the reference on the case: it goes through all steps as a compiler's would."""
    failure = desk.judge.examine(case, desk.reference).failure
    if failure is not None:
        described = Signer(desk.runner).describe(failure)
        with settling:
            desk.store.record(0, (), [described])


def _judgement(desk: Desk, bug: Bug, case: Case) -> Judgement:
    return Court(desk.runner, desk.reference, drafting.COURT_SECONDS * haste.here()).hear(case, bug.target, bug.perturb)


def _verdict(judgement: Judgement) -> str:
    whose = f" of {judgement.project}" if judgement.project else ""
    return f"{judgement.verdict or 'does not fail'}{whose}: {judgement.reason}"
