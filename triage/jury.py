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

#: Who may speak against the reference, the quick ones first. Two of them must agree.
JURORS = ("onnxruntime", "openvino", "tvm")
NO_JURY = "no two other implementations agree on the result"


@dataclass(frozen=True)
class Jury(Judge):
    """A judge that can try the reference as well: against the result that two others share.

    Every other target is judged as `Judge` does.
    """

    def examine(self, case: Case, target: Target, *, fresh: bool = True) -> Verdict:
        """The verdict on one case; on the reference, its result is compared with what two others agree on."""
        if not accused(target, self.reference) or case.kind != "onnx":
            return super().examine(case, target, fresh=fresh)
        [known] = validity.judge(self.runner, [case], self.reference)
        if known.invalid or known.incomparable:
            return without_failure(case, target, known.outcome, known)
        agreed = self._agreed(case, fresh)
        if agreed is None:
            return Verdict(case, target, Status.SKIPPED, NO_JURY, known.outcome)
        return self.conclude(case, target, known.outcome, Reference(agreed))

    def _agreed(self, case: Case, fresh: bool) -> Outcome | None:
        heard: list[Outcome] = []
        for outcome in testimonies(self, case, fresh):
            twin = next((one for one in heard if not differential.compare(values(one), values(outcome))), None)
            if twin is not None:
                return twin
            heard.append(outcome)
        return None


def accused(target: Target, reference: Target) -> bool:
    """Whether the target is the reference itself."""
    return registry.backend(target.backend).name == registry.backend(reference.backend).name


def testimonies(judge: Judge, case: Case, fresh: bool = True) -> Iterator[Outcome]:
    """The results of the jurors that have one for the case."""
    run = judge.runner.run_fresh if fresh else judge.runner.run
    for name in JURORS:
        try:
            outcome = run(case, catalogue.target(name))
        except BackendUnavailable:
            continue
        if outcome.status is Status.OK:
            yield outcome
