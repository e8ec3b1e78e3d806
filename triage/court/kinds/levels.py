"""The same compiler at other levels of optimisation: a compiler that disagrees with itself is wrong."""

from __future__ import annotations

from dataclasses import replace

from fuzz import judge, registry
from fuzz.case import Status, options_from
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong", "death")
OPTION = "opt"


def gather(hearing: Hearing) -> Evidence | None:
    """For backends with the option ``opt``: which of its values give the expected result."""
    levels = registry.backend(hearing.target.backend).options.get(OPTION, ())
    if not levels or hearing.hurried():
        return None
    chosen = dict(hearing.target.options)
    mine = chosen.get(OPTION, levels[0])
    right: list[str] = []
    failing = [mine]
    for level in levels:
        if level == mine or hearing.hurried():
            continue
        (right if _is_right(hearing, options_from({**chosen, OPTION: level})) else failing).append(level)
    figures = {"right": right, "failing": failing}
    if not right:
        sentence = (
            f"every level of optimisation fails ({', '.join(failing)}): not the optimiser, but a kernel or the frontend"
        )
        return Evidence("levels", Side.NEUTRAL, sentence, figures)
    sentence = (
        f"the same compiler is right with opt={', '.join(right)} and fails with opt={', '.join(failing)}: its optimiser"
    )
    return Evidence("levels", Side.AGAINST, sentence, figures)


def _is_right(hearing: Hearing, options: tuple[tuple[str, str], ...]) -> bool:
    outcome = hearing.runner.run_fresh(hearing.case, replace(hearing.target, options=options), limits=hearing.limits())
    if outcome.status is not Status.OK:
        return False
    return hearing.manner == "death" or measure.nearer(judge.values(outcome), hearing.actual, hearing.expected) < 0
