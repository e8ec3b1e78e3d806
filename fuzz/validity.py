"""Validity first: what a case must pass before any value of a compiler is compared (issue 2, point 5).

The reference backend judges in a child process like any compiler: parsing, onnx.checker, strict shape
inference, evaluation. A hostile model can kill onnx.checker as well as a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuzz import unsupported
from fuzz.case import Case, Outcome, Revision, Stage, Status, Target, options_from
from fuzz.oracles import undefined
from fuzz.runner import Runner


@dataclass(frozen=True)
class Reference:
    """The reference's outcome of one case.

    `invalid` says why the case is not a valid test, "" when it is. `incomparable` says why the
    values of a valid case must not be compared (random by definition, no reference implementation).
    """

    outcome: Outcome
    invalid: str = ""
    incomparable: str = ""


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
    return Reference(outcome, invalid=f"rejected by {judge_name.get(outcome.stage, 'the reference')}: {said}")


def undefined_behaviour(runner: Runner, case: Case, target: Target, differing: set[str]) -> str:
    """Why a difference in `case` is not a bug: the documented undefined behaviour it runs into, else "".

    Evaluates the case once more with every intermediate value kept. Only what reaches the `differing`
    outputs excuses them.
    """
    tapped = Target(target.backend, target.revision, options_from({"intermediates": "on"}))
    values = {}
    if case.kind == "onnx":
        outcome = runner.run(case, tapped)
        values = dict(outcome.outputs) | dict(case.inputs)
    objection = undefined.screen(case.kind, case.model, values, differing)
    return f"{objection.operator}: {objection.reason}" if objection else ""
