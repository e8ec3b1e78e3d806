"""What every step needs, and what several of them ask of a bug."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fuzz.case import Case, Failure, Target, Verdict
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage.jury import Jury
from triage.operators import suspects
from triage.records import Bug
from triage.signature import Signature
from triage.store import Store

#: Two bugs that turn out to be the same must not both be looked at before either is settled.
settling = threading.Lock()


@dataclass(frozen=True)
class Desk:
    """Everything a step needs. `stops` is asked, between two steps, whether to leave the rest for later."""

    store: Store
    runner: Runner
    reference: Target
    reports: Path
    deadline: float | None = None
    stops: Callable[[], bool] = lambda: False

    @property
    def judge(self) -> Judge:
        """Judges single cases on this desk's runner, those that accuse the reference too."""
        return Jury(self.runner, self.reference)

    def over(self) -> bool:
        """Whether the time for triage has ended, or something else is wished."""
        return self.stops() or (self.deadline is not None and time.monotonic() >= self.deadline)


Step = Callable[[Desk, Bug], None]


def failure_of(desk: Desk, bug: Bug) -> Failure:
    """The failure that stands for the bug."""
    assert bug.best_failure_id is not None
    return desk.store.failure(bug.best_failure_id).failure


def reduced_case(desk: Desk, bug: Bug) -> Case:
    """The reduced case; before it is reduced, that of its best failure."""
    return desk.store.case(bug.reduced_case_id) if bug.reduced_case_id else failure_of(desk, bug).case


def reduced_failure(desk: Desk, bug: Bug) -> Failure | None:
    """The failure of the bug's reduced case, run again in a fresh process; None when it passes now."""
    verdict = replace(desk.judge, perturb=bug.perturb).examine(reduced_case(desk, bug), bug.target)
    return verdict.failure if verdict.failure and verdict.failure.symptom == bug.symptom else None


def symptom_of(verdict: Verdict) -> str:
    """How it failed; empty where it did not."""
    return verdict.failure.symptom if verdict.failure else ""


def about_values(failure: Failure) -> bool:
    """Whether the values are what is wrong; beside a wrong shape or dtype they may be anything."""
    return failure.symptom not in differential.FORMS


def repeat(verdicts: Sequence[Verdict]) -> bool:
    """Whether the runs agree in what they computed; a result that is never twice the same proves little."""
    outputs = [values(verdict.outcome) for verdict in verdicts if verdict.outcome]
    return all(not differential.compare(one, outputs[0]) for one in outputs[1:])


def operators_of(failure: Failure, signature: Signature | None = None) -> list[str]:
    """The operators of a case; of an operator instance the core operators that are its place, if they are known.

    Then two calls of different names that become the same operators are one bug.
    """
    if failure.case.kind == "instance" and signature is not None and signature.kind == "operators":
        return signature.place.split("+")
    return list(dict.fromkeys(op_type for _, op_type, _ in suspects(failure.case, failure.outcome.error)))
