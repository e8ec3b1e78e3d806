"""Validity first: what a case must pass before any value of a compiler is compared (issue 2, point 5).

The reference backend judges in a child process like any compiler: parsing, onnx.checker, strict shape
inference, evaluation. A hostile model can kill onnx.checker as well as a compiler. What all of them
let pass although the specification forbids it is looked for only once a case has failed: it needs a run
of the reference with every value recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fuzz import unsupported
from fuzz.case import Case, Outcome, Revision, Stage, Status, Target, options_from
from fuzz.oracles import refusal, undefined
from fuzz.runner import Runner
from fuzz.wire import Value

#: How the reason begins why a case is no valid test if it is the evaluator that says so.
REJECTED = "rejected by the reference"


@dataclass(frozen=True)
class Reference:
    """The reference's outcome of one case.

    `invalid` says why the case is not a valid test, "" when it is. `incomparable` says why the
    values of a valid case must not be compared (random by definition, no reference implementation). `broken` is what
    an invalid case breaks on purpose, if onnx.checker says that it does.
    """

    outcome: Outcome
    invalid: str = ""
    incomparable: str = ""
    broken: str = ""


def reference_target(version: str, **options: str) -> Target:
    """The reference evaluator as a target."""
    return Target("reference", Revision(version), options_from(options))


def judge(runner: Runner, cases: Sequence[Case], target: Target) -> list[Reference]:
    """Run the reference on `cases` and say which are invalid or incomparable."""
    outcomes = list(runner.run_batch(cases, target))
    return [_judge(runner, case, outcome, target) for case, outcome in zip(cases, outcomes, strict=True)]


def _judge(runner: Runner, case: Case, outcome: Outcome, target: Target) -> Reference:
    if outcome.status not in (Status.OK, Status.UNSUPPORTED, Status.SKIPPED):
        outcome = runner.run_fresh(case, target)
    if outcome.status is Status.OK:
        random = undefined.nondeterministic(case.kind, case.model, case.inputs)
        return Reference(outcome, incomparable=f"{random.operator}: {random.reason}" if random else "")
    error = outcome.error
    said = (error.message or error.signal or outcome.status) if error else outcome.status
    said = said.strip().splitlines()[0][:300] if said.strip() else outcome.status
    if outcome.status in (Status.UNSUPPORTED, Status.SKIPPED) and error:
        why = unsupported.reason("reference", error, outcome.stage) or said
        return Reference(outcome, incomparable=f"no reference value: {why}")
    judge_name = {Stage.LOAD: "parsing", Stage.CONVERT: "onnx.checker", Stage.RUN: "the reference"}
    broken = refusal.broken(case.origin) if outcome.stage is Stage.CONVERT else ""
    return Reference(
        outcome, invalid=f"rejected by {judge_name.get(outcome.stage, 'the reference')}: {said}", broken=broken
    )


def raised(known: Reference) -> bool:
    """Whether a model that parser, checker and shape inference accept is invalid only for the evaluator's sake."""
    return bool(known.invalid) and known.outcome.status is Status.EXCEPTION and known.outcome.stage is Stage.RUN


def recorded(runner: Runner, case: Case, target: Target) -> Mapping[str, Value]:
    """Every tensor of an ONNX case's main graph, by name: one more run of the reference.

    Those in the bodies that ran and in the functions called have names of their own (`fuzz.backends._tap`). What it
    cannot evaluate is missing; the inputs never are. An operator instance gives nothing.
    """
    if case.kind != "onnx":
        return {}
    tapped = replace(target, options=options_from({**dict(target.options), "intermediates": "all"}))
    return {**dict(runner.run(case, tapped).outputs), **case.inputs}


def violation(case: Case, values: Mapping[str, Value], *, bodies: bool = False) -> str:
    """The stated precondition that a case with these `recorded` values breaks, else "". With `bodies` in these, too."""
    broken = undefined.violation(case.kind, case.model, values, bodies=bodies)
    return f"breaks the specification: {_where(broken)}: {broken.reason}" if broken else ""


def refusable(case: Case, values: Mapping[str, Value]) -> str:
    """Why an exception is a fair answer to a valid case: it asks for what need not be computed. Else ""."""
    objection = undefined.refusable(case.kind, case.model, values)
    return f"may be refused: {_where(objection)}: {objection.reason}" if objection else ""


def trapping(case: Case, values: Mapping[str, Value], outcome: Outcome) -> str:
    """Why a death while the model runs is what the processor makes of a value that is not defined. Else "".

    A compiler that dies while it converts or compiles has computed the value itself: that is never excused.
    """
    if outcome.status is not Status.SIGNAL or outcome.stage is not Stage.RUN or outcome.error is None:
        return ""
    objection = undefined.trapping(case.kind, case.model, values, outcome.error.signal)
    return f"may end by {objection.traps}: {_where(objection)}: {objection.reason}" if objection else ""


def undefined_behaviour(case: Case, values: Mapping[str, Value], differing: set[str]) -> str:
    """Why a difference in `case` is not a bug: the documented undefined behaviour it runs into, else "".

    `values` are those `recorded`. Only what reaches the `differing` outputs excuses them.
    """
    objection = undefined.screen(case.kind, case.model, values, differing)
    return f"{objection.operator}: {objection.reason}" if objection else ""


def _where(objection: undefined.Objection) -> str:
    return f"{objection.operator} {objection.node_name!r}" if objection.node_name else objection.operator
