"""The single step behind the failure of a call of PyTorch, which becomes several core operators.

torch.trapezoid takes the last element of a tensor with select: a compiler that counts from the wrong end is wrong in
both, and in torch.gradient, too. What a maintainer wants to hear of is the call of select.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from fuzz import instance_names, registry
from fuzz.case import Case, Failure, Origin, Outcome, Status, Target
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from triage import asking, haste
from triage.localize.trial import words
from triage.passes._instances import parsed, places

#: Each may cost a run, which takes seconds in some compilers: what is left then is the localiser's, which bisects.
MOST_STEPS, MOST_SECONDS = 128, 20.0
#: A call that is another by a name of its own has no more steps than that one, a copy and questions about sizes.
MOST_RENAMED = 4


def root(judge: Judge, failure: Failure) -> Failure | None:
    """The failure of the first step that fails alone, on eager PyTorch's own values, as a call of its own.

    Only where the compiler does the same with the steps one after the other as with the call: it may convert the call
    as a whole, in its own way. Behind wrong values is a step that is wrong in whatever way, behind a wrong shape, type
    or number of results one that is wrong in the same; an exception has the same words, a death comes in the same
    stage. Behind an exception that no step raises alone is the first that gives a wrong type, at which a later one
    stumbles: TVM leaves cumprod in int8, and what joins its result to int64 refuses. None where there is no such step,
    or the call is one step.
    """
    case, target = failure.case, failure.target
    if case.kind != "instance" or "part" not in registry.backend(target.backend).options:
        return None
    texts = asking.steps(judge.runner, case, judge.reference)
    if not 1 < len(texts) <= MOST_STEPS or not _goes_by_steps(judge, failure):
        return None
    end = haste.ends(MOST_SECONDS, None)
    mistyped: Failure | None = None
    for step in _calls(case, texts):
        if time.monotonic() > end:
            return None
        found = judge.examine(step, target, fresh=False).failure
        if found is not None and _accounts_for(found, failure):
            return _steady(judge, step, target, found)
        if found is not None and found.symptom == differential.DTYPE:
            mistyped = mistyped or found
    if mistyped is None or not failure.symptom.startswith("exception:"):
        return None
    return _steady(judge, mistyped.case, target, mistyped)


def renamed(judge: Judge, failure: Failure) -> Failure | None:
    """The failure of the step that a call is by another name: it is all, or all but copies, and fails just so.

    torch.dsmm is torch.mm, and squeeze_ is squeeze of a copy: one bug by whatever name it was met. None where the
    step takes more to be told than the call, or the call is that of a module.
    """
    case, target = failure.case, failure.target
    if case.kind != "instance" or parsed(case).init is not None:
        return None
    texts = asking.steps(judge.runner, case, judge.reference)
    steps = _calls(case, texts) if len(texts) <= MOST_RENAMED else iter(())
    found = (judge.examine(step, target).failure for step in steps if _length(step) <= _length(case))
    return next((one for one in found if one is not None and _fails_just_so(one, failure)), None)


def _fails_just_so(one: Failure, other: Failure) -> bool:
    if (one.symptom, one.outcome.stage) != (other.symptom, other.outcome.stage):
        return False
    return _same_values(one.outcome, other.outcome) and words(one) == words(other)


def _length(case: Case) -> int:
    """How many arguments a call has, those of a constructor included."""
    return len(places(parsed(case)))


def _goes_by_steps(judge: Judge, failure: Failure) -> bool:
    """Whether the compiler fails alike where it is given the core operators in the place of the call."""
    outcome = judge.runner.run(failure.case, asking.with_options(failure.target, part="core"))
    if failure.symptom.startswith("wrong:"):
        return outcome.status is Status.OK and _same_values(outcome, failure.outcome)
    if outcome.status is not failure.outcome.status or outcome.stage is not failure.outcome.stage:
        return False
    return words(replace(failure, outcome=outcome)) == words(failure)


def _same_values(one: Outcome, other: Outcome) -> bool:
    return differential.compare(values(one), values(other)) is None


def _calls(case: Case, texts: list[str]) -> Iterator[Case]:
    """The steps that are operators of the library by name, each once."""
    seen = {case.id}
    known, mine = instance_names.listed("torch"), parsed(case).api
    for text in texts:
        step = Case("instance", text.encode(), {}, Origin("step", parents=(case.id,)))
        if text and step.id not in seen and (api := parsed(step).api) in known and _name(api) != _name(mine):
            seen.add(step.id)
            yield step


def _name(api: str) -> str:
    """``add`` of ``torch.add`` and of ``torch.Tensor.add``."""
    return api.rpartition(".")[2]


def _accounts_for(step: Failure, failure: Failure) -> bool:
    kind, whole = (one.symptom.partition(":")[0] for one in (step, failure))
    if kind != whole:
        return False
    if kind == "wrong":
        return failure.symptom not in differential.FORMS or step.symptom == failure.symptom
    if kind == "exception":
        return step.symptom == failure.symptom and words(step) == words(failure)
    return step.outcome.stage is failure.outcome.stage


def _steady(judge: Judge, step: Case, target: Target, found: Failure) -> Failure | None:
    """The failure in a process that has run nothing else, if it is the same."""
    again = judge.examine(step, target).failure
    return again if again is not None and again.symptom == found.symptom else None
