"""A bisection as a whole: the question, the search on real builds, and what is kept of it with a bug.

`graphwarden bisect` asks it, and so does whoever follows up a failure without a command line.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bot import builds
from bot.failures import Refusal
from fuzz.case import Case, Revision
from fuzz.runner import Runner
from triage.bisect import progress
from triage.bisect.answer import Answer
from triage.bisect.bisection import Bisection
from triage.bisect.builds import Builds
from triage.bisect.found import MOST_BETWEEN, Bisected, Found, Kind, with_section
from triage.records import Bug
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments
from triage.store import Store

#: Where builds come ready made: all of so many are tested, which shows what flips there and back.
_READY_MADE = frozenset({"release", "wheel"})
_MOST_SWEPT = 40


@dataclass(frozen=True)
class Subject:
    """What is bisected: a case, the options and the byte for fresh memory that its failure needs."""

    case: Case
    options: dict[str, str]
    perturb: int | None = None


@dataclass(frozen=True)
class Question:
    """Between which two revisions from `first` to `last` (as a user names them) the subject's outcome changed.

    `fix`: the first that passes is looked for, else the first that fails. `sweep`: test every revision; None: where
    builds come ready made and are few. `budget` is in seconds, None without end. With `fresh`, what an interrupted
    search has seen is forgotten.
    """

    compiler: Compiler
    subject: Subject
    first: str
    last: str
    fix: bool = False
    sweep: bool | None = None
    budget: float | None = None
    fresh: bool = False


def search(runner: Runner, question: Question, say: Callable[[str], object] = lambda text: None) -> Answer:
    """The answer; `say` hears of every step, in any thread. A search that was killed goes on when it is asked again.

    Raises Refusal for ends that do not exist, and triage.bisect.bisection.NoAnswer.
    """
    subject = question.subject
    compiler = replace(question.compiler, options={**question.compiler.options, **subject.options})
    span = _span(compiler, question.first, question.last)
    kept = progress.of(subject.case.id, _told(compiler), [each.version for each in span], platform.node())
    if question.fresh:
        kept.finish()
    few = len(span) <= _MOST_SWEPT and compiler.provider in _READY_MADE
    replay = Replay(runner, compiler, excuses=False)
    return Bisection(
        span,
        Builds(subject.case, replay, Environments(runner), subject.perturb),
        kept,
        fix=question.fix,
        sweep=few if question.sweep is None else question.sweep,
        deadline=float("inf") if question.budget is None else time.monotonic() + question.budget,
        jobs=runner.jobs,
        say=say,
    ).run()


def case_of(store: Store, bug: Bug) -> Case:
    """The smallest case that stands for a bug. Raises Refusal."""
    if bug.reduced_case_id is not None:
        return store.case(bug.reduced_case_id)
    if bug.best_failure_id is None:
        raise Refusal(f"bug {bug.id} has no failing case")
    return store.failure(bug.best_failure_id).failure.case


def found(answer: Answer) -> Found | None:
    """The one change that is to blame or to thank, None where the outcome changes more than once or never."""
    if answer.first is None or answer.last_before is None or answer.confidence is None:
        return None
    kept = answer.between[:MOST_BETWEEN]
    return Found(answer.first, answer.last_before, answer.confidence, kept, len(answer.between) - len(kept))


def keep(store: Store, bug: Bug, answer: Answer, fix: bool) -> Bisected:
    """Save with a bug where it came or went; its draft, and the report that was written of it, say so too.

    What is known of the bug then. Raises triage.store.Conflict where its state has changed since `bug` was read.
    """
    one = found(answer)
    if one is None:
        return bug.bisected
    known = {**bug.bisected, Kind.GOOD if fix else Kind.BAD: one}
    draft = store.draft(bug.id)
    if draft is None:
        store.amend(bug.id, bug.state, bisected=known)
        return known
    store.amend(bug.id, bug.state, bisected=known, draft=replace(draft, body=with_section(draft.body, known)))
    report = Path(bug.report_path) if bug.report_path else None
    if report and report.is_file():
        report.write_text(with_section(report.read_text(encoding="utf-8"), known), encoding="utf-8")
    return known


def _span(compiler: Compiler, first: str, last: str) -> tuple[Revision, ...]:
    between = builds.span(compiler, first, last)
    if len(between) < 2:
        raise Refusal(f"--from and --to are both {between[0].version}: nothing lies between them")
    return between


def _told(compiler: Compiler) -> list[object]:
    """All of a configuration that decides what runs."""
    settings, options = sorted(compiler.settings.items()), sorted(compiler.options.items())
    return [compiler.name, compiler.backend, compiler.provider, settings, options, compiler.python, compiler.requires]
