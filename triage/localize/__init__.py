"""Where a failure lies: stage, operator, pass, conversion function, and a guess at the root cause.

One file a question: `operator` (which node of a model), `instance` (which of the operators that an api becomes),
`stages` (which part of the compiler), `order` and `switches` (which pass), `cause` (which kind of mistake). Each takes
what is known and returns what is known then. Every claim about a stage, operator or pass was seen both ways, twice,
the second time in a fresh process; what cannot be shown stays unknown.
"""

from __future__ import annotations

from fuzz.case import Failure
from fuzz.judge import Judge
from fuzz.zygote import BackendUnavailable
from triage import crash_site
from triage.dying import last_output
from triage.localize import cause, instance, operator, order, stages, switches
from triage.localize.location import Location, Part
from triage.localize.trial import COSTLY, Trial
from triage.operators import operators
from triage.signature import Signature

__all__ = ["Location", "Part", "localize"]


def localize(judge: Judge, failure: Failure, signature: Signature, deadline: float | None = None) -> Location:
    """Where a confirmed failure lies, best of its reduced case. `deadline` is a monotonic time in s.

    `judge` judges as the failure was judged (perturbed memory and all); `signature` is the failure's. A hang is not
    looked into: every question would take the time limit.
    """
    trial = Trial(judge, failure, deadline)
    known = Location(conversion_function=signature.conversion_function)
    for look in (operator.locate, instance.locate, _convert, stages.locate, order.locate, switches.locate):
        if trial.over() or failure.outcome.status in COSTLY:
            break
        try:
            known = look(trial, known)
        except BackendUnavailable:  # a compiler that cannot be asked tells nothing
            break
    return cause.locate(failure, known, perturbed=judge.perturb is not None)


def _convert(trial: Trial, known: Location) -> Location:
    """The function that converts the guilty operator, where the signature could not tell among several.

    Where a process dies in a function that is known by name, that is the place.
    """
    died = crash_site.place(last_output(trial.failure))
    if died:
        return known.learn(f"the process dies in {died}")
    if not known.operator or known.conversion_function:
        return known
    failure = trial.failure
    met = [("torch", known.operator, 0)] if failure.case.kind == "instance" else operators(failure.case)
    suspects = [entry for entry in met if entry[1] == known.operator]
    found = set(trial.judge.runner.converters(failure.target, suspects))
    name = found.pop() if len(found) == 1 else ""
    return (
        known.learn(f"this compiler converts {known.operator} in {name}", conversion_function=name) if name else known
    )
