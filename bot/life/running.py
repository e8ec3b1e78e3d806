"""Runs a known bug on builds of its compiler, in fresh processes: the facts that `decide` asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.bisecting import case_of
from bot.life.seen import RUNS, Does, Run, Seen, concluded
from fuzz.case import Revision, Status
from fuzz.runner import Runner
from triage.records import Bug
from triage.replay import Replay, Replayed
from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.revisions.index import IndexUnreachable
from triage.store import Store

#: What says that there was nothing to judge.
_UNJUDGED = frozenset({Status.SKIPPED, Status.INVALID, Status.UNSUPPORTED})


class Rerun:
    """One bug, run on revisions of its compiler with the options that it needs. Raises Refusal for one without a case.

    `say` hears of every step; what it raises comes through.
    """

    def __init__(
        self, runner: Runner, compiler: Compiler, store: Store, bug: Bug, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._case = case_of(store, bug)
        self._bug = bug
        self._compiler = replace(compiler, options={**compiler.options, **dict(bug.target.options)})
        self._environments = Environments(runner)
        self._replay = Replay(runner, self._compiler)
        self._say = say

    def on(self, name: str) -> Seen:
        """What the bug does on the revision called `name`: RUNS fresh runs. Raises triage.revisions.git.GitError."""
        try:
            revision = listing.find(self._compiler, name)
        except listing.UnknownRevision as problem:
            return Seen(name, Does.GONE, note=str(problem))
        except IndexUnreachable as problem:
            return Seen(name, Does.UNTESTABLE, note=str(problem))
        try:
            self._say(f"bug {self._bug.id} on {revision.version}: making its environment")
            ready = self._environments.ensure(self._compiler, revision)
            return concluded(revision.version, self._bug.symptom, self._runs(ready), revision.commit)
        except Untestable as problem:
            return Seen(revision.version, Does.UNTESTABLE, note=problem.reason, commit=revision.commit)

    def _runs(self, ready: Revision) -> list[Run]:
        found = []
        for number in range(RUNS):
            self._say(f"bug {self._bug.id} on {ready.version}: run {number + 1} of {RUNS}")
            found.append(_run(self._replay.once(self._case, ready, self._bug.perturb)))
        return found  # the compiler stays imported: a bisection that follows begins with these builds


def _run(one: Replayed) -> Run:
    return Run(one.passed, one.symptom, one.status not in _UNJUDGED, f"{one.status}: {one.detail}")
