"""Which operator of an instance is at fault: an api may become many core operators of PyTorch.

The same search as for the nodes of a model (`triage.localize.operator`): the program is cut behind one operator
after the other, and the claim is made when the operator alone, on eager PyTorch's own values, fails as well.
"""

from __future__ import annotations

from dataclasses import replace

from fuzz import registry
from triage import asking
from triage.localize.location import Location
from triage.localize.trial import Answer, Trial


def locate(trial: Trial, known: Location) -> Location:
    """The guilty operator of an instance, as far as it can be told."""
    target = trial.failure.target
    if trial.failure.case.kind != "instance" or "part" not in registry.backend(target.backend).options:
        return known
    parts = asking.parts(trial.judge.runner, trial.failure.case, trial.judge.reference)
    if not parts:
        return known
    at = _first_wrong(trial, len(parts))
    if at is None or not _sure(trial, f"only {at}"):
        return known
    name = parts[at]
    if len(parts) == 1:
        return known.learn(f"the call becomes {name} and nothing else", operator=name)
    said = f"{name} alone, on eager PyTorch's own values, fails in the same way (seen twice)"
    return known.learn(said, operator=name)


def _first_wrong(trial: Trial, count: int) -> int | None:
    low, high = 0, count - 1
    if _ask(trial, f"upto {high}") is not Answer.SAME:
        return None
    while low < high:
        if trial.over():
            return None
        middle = (low + high) // 2
        if _ask(trial, f"upto {middle}") is Answer.SAME:
            high = middle
        else:
            low = middle + 1
    return low


def _ask(trial: Trial, part: str) -> Answer:
    return _of_part(trial, part).ask(target=trial.target(part=part))


def _sure(trial: Trial, part: str) -> bool:
    return _of_part(trial, part).sure(Answer.SAME, target=trial.target(part=part))


def _of_part(trial: Trial, part: str) -> Trial:
    """The same question with the reference taking the same part."""
    judge = replace(trial.judge, reference=asking.with_options(trial.judge.reference, part=part))
    return Trial(judge, trial.failure, trial.deadline)
