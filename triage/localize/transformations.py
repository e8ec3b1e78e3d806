"""Which of OpenVINO's transformations is guilty: the first behind which the graph gives the wrong values.

OpenVINO has no switch for a single transformation, but it writes the graph down after each of them, and its interpreter
can evaluate those graphs without any transformation or plugin. So the guilty one is seen both ways: the graph that it
takes is right, the graph that it leaves is wrong in the same way as the compiled model.
"""

from __future__ import annotations

from fuzz.case import Target
from triage import asking
from triage.localize.location import Location, Part
from triage.localize.trial import Answer, Trial

#: How a maintainer sees the same.
_HOW = "`OV_ENABLE_SERIALIZE_TRACING=true` writes the graph after every pass"


def locate(trial: Trial, known: Location) -> Location:
    """The guilty transformation of a wrong result whose frontend is cleared, as far as it can be told."""
    if trial.failure.oracle == "crash":
        return known  # what fails to compile has no graph behind the guilty pass
    target = trial.failure.target
    names = asking.passes(trial.judge.runner, trial.failure.case, target)
    at = _first_wrong(trial, names)
    if at is None:
        return known
    before = _after(trial, names[at - 1]) if at else trial.target(engine="interpreter")
    if not trial.flips(before, _after(trial, names[at])):
        return known
    name = names[at].partition(" ")[2]
    said = f"Model.evaluate() is right for the graph that {name} takes and wrong for the one that it leaves"
    return known.learn(f"{said} (each seen twice; {_HOW})", pass_=name, stage=Part.OPTIMISATION)


def _first_wrong(trial: Trial, names: list[str]) -> int | None:
    """The position of the first transformation behind which the graph fails, by bisection; None where none does.

    Behind some the graph holds what only the plugin can run. The guilty one is then looked for before them.
    """
    low, high = -1, len(names)
    while high - low > 1:
        if trial.over():
            return None
        middle = (low + high) // 2
        if trial.ask(target=_after(trial, names[middle])) is Answer.PASSES:
            low = middle
        else:
            high = middle
    return high if high < len(names) else None


def _after(trial: Trial, name: str) -> Target:
    return trial.target(engine="interpreter", upto=name)
