"""Known cases on one revision of a compiler: what each does there, in one letter (issue 5).

Bisection, suite, gate and sweep all ask this; none of them runs a compiler itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from fuzz import catalogue, validity
from fuzz.case import Case, Outcome, Revision, Status, Target, Verdict, options_from
from fuzz.judge import Judge
from fuzz.runner import Runner
from fuzz.validity import Reference
from fuzz.zygote import BackendUnavailable
from triage.revisions.config import Compiler
from triage.revisions.environments import Untestable

#: One letter a status; F: varies between fresh runs, S: nothing to judge. `UNSUPPORTED` is an E for whoever wants to
#: know whether a model runs; the status says which of the two it was.
LETTERS = {
    Status.OK: "P",
    Status.WRONG: "W",
    Status.EXCEPTION: "E",
    Status.UNSUPPORTED: "E",
    Status.OOM: "E",
    Status.SIGNAL: "C",
    Status.TIMEOUT: "T",
    Status.FLAKY: "F",
}
NOTHING = "S"
#: Fresh runs of a case whose first two runs disagree, and as many cases as one worker is handed at a time.
DECIDING_RUNS = 4
_CHUNK = 16


@dataclass(frozen=True)
class Replayed:
    """What one case did. `runs` counts all runs, `failed` those that did not pass; seconds are of the first run."""

    case: str
    status: Status
    symptom: str
    detail: str
    runs: int
    failed: int
    seconds: float
    verdict: Verdict | None = field(default=None, compare=False, repr=False)

    @property
    def letter(self) -> str:
        """P pass, W wrong, E exception or unsupported, C crash, T timeout, F flaky, S nothing to judge."""
        return LETTERS.get(self.status, NOTHING)

    @property
    def passed(self) -> bool:
        """Whether the compiler did what it should."""
        return self.status is Status.OK


class Replay:
    """Runs cases of a configured compiler's backend on its revisions, which must be ensured before.

    With `excuses`, a wrong value that the specification leaves open is nothing to judge, as in a hunt; without, any
    difference from the reference is wrong, which tells more about when a result changed.
    """

    def __init__(self, runner: Runner, compiler: Compiler, *, excuses: bool = True) -> None:
        self.runner = runner
        self.compiler = compiler
        self.excuses = excuses
        self._judge = Judge(runner, catalogue.target("reference"), counts_invalid=False)
        self._references: dict[str, Reference] = {}

    def target(self, revision: Revision) -> Target:
        """The compiler's backend at an ensured revision, with the configured options."""
        return Target(self.compiler.backend, revision, options_from(dict(self.compiler.options)))

    def run(self, cases: Sequence[Case], revision: Revision) -> Iterator[Replayed]:
        """One answer a case, in order. What fails in a warm worker runs again in a fresh process, until two agree or
        the case is flaky. Raises Untestable when the build cannot be imported any more."""
        self._consult(cases)
        with ThreadPoolExecutor(self.runner.jobs) as pool:
            chunks = [cases[start : start + _CHUNK] for start in range(0, len(cases), _CHUNK)]
            for answers in pool.map(lambda chunk: self._chunk(chunk, revision), chunks):
                yield from answers

    def once(self, case: Case, revision: Revision, perturb: int | None = None) -> Replayed:
        """One run in a fresh process, taken as it is; `perturb` as for `Runner.run_fresh`. Raises Untestable."""
        self._consult([case])
        target = self.target(revision)
        with _told_as_environment(revision):
            return self._answer([self._conclude(case, target, self.runner.run_fresh(case, target, perturb=perturb))])

    def close(self, revision: Revision) -> None:
        """End the workers of a revision that is done with."""
        self.runner.forget(self.target(revision))

    # ------------------------------------------------------------

    def _consult(self, cases: Iterable[Case]) -> None:
        """The reference's values of the cases that are new here; a model on which it fails has none."""
        new = [case for case in cases if case.id not in self._references]
        found = validity.judge(self.runner, new, self._judge.reference)
        self._references |= {case.id: known for case, known in zip(new, found, strict=True)}

    def _chunk(self, cases: Sequence[Case], revision: Revision) -> list[Replayed]:
        target = self.target(revision)
        with _told_as_environment(revision):
            firsts = list(self.runner.run_batch(cases, target))
            return [self._settle(case, target, first) for case, first in zip(cases, firsts, strict=True)]

    def _settle(self, case: Case, target: Target, outcome: Outcome) -> Replayed:
        first = self._conclude(case, target, outcome)
        if first.status in (Status.OK, Status.UNSUPPORTED, Status.SKIPPED, Status.INVALID):
            return self._answer([first])
        runs = [first, self._fresh(case, target)]
        if _kind(runs[0]) == _kind(runs[1]):
            return self._answer(runs)
        # A worker that has run other cases may fail for their sake: only fresh processes decide.
        fresh = [runs[1], *(self._fresh(case, target) for _ in range(DECIDING_RUNS - 1))]
        return self._answer(fresh)

    def _fresh(self, case: Case, target: Target) -> Verdict:
        return self._conclude(case, target, self.runner.run_fresh(case, target))

    def _conclude(self, case: Case, target: Target, outcome: Outcome) -> Verdict:
        known = self._references[case.id]
        if self.excuses:
            return self._judge.conclude(case, target, outcome, known)
        return self._judge.compare(case, target, outcome, known)

    def _answer(self, runs: Sequence[Verdict]) -> Replayed:
        """One answer from runs that count alike: what they agree on, or flaky."""
        shown = runs[0]
        failed = sum(1 for run in runs if run.status is not Status.OK)
        status = shown.status if len({_kind(run) for run in runs}) == 1 else Status.FLAKY
        symptom = shown.failure.symptom if shown.failure else ""
        seconds = shown.outcome.seconds if shown.outcome else 0.0
        return Replayed(shown.case.id, status, symptom, shown.reason, len(runs), failed, seconds, shown)


def _kind(verdict: Verdict) -> tuple[Status, str]:
    """What two runs of one case must share to be the same: numbers of a wrong result may differ."""
    return verdict.status, verdict.failure.symptom if verdict.failure else ""


@contextmanager
def _told_as_environment(revision: Revision) -> Iterator[None]:
    """A build that cannot be imported says nothing about any case."""
    try:
        yield
    except BackendUnavailable as error:
        raise Untestable(revision.version, str(error)) from error
