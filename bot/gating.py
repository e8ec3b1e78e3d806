"""A gate as a whole: what two builds of a compiler do with a suite, and the documents that tell it.

`graphwarden gate` asks it, and so does whoever judges a change without a command line.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot import baseline, journals, suitefile, touching
from bot.baseline import Baseline
from bot.builds import revision as find_revision
from bot.suitefile import Wanted
from fuzz.case import Revision
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.signing import Signer
from triage.suite import memory, running, sarif
from triage.suite.changed import Lines, Place
from triage.suite.compare import Change
from triage.suite.entries import Entry
from triage.suite.gate import Conclusion, Pair, Result, Sides
from triage.suite.gate import gate as run_gate
from triage.suite.order import Order
from triage.suite.telling import Teller, Told

#: The changes that a gate tells, a list of its document each.
LISTS = (Change.NEW_FAILURE, Change.FIXED, Change.STILL_FAILING, Change.FLAKY)


@dataclass(frozen=True)
class Question:
    """What a gate is asked.

    `base` and `head` are revisions as a user names them. `wanted` is the suite, `lines` are what the change touches
    (none: asked of the compiler's repository), `budget` is in seconds (None: the whole suite). `limits` are those of
    each run; the runner must have the same ones. With `fresh`, what an interrupted gate has found is forgotten.
    """

    compiler: Compiler
    base: str
    head: str
    wanted: Wanted
    limits: Limits
    lines: Sequence[Lines] = ()
    budget: float | None = None
    fresh: bool = False


@dataclass(frozen=True)
class Answer:
    """What a gate found. `told` has a list for each of `LISTS`, empty where nothing can be concluded; `entries` are the
    suite, with what the change touches."""

    compiler: str
    against: Baseline
    head: Revision
    result: Result
    told: Mapping[Change, Sequence[Told]]
    entries: Sequence[Entry]

    @property
    def conclusion(self) -> Conclusion:
        """Success, failure or neutral."""
        return self.result.conclusion

    @property
    def document(self) -> dict[str, Any]:
        """The document of `gate --json` (docs/gate.md)."""
        return {
            "compiler": self.compiler,
            "base": self.against.named,
            "compared_with": self.against.version,
            "head": self.head.version,
            **{change.value: [one.document for one in self.told[change]] for change in LISTS},
            "ran": len(self.result.pairs),
            "of": self.result.of,
            "seconds": round(self.result.seconds, 3),
            "conclusion": self.conclusion.value,
            "reason": self.result.reason,
        }

    @property
    def sarif(self) -> dict[str, Any]:
        """The new failures as a SARIF log."""
        findings = [
            sarif.Finding(one.id, one.title, one.symptom, one.conversion_function, one.place)
            for one in self.told[Change.NEW_FAILURE]
        ]
        return sarif.document(findings, importlib.metadata.version("graphwarden"), self.head.version)


def judge(
    runner: Runner,
    question: Question,
    give: Callable[[Answer], None],
    tell: Callable[[Pair], None] = lambda pair: None,
) -> Answer:
    """Run the suite on both builds, and return the answer.

    `tell` gets every pair as it is known, in this thread; those of an interrupted run are not told again. `give` gets
    the answer while what was found is still kept: should it raise, or the process die in it, the same question goes on
    from there. What either raises comes through.

    Raises Refusal for a head or a suite that cannot be had, and where another process is at the same question.
    """
    head = find_revision(question.compiler, question.head)
    against = baseline.find(question.compiler, question.base, head)
    base = against.revision
    places = touching.operators(question.compiler, base.commit, head, question.lines) if base else {}
    # What a change touches is in the suite, however small its slice is.
    wanted = replace(question.wanted, touched=frozenset(places))
    entries = suitefile.gather(wanted, question.compiler.backend, runner)
    gate = _Gate(runner, question, head, against, entries, places, tell)
    if against.revision is None:
        return gate.neutral(against.why, give)
    try:
        return gate.compared(against.revision, give)
    except Untestable as problem:
        return gate.neutral(str(problem), give)


@dataclass(frozen=True)
class _Gate:
    runner: Runner
    question: Question
    head: Revision
    against: Baseline
    entries: list[Entry]
    places: Mapping[str, Place]
    tell: Callable[[Pair], None]

    def neutral(self, reason: str, give: Callable[[Answer], None]) -> Answer:
        """The answer where there is nothing to compare."""
        answer = self._answer(Result((), len(self.entries), 0.0, Conclusion.NEUTRAL, reason), None)
        give(answer)
        return answer

    def compared(self, base: Revision, give: Callable[[Answer], None]) -> Answer:
        """The answer of two builds. Its journal is kept until the answer is given. Raises Untestable, Refusal."""
        asked, compiler, entries = self.question, self.question.compiler, self.entries
        environments = Environments(self.runner)
        builds = [journals.build(environments, compiler, revision) for revision in (base, self.head)]
        before, after = (build.revision for build in builds)
        order = Order(entries, asked.wanted.seed, memory.past(entries, compiler.name, before.version), self.places)
        sides = Sides(Replay(self.runner, compiler), before, after)
        with journals.opened(
            "gate", compiler, [build.key for build in builds], entries, asked.limits, asked.fresh
        ) as journal:
            result = run_gate(
                entries, order, sides, journal, budget=asked.budget, jobs=self.runner.jobs, tell=self.tell
            )
            _remember(compiler, sides, result)
            answer = self._answer(result, Teller(entries, order, sides, Signer(self.runner), self.places))
            give(answer)
            journal.finish()
        return answer

    def _answer(self, result: Result, teller: Teller | None) -> Answer:
        """Differences are not told one by one where they say nothing of the code."""
        silent = teller is None or result.conclusion is Conclusion.NEUTRAL
        told = {change: [] if silent or teller is None else teller.tell(result, change) for change in LISTS}
        return Answer(self.question.compiler.name, self.against, self.head, result, told, self.entries)


def _remember(compiler: Compiler, sides: Sides, result: Result) -> None:
    """What was seen decides on the order of later suites."""
    running.remember(compiler.name, sides.base.version, (pair.base for pair in result.pairs))
    running.remember(compiler.name, sides.head.version, (pair.head for pair in result.pairs))
