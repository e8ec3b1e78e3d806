"""A call whose wrong result is open in one of its steps: PyTorch's ``diff`` subtracts, and 8 bits may not hold that.

Rules are about calls by name (`undefined`). The core operators that a call becomes are calls, too, and are heard as
such, on eager PyTorch's own values. One that errs where nothing is open is the compiler's bug, whatever the others do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzz import instance_names, validity
from fuzz.case import Case, Origin, Target
from fuzz.judge import Judge
from fuzz.oracles import undefined
from fuzz.oracles.undefined import Objection
from triage import asking
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing
from triage.court.kinds import undefined as undefined_kind
from triage.passes._instances import parsed

SYMPTOMS = ("wrong",)
#: Calls of more steps are not looked at: each may cost a run.
_MOST_STEPS = 24


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where a step is open that the compiler computes otherwise, and all others are right.

    Not where rules speak of the call itself: then it is known which elements are open.
    """
    if hearing.case.kind != "instance" or not hearing.compares_values or _objection(hearing.case):
        return None
    steps = list(_steps(hearing))
    spoken_of = [step for step in steps if _objection(step)]
    if not spoken_of or len(steps) > _MOST_STEPS:
        return None
    heard = [_heard(hearing, step) for step in spoken_of]
    judge = Judge(hearing.runner, hearing.reference)
    others = (step for step in steps if step not in spoken_of)
    if any(one.settles is None for one in heard if one) or any(_errs(judge, step, hearing.target) for step in others):
        return None
    found = next((one for one in heard if one), None)
    if found is None:
        return None
    operator, _, said = found.sentence.partition(": ")
    return replace(found, kind="steps", sentence=f"{operator}, a step of the call: {said}")


def _heard(hearing: Hearing, step: Case) -> Evidence | None:
    """What is said of a step that the compiler computes otherwise; None where it does not.

    It settles nothing where elements differ that are not open.
    """
    [known] = validity.judge(hearing.runner, [step], hearing.reference)
    outcome = hearing.runner.run(step, hearing.target)
    of_step = replace(hearing, case=step, outcome=outcome, known=known)
    if not of_step.symptom[0]:
        return None
    objection = _objection(step)
    assert objection is not None
    plain = Evidence("steps", Side.AGAINST, f"{objection.operator} errs by itself", {})
    return (undefined_kind.gather(of_step) if of_step.manner == "wrong" else None) or plain


def _errs(judge: Judge, step: Case, target: Target) -> bool:
    return judge.examine(step, target, fresh=False).failure is not None


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
