"""A bisection as a whole: the question, the search on real builds, and what is kept of it with a bug.

`graphwarden bisect` asks it, and so does whoever follows up a failure without a command line.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot import builds
from bot.failures import Refusal
from fuzz.case import Case, Revision
from fuzz.runner import Runner
from triage.bisect import progress
from triage.bisect.answer import Answer
from triage.bisect.bisection import Bisection
from triage.bisect.builds import Builds
from triage.bisect.descent import Descent
from triage.bisect.found import MOST_BETWEEN, Bisected, Found, Kind, with_section
from triage.bisect.progress import Progress
from triage.records import Bug
from triage.replay import Replay
from triage.revisions import listing, merges
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments
from triage.revisions.git import GitError
from triage.revisions.merges import Side
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
    span, instead = _span(compiler, question)
    searched = _Search(runner, question, compiler, say)
    # The checks take all the time that is left: what lies inside a merge comes first.
    found = searched.answer(span, checks=False)
    if found.finished:
        found = searched.answer(span, checks=True)
    if found.finished:
        searched.forget()
    return replace(found, instead=instead)


@dataclass
class _Search:
    """Searches ranges for one question. What it has seen is kept until all of them have been searched."""

    runner: Runner
    question: Question
    compiler: Compiler
    say: Callable[[str], object]
    kept: list[Progress] = field(default_factory=list)
    begun: dict[tuple[str, ...], Bisection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        budget, subject = self.question.budget, self.question.subject
        self._deadline = float("inf") if budget is None else time.monotonic() + budget
        replay = Replay(self.runner, self.compiler, excuses=False)
        self._builds = Builds(subject.case, replay, Environments(self.runner), subject.perturb)

    def answer(self, span: Sequence[Revision], checks: bool) -> Answer:
        """The answer between the first and the last of these, inside merges, too; a second one goes on from the first.

        With `checks`, revisions are looked at that the search itself does not ask for. Raises NoAnswer and Refusal.
        """
        descent = Descent(
            lambda merge, before: _sides(self.compiler, merge, before),
            lambda inner: self.over(inner, exact=True).run(checks),
        )
        return descent.inside(self.over(span).run(checks), span)

    def over(self, span: Sequence[Revision], exact: bool = False) -> Bisection:
        """The search between the first and the last of these; `exact` inside a merge."""
        names = tuple(each.version for each in span)
        if names not in self.begun:
            self.begun[names] = self._over(span, exact)
        return self.begun[names]

    def _over(self, span: Sequence[Revision], exact: bool) -> Bisection:
        names = [each.version for each in span]
        kept = progress.of(self.question.subject.case.id, _told(self.compiler), names, platform.node())
        if self.question.fresh:
            kept.finish()
        self.kept.append(kept)
        few = len(span) <= _MOST_SWEPT and self.compiler.provider in _READY_MADE
        return Bisection(
            span,
            self._builds,
            kept,
            fix=self.question.fix,
            sweep=few if self.question.sweep is None else self.question.sweep,
            keep=True,
            exact=exact,
            deadline=self._deadline,
            jobs=self.runner.jobs,
            say=self.say,
        )

    def forget(self) -> None:
        """What was seen: the answer has been found."""
        for each in self.kept:
            each.finish()


def _sides(compiler: Compiler, merge: Revision, before: Revision) -> list[Side]:
    try:
        return merges.sides(compiler, merge, before)
    except GitError as problem:
        raise Refusal(str(problem)) from problem


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
    others = len(answer.between) - len(kept)
    return Found(
        answer.first, answer.last_before, answer.confidence, kept, others, answer.brought, answer.tested_between
    )


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


def _span(compiler: Compiler, question: Question) -> tuple[tuple[Revision, ...], tuple[tuple[str, str], ...]]:
    """What is searched, and each end that is on no list with what is tested in its place. Raises Refusal."""
    first, last = _listed(compiler, question.first, older=not question.fix), _listed(compiler, question.last)
    ends = ((question.first, first), (question.last, last))
    instead = tuple((asked, found) for asked, found in ends if found != asked)
    between = builds.span(compiler, first, last)
    if len(between) < 2:
        why = "".join(f", which was tested in the place of {asked}" for asked, _ in instead)
        raise Refusal(f"--from and --to are both {between[0].version}{why}: nothing lies between them")
    return between, instead


def _listed(compiler: Compiler, name: str, older: bool = False) -> str:
    """The end to search from or to: of a commit that came inside a merge, the merge.

    The older end of a search for what broke is the commit before the merge, so that the merge is searched, too. The
    older end of a search for a fix fails, and so does the merge that brought it, but not what was before.
    """
    try:
        merge = merges.bringer(compiler, builds.revision(compiler, name)) if name else ""
        before = merges.parent(compiler, merge) if merge and older else ""
        known = before and any(each.version == before for each in listing.revisions(compiler))
        return before if known else merge or name
    except GitError as problem:
        raise Refusal(str(problem)) from problem


def _told(compiler: Compiler) -> list[object]:
    """All of a configuration that decides what runs."""
    settings, options = sorted(compiler.settings.items()), sorted(compiler.options.items())
    return [compiler.name, compiler.backend, compiler.provider, settings, options, compiler.python, compiler.requires]
