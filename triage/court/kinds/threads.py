"""Other numbers of threads: a result that they change beyond rounding shows a race."""

from __future__ import annotations

from dataclasses import replace

from fuzz import judge, registry
from fuzz.case import Status, options_from
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong",)
OPTION = "threads"


def gather(hearing: Hearing) -> Evidence | None:
    """For backends with the option ``threads``: the smallest and the largest number of them."""
    counts = registry.backend(hearing.target.backend).options.get(OPTION, ())
    chosen = dict(hearing.target.options)
    mine = chosen.get(OPTION, counts[0] if counts else "")
    others = [count for count in dict.fromkeys((*counts[:1], *counts[-1:])) if count != mine]
    if not others or hearing.hurried():
        return None
    cured = [count for count in others if _differs(hearing, options_from({**chosen, OPTION: count}))]
    figures = {"threads": mine, "others": others, "cured": cured}
    if cured:
        sentence = f"with {' or '.join(cured)} threads the result is the expected one, with {mine} it is not"
        return Evidence("threads", Side.AGAINST, sentence, figures)
    return Evidence(
        "threads", Side.NEUTRAL, f"the result is the same with {' and '.join((mine, *others))} threads", figures
    )


def _differs(hearing: Hearing, options: tuple[tuple[str, str], ...]) -> bool:
    target = replace(hearing.target, options=options)
    outcome = hearing.runner.run_fresh(hearing.case, target, perturb=hearing.perturb, limits=hearing.limits())
    return outcome.status is Status.OK and measure.nearer(judge.values(outcome), hearing.actual, hearing.expected) < 0
