"""Which revision changed an outcome, by bisection as far as time allows: told and kept with the bug, never needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot import bisecting, durations
from bot.bisecting import Question, Subject
from bot.failures import Refusal
from bot.life import branch
from bot.settings import Project
from fuzz.runner import Runner
from triage.bisect.bisection import NoAnswer
from triage.bisect.found import Found
from triage.records import Bug
from triage.revisions.config import Compiler
from triage.scrub import revision
from triage.store import Store


@dataclass(frozen=True)
class Change:
    """The change that fixed or broke a bug, or why none can be named."""

    found: Found | None
    why: str = ""

    @property
    def words(self) -> dict[str, object]:
        """For the templates."""
        if self.found is None:
            return {"first": "", "before": "", "confidence": 0.0, "between": "", "why": self.why}
        one = self.found
        known = {"first": one.first, "before": one.last_before, "confidence": one.confidence}
        return {**known, "between": one.among(revision), "why": ""}


def change(
    runner: Runner,
    compiler: Compiler,
    project: Project,
    store: Store,
    bug: Bug,
    starts: Sequence[str],
    end: str,
    *,
    fix: bool,
    say: Callable[[str], object],
) -> Change:
    """The change between one of `starts` (the first that gives an answer; "" is left out) and `end`; kept with the bug.

    Raises triage.store.Conflict where the bug has moved since it was read.
    """
    subject = Subject(bisecting.case_of(store, bug), dict(bug.target.options), bug.perturb)
    budget = durations.seconds(project.triage_budget)
    why = ""
    for start in dict.fromkeys(name for name in starts if name and name != end):
        if branch.older(compiler, end, start):
            why = why or f"{start} is newer than {end}"
            continue
        question = Question(compiler, subject, start, end, fix, sweep=False, budget=budget)
        try:
            answer = bisecting.search(runner, question, say)
        except (Refusal, NoAnswer) as problem:
            why = why or " ".join(str(problem).split())
            continue
        found = bisecting.found(answer)
        if found is not None:
            bisecting.keep(store, bug, answer, fix)
            return Change(found)
        why = why or next(iter(answer.sentences(fix)))
    return Change(None, why)
