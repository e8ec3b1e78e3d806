"""A call whose wrong result is open in one of its steps: PyTorch's ``diff`` subtracts, and 8 bits may not hold that.

Rules are about calls by name (`undefined`). The core operators that a call becomes are calls, too, and are heard as
such, on eager PyTorch's own values. One that errs where nothing is open is the compiler's bug, whatever the others do.
"""

from __future__ import annotations

from collections.abc import Iterator

from fuzz import instance_names
from fuzz.case import Case, Origin, Status, Verdict
from fuzz.judge import Judge
from fuzz.oracles import undefined
from fuzz.oracles.undefined import Objection
from triage import asking
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.passes._instances import parsed

SYMPTOMS = ("wrong",)
#: Calls of more steps are not looked at: each may cost a run.
_MOST_STEPS = 24


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where a step is open that the compiler computes otherwise, and all others are right."""
    if hearing.case.kind != "instance" or not hearing.compares_values:
        return None
    steps = list(_steps(hearing))
    objections = {step.id: objection for step in steps if (objection := _objection(step))}
    if not objections or len(steps) > _MOST_STEPS:
        return None
    judge = Judge(hearing.runner, hearing.reference)
    verdicts = {step.id: judge.examine(step, hearing.target, fresh=False) for step in steps}
    if any(verdict.failure for verdict in verdicts.values()):
        return None
    told = next((one for key, one in objections.items() if _excused(verdicts[key], one)), None)
    if told is None:
        return None
    words = f' The specification: "{told.spec}"' if told.spec else " The specification says nothing of it."
    sentence = f"{told.operator}, a step of the call: {told.reason.rstrip('.')}.{words}"
    figures = {"operator": told.operator, "specification": told.spec}
    return Evidence("steps", Side.FOR, sentence, figures, Ruling.UNDEFINED)


def _steps(hearing: Hearing) -> Iterator[Case]:
    """The steps that are functions of PyTorch by name, each once, without the call itself."""
    seen = {hearing.case.id}
    known = instance_names.listed("torch")
    for text in asking.steps(hearing.runner, hearing.case, hearing.reference):
        step = Case("instance", text.encode(), {}, Origin("step"))
        if text and step.id not in seen and parsed(step).api in known:
            seen.add(step.id)
            yield step


def _objection(step: Case) -> Objection | None:
    return undefined.screen(step.kind, step.model, {})


def _excused(verdict: Verdict, objection: Objection) -> bool:
    """Whether the compiler gives something else, which the objection excuses."""
    return verdict.status is Status.SKIPPED and objection.reason in verdict.reason
