"""Judging the reference itself: other implementations that agree with each other say what is expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuzz import catalogue, registry, validity
from fuzz.case import Case, Outcome, Status, Target, Verdict
from fuzz.judge import Judge, values, without_failure
from fuzz.oracles import differential
from fuzz.validity import Reference
from fuzz.zygote import BackendUnavailable
from triage.operators import of_today

#: Who may speak against the reference, the quick ones first. Two of them must agree.
JURORS = ("onnxruntime", "openvino", "tvm")
NO_JURY = "no two other implementations agree on the result"


@dataclass(frozen=True)
class Agreement:
    """Two jurors, and the result that they share."""

    jurors: tuple[str, str]
    outcome: Outcome


@dataclass(frozen=True)
class Jury(Judge):
    """A judge that can try the reference as well: against the result that two others share.

    Every other target is judged as `Judge` does.
    """

    def examine(self, case: Case, target: Target, *, fresh: bool = True) -> Verdict:
        """The verdict on one case; on the reference, what it says is compared with what two others agree on.

        A valid model that only the reference cannot evaluate is a failure of the reference, unless an operator in it
        once had another form, which the evaluator does not know.
        """
        if not accused(target, self.reference) or case.kind != "onnx":
            return super().examine(case, target, fresh=fresh)
        [known] = validity.judge(self.runner, [case], self.reference)
        refused = validity.raised(known) and of_today(case)
        if (known.invalid and not refused) or known.incomparable:
            return without_failure(case, target, known.outcome, known)
        found = self.agreement(case, fresh)
        if found is not None:
            return self.conclude(case, target, known.outcome, Reference(found.outcome))
        if known.invalid:
            return without_failure(case, target, known.outcome, known)
        return Verdict(case, target, Status.SKIPPED, NO_JURY, known.outcome)

    def agreement(self, case: Case, fresh: bool = True) -> Agreement | None:
        """The first two jurors that have the same result, None where no two have."""
        heard: list[tuple[str, Outcome]] = []
        for name, outcome in testimonies(self, case, fresh):
            for other, said in heard:
                if not differential.compare(values(said), values(outcome)):
                    return Agreement((other, name), said)
            heard.append((name, outcome))
        return None


def accused(target: Target, reference: Target) -> bool:
    """Whether the target is the reference itself."""
    return registry.backend(target.backend).name == registry.backend(reference.backend).name


def testimonies(judge: Judge, case: Case, fresh: bool = True) -> Iterator[tuple[str, Outcome]]:
    """The results of the jurors that have one for the case, each with its name."""
    run = judge.runner.run_fresh if fresh else judge.runner.run
    for name in JURORS:
        try:
            outcome = run(case, catalogue.target(name))
        except BackendUnavailable:
            continue
        if outcome.status is Status.OK:
            yield name, outcome
