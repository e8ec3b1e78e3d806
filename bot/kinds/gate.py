"""`gate`: the check run of a pull request's head commit: what it breaks, what it fixes.

Payload: {commit, base, base_ref, pull, fork, again?}. A kill in the middle leaves the gate's journal, and the next
process goes on there; everything that is said replaces what was said before.
"""

from __future__ import annotations

from dataclasses import replace

import structlog

from bot import baseline, fetching, gating
from bot.checks import building, known, sharing, words
from bot.checks.asking import Asked, question
from bot.checks.building import POLL, NotYet
from bot.checks.ending import moved
from bot.checks.progress import Progress
from bot.checks.run import CheckRun, Words
from bot.desk import Cancelled, Desk
from bot.durations import seconds
from bot.failures import Refusal
from bot.gating import Answer
from bot.kinds import Again, Done, Failed
from bot.kinds import Answer as Ended
from bot.settings import Project
from fuzz.case import Revision
from fuzz.zygote import BackendUnavailable
from triage.ledger.records import Work, WorkState
from triage.revisions.config import Compiler
from triage.revisions.environments import Untestable
from triage.revisions.git import GitError
from triage.suite.compare import Change
from triage.suite.journal import Busy

HEAVY = True
#: Seconds before a gate that another process is at is looked at again.
_BUSY = 15.0
#: How often what may pass is tried, a commit that the remote does not give or a machine that is busy, and seconds
#: between two tries.
_TRIES, _TRY_AGAIN = 3, 20.0

log = structlog.get_logger()


def run(work: Work, desk: Desk) -> Ended:
    """Judge a head commit, and tell it in its check run."""
    project, asked = desk.project(work), Asked.of(work.payload)
    if asked.pull is None and not asked.again and desk.ledger.work.done_before(work):  # a merge group's
        return Done("done before: it was delivered twice")
    check = CheckRun(desk.ledger, project, asked.commit, asked.pull, asked.base, asked.fork)
    try:
        return _Gate(work, desk, project, asked, check).run()
    except Cancelled:
        row = desk.ledger.work.get(work.id)
        if row.state is WorkState.CANCELLED:  # else another process is at it
            sharing.left(desk.ledger, project, check.row, row.note or "it is not needed any more")
        raise
    except (Refusal, GitError, BackendUnavailable) as problem:
        check.ends("neutral", words.note("Nothing is concluded", str(problem)))
        return Failed(" ".join(str(problem).split()))
    except Exception as error:
        # The loop tries again or gives up; nobody shall wait for a check that never ends.
        told = f"Graphwarden itself failed ({type(error).__name__}); its log has the details."
        check.ends("neutral", words.note("Nothing is concluded: an internal error", told))
        raise


class _Superseded(Exception):
    """The pull request has another head by now; the text is that head."""


class _Gate:
    def __init__(self, work: Work, desk: Desk, project: Project, asked: Asked, check: CheckRun) -> None:
        self.work, self.project, self.asked, self.check = work, project, asked, check
        self.compiler: Compiler = desk.compiler(project)
        self._say = desk.say
        self.desk = replace(desk, say=self._goes_on)

    def run(self) -> Ended:
        try:
            self._goes_on("looking at the commits")
            return self._compared()
        except _Superseded as newest:
            said = sharing.left(self.desk.ledger, self.project, self.check.row, moved(str(newest)), "Superseded")
            return Done(f"the pull request is at {newest} now{'' if said else '; another one is at this head'}")
        except NotYet as missing:
            return self._waits(str(missing))
        except Untestable as problem:
            if problem.passing and self.work.attempts < _TRIES:
                return Again(_TRY_AGAIN, str(problem), counted=True)
            return self._ends("neutral", words.note("Nothing is concluded", str(problem), problem.log))
        except Refusal as problem:
            if not isinstance(problem.__cause__, Busy):
                raise
            return Again(_BUSY, str(problem))

    def _goes_on(self, note: str) -> None:
        """Say how it goes. Raises Cancelled, and _Superseded where the pull request is at another head."""
        self._say(note)
        newest = self.desk.ledger.checks.newest(self.project.repository, self.project.name, self.asked.pull)
        if newest is not None and newest.head_sha != self.asked.commit:
            raise _Superseded(newest.head_sha)

    def _compared(self) -> Ended:
        try:
            self._fetch()
        except GitError as problem:
            if self.work.attempts >= _TRIES:
                raise
            return Again(_TRY_AGAIN, str(problem), counted=True)
        self.asked = replace(self.asked, base=sharing.base(self.desk.ledger, self.compiler, self.check.row))
        head = building.find(self.compiler, self.asked.commit)
        if not self.asked.fork:
            building.accept(self.compiler, head)
        elif building.needs_word(self.compiler, head):
            return self._asks_for_a_word()
        against = baseline.find(self.compiler, self.asked.base, head)
        if against.revision is not None:
            building.accept(self.compiler, against.revision)  # it is where the base's branch was
        return self._judged(head, against.revision)

    def _fetch(self) -> None:
        base = self.asked.base if len(self.asked.base) >= 40 else ""  # a branch comes with the update
        fetching.fetch(self.compiler, self.project.fetch, (self.asked.commit, base), self.asked.pull)
        fetching.update(self.compiler, self.project.fetch, self.project.branch)

    def _judged(self, head: Revision, base: Revision | None) -> Ended:
        with self.desk.runner(self.project) as runner:
            if not self.check.waited_before:
                self.check.runs(
                    words.note("Making the builds", f"The build of {head.version[:12]} is made or looked up.")
                )
            for revision in (head, base):
                if revision is not None:
                    building.ensure(runner, self.compiler, revision, again=self.asked.again, goes_on=self._builds)
            asked = question(self.project, self.compiler, self.desk.store.address, self.asked.base, self.asked.commit)
            self.desk.say("running the suite")
            answer = gating.judge(runner, asked, self._give, Progress(self.desk, self.check).tell)
        return Done(words.title(answer))

    def _builds(self) -> None:
        """A build that nobody waits for any more ends with what this raises."""
        self.desk.say("making the builds")

    def _give(self, answer: Answer) -> None:
        """Called while the journal is kept: what is said here is in the ledger before it goes."""
        fixed = answer.told[Change.FIXED]
        bugs = known.with_issues(self.desk.ledger, known.by_case(self.desk.store, self.compiler.backend), fixed)
        cases = known.no_news(known.by_any_case(self.desk.store, self.compiler.backend), fixed)
        said = words.finished(answer, bugs, cases, self.project.repository, self.project.budget)
        self.desk.say(said.title)
        self.check.ends(answer.conclusion.value, said)
        log.info("gate_ends", project=self.project.name, commit=self.asked.commit, conclusion=answer.conclusion.value)

    def _waits(self, why: str) -> Ended:
        """For a build, until `build_wait` is over."""
        most = seconds(self.project.build_wait)
        if most is not None and self.check.waited >= most:
            text = f"There was no build of {self.asked.commit} within {self.project.build_wait}: {why}"
            return self._ends("neutral", words.note("Nothing is concluded: there is no build", text))
        self.check.waits(words.note("Waiting for a build", f"There is no build of {self.asked.commit} yet."))
        left = POLL if most is None else min(POLL, most - self.check.waited)
        return Again(max(left, 0.1), f"waiting for a build: {why}")

    def _asks_for_a_word(self) -> Ended:
        commit = self.asked.commit
        text = (
            "This head comes from a fork. Its code is built and run only after a maintainer's word for this very "
            f"commit: a person with write permission comments `@graphwarden approve {commit}`."
        )
        self.check.asks(words.note("Waiting for a maintainer's word", text))
        return Done("waits for a maintainer's word")

    def _ends(self, conclusion: str, said: Words) -> Ended:
        self.check.ends(conclusion, said)
        return Done(f"{conclusion}: {said.title}")
