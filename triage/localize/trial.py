"""One question asked of one failure again and again: does it still fail, with this case, with these options?"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from enum import StrEnum

from fuzz.case import Case, Failure, Outcome, Status, Target
from fuzz.judge import Judge
from triage.asking import with_options
from triage.messages import core
from triage.operators import value_names
from triage.signature import normalise

#: A failure that costs a time or memory limit each time it is seen is not asked about again and again.
COSTLY = frozenset({Status.TIMEOUT, Status.OOM})
#: Words with a digit, types without one, and what numbers made of other words.
_NUMBERED = re.compile(r"[\w.]*\d[\w.]*|\b(?:[A-Z]\.)?(?:DTYPE|bool|boolean|float|double|half)\b")

#: So many characters of a message may tell that another, which holds them, is of the same failure.
_TELLING = 6


def words(failure: Failure | None) -> str:
    """What an exception says, without numbers, shapes, names and types, which may differ between cases; else ""."""
    error = failure.outcome.error if failure else None
    if failure is None or error is None:
        return ""
    return _NUMBERED.sub("#", normalise(core(error.message), value_names(failure.case)))


def _retold(found: Failure, failure: Failure) -> bool:
    """Whether one says word for word what the other says, and more: of the same case, which has the same numbers.

    torch.compile's eager backend adds the node at which an assertion fails, inductor's code tells its expression alone.
    """
    one, other = found.outcome.error, failure.outcome.error
    if one is None or other is None or found.case.id != failure.case.id:
        return False
    less, more = sorted((core(one.message).strip(), core(other.message).strip()), key=len)
    return len(less) >= _TELLING and re.search(rf"(?<![\w.]){re.escape(less)}(?![\w.])", more) is not None


class Answer(StrEnum):
    """What became of the failure."""

    PASSES = "passes"
    SAME = "same"  # fails with the same symptom, an exception with the same words, of the same case with some around it
    OTHER = "other"  # fails otherwise, is refused, or cannot be judged


@dataclass
class Trial:
    """Asks about one failure. Runs beyond the deadline (monotonic s) are not made: `over` says so."""

    judge: Judge
    failure: Failure
    deadline: float | None = None
    runs: int = 0
    _known: dict[tuple[str, str], Answer] = field(default_factory=dict)

    def over(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def target(self, **options: str) -> Target:
        """The failure's target with some options changed."""
        return with_options(self.failure.target, **options)

    def ask(self, case: Case | None = None, target: Target | None = None, *, fresh: bool = False) -> Answer:
        """What the case (the failing one) does on the target (the failing one). Warm answers are remembered."""
        case, target = case or self.failure.case, target or self.failure.target
        key = case.id, target.id
        if fresh or key not in self._known:
            self.runs += 1
            answer = self._answer(case, target, fresh)
            if fresh:
                return answer
            self._known[key] = answer
        return self._known[key]

    def _answer(self, case: Case, target: Target, fresh: bool) -> Answer:
        verdict = self.judge.examine(case, target, fresh=fresh)
        if verdict.failure is not None:
            same = words(verdict.failure) == words(self.failure) or _retold(verdict.failure, self.failure)
            return Answer.SAME if same and verdict.failure.symptom == self.failure.symptom else Answer.OTHER
        return Answer.PASSES if verdict.status is Status.OK else Answer.OTHER

    def flips(self, off: Target, on: Target | None = None, case: Case | None = None) -> bool:
        """Whether the failure goes away with `off` and comes back with `on`, each time seen twice."""
        return self.sure(Answer.PASSES, case, off) and self.sure(Answer.SAME, case, on)

    def sure(self, answer: Answer, case: Case | None = None, target: Target | None = None) -> bool:
        """Whether the answer is seen twice, the second time in a process that has run nothing else."""
        return self.ask(case, target) is answer and self.ask(case, target, fresh=True) is answer

    def outcome(self, target: Target) -> Outcome:
        """What the failing case does on another target, without a verdict."""
        self.runs += 1
        return self.judge.runner.run_fresh(self.failure.case, target)
