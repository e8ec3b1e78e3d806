"""`suite`: a commit landed. What does it break, what does it fix, is a fixed bug back?

Payload: {commit, before, forced, at}. Nothing is said here: new bugs, fixed ones and those that are back become work,
which looks again before it says anything. A kill in the middle leaves the journal, and the next process goes on there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import structlog

from bot import fetching, gating, journals, patience, suitefile
from bot.checks import before, building, known, landing, words
from bot.checks.asking import question, wanted
from bot.checks.building import POLL, NotYet
from bot.checks.landing import Landed
from bot.checks.progress import Progress
from bot.desk import Desk
from bot.durations import seconds
from bot.failures import Refusal
from bot.gating import Answer
from bot.kinds import Again, Done, Failed
from bot.kinds import Answer as Ended
from bot.settings import Project
from fuzz.case import Failure, Revision
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.ledger.records import NewWork, Work, WorkState
from triage.records import Bug
from triage.replay import Replay
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.revisions.git import GitError
from triage.signing import Signer
from triage.suite import memory, running
from triage.suite.compare import Change
from triage.suite.gate import Conclusion, Pair
from triage.suite.journal import Busy
from triage.suite.order import Order
from triage.suite.running import Ran

HEAVY = True
#: Seconds before a suite that another process is at is looked at again.
_BUSY = 15.0
#: How often a commit is asked for that the remote does not give, and seconds between two tries.
_FETCHES, _FETCH_AGAIN = 5, 30.0
#: Suites among which the tested commits are.
_LOOKED_AT = 1000

log = structlog.get_logger()


def run(work: Work, desk: Desk) -> Ended:
    """Run the suite on a commit that landed and on what was there before, and queue what follows."""
    project = desk.project(work)
    if _told_twice(work, desk):
        return Done("done before: it was delivered twice")
    try:
        return _Suite(work, desk, project, desk.compiler(project)).run()
    except NotYet as missing:
        return _waits(work, project, str(missing))
    except Untestable as problem:
        if patience.passes(problem):
            return patience.later(work, str(problem))
        log.warning("commit_untestable", project=project.name, commit=work.payload["commit"], why=problem.reason)
        return Done(str(problem))
    except Refusal as problem:
        if isinstance(problem.__cause__, Busy):
            return Again(_BUSY, str(problem))
        return patience.later(work, str(problem))  # the commit is none of a person's typing: the trouble is here


def _told_twice(work: Work, desk: Desk) -> bool:
    """Whether this very push was told of before, and its suite has ended.

    Where it is not known when it was pushed, only if none but it was told of since: a branch may be forced back and
    forth.
    """
    if not desk.ledger.work.done_before(work):
        return False
    if work.payload.get("at"):
        return True
    others = (one for one in desk.ledger.work.listed(kind=work.kind, limit=_LOOKED_AT) if one.id != work.id)
    return next(one for one in others if one.project == work.project).payload == work.payload


def _waits(work: Work, project: Project, why: str) -> Ended:
    most = seconds(project.build_wait)
    waited = (datetime.now(UTC) - work.created).total_seconds()
    if most is not None and waited >= most:
        return Done(f"there was no build within {project.build_wait}: {why}")
    left = POLL if most is None else min(POLL, most - waited)
    return Again(max(left, 0.1), f"waiting for a build: {why}")


class _Suite:
    def __init__(self, work: Work, desk: Desk, project: Project, compiler: Compiler) -> None:
        self.work, self.desk, self.project, self.compiler = work, desk, project, compiler
        self.commit = str(work.payload["commit"])
        self.before = str(work.payload.get("before") or "")

    def run(self) -> Ended:
        try:
            self._fetch()
        except GitError as problem:
            if self.work.attempts >= _FETCHES:
                raise
            return Again(_FETCH_AGAIN, str(problem), counted=True)
        head = building.find(self.compiler, self.commit)
        building.accept(self.compiler, head)  # it landed: somebody with write permission has seen to that
        with self.desk.runner(self.project) as runner:
            self.desk.say("making the builds")
            building.ensure(runner, self.compiler, head)
            base = before.find(runner, self.compiler, head, self.before, self._ended())
            if base is None:
                return self._alone(runner, head)
            return self._compared(runner, base, head)

    def _ended(self) -> set[str]:
        """Commits of this project whose suite has come to its end."""
        suites = self.desk.ledger.work.listed([WorkState.DONE], self.work.kind, limit=_LOOKED_AT)
        return {str(one.payload["commit"]) for one in suites if one.project == self.project.name}

    def _fetch(self) -> None:
        fetching.fetch(self.compiler, self.project.fetch, [self.commit])
        fetching.update(self.compiler, self.project.fetch, self.project.branch)
        try:
            fetching.fetch(self.compiler, self.project.fetch, [self.before])
        except GitError as problem:  # what a forced push has replaced may be gone
            log.info("not_compared", project=self.project.name, base=self.before, why=str(problem))
            self.before = ""

    def _compared(self, runner: Runner, base: Revision, head: Revision) -> Ended:
        asked = question(self.project, self.compiler, self.desk.store.address, base.version, head.version)
        follows: list[NewWork] = []

        def give(answer: Answer) -> None:
            self.desk.say(words.title(answer))
            landed = self._landed(base.version)
            if answer.conclusion is not Conclusion.NEUTRAL:
                steady = [pair.head for pair in answer.result.pairs if pair.change is not Change.FLAKY]
                met = self._met(landed, steady, Signer(runner), self._failures(runner, answer))
                follows.extend(self._follow(landed, steady, [bug.id for bug in met]))

        answer = gating.judge(runner, asked, give, Progress(self.desk, None).tell)
        if answer.conclusion is Conclusion.NEUTRAL:
            return Failed(f"{words.title(answer)}: {answer.result.reason}")  # the next commit is compared with an older
        return Done(f"{words.title(answer)}{_told(follows)}", tuple(follows))

    def _landed(self, before: str) -> Landed:
        return Landed(self.project.name, self.commit, before, bool(self.work.payload.get("forced")))

    def _met(self, landed: Landed, ran: Sequence[Ran], signer: Signer, failures: Sequence[Failure]) -> list[Bug]:
        """The bugs that the new failures are."""
        store, backend = self.desk.store, self.compiler.backend
        met = landing.record(store, signer, landed, failures)
        bugs, cases = known.by_case(store, backend), known.by_any_case(store, backend)
        return landing.apart(store, ran, bugs, cases, failures, met)

    def _failures(self, runner: Runner, answer: Answer) -> list[Failure]:
        """The new failures. A refusal is none; of pairs that an interrupted run has left, from one more run."""
        pairs = answer.result.of_change(Change.NEW_FAILURE)
        found = [pair.verdict.failure for pair in pairs if pair.verdict and pair.verdict.failure]
        again = [pair for pair in pairs if pair.verdict is None]
        return [*found, *self._once_more(runner, answer, again)] if again else found

    def _once_more(self, runner: Runner, answer: Answer, pairs: Sequence[Pair]) -> list[Failure]:
        cases = {entry.id: entry.case for entry in answer.entries}
        ready, replay = building.ensure(runner, self.compiler, answer.head), Replay(runner, self.compiler)
        verdicts = [replay.once(cases[pair.id], ready).verdict for pair in pairs]
        return [verdict.failure for verdict in verdicts if verdict and verdict.failure]

    def _alone(self, runner: Runner, head: Revision) -> Ended:
        """Nothing to compare with: what the known bugs do is news all the same."""
        entries = suitefile.gather(wanted(self.project, self.desk.store.address), self.compiler.backend, runner)
        build = journals.build(Environments(runner), self.compiler, head)
        order = Order(entries, past=memory.past(entries, self.compiler.name, head.version))
        limits = Limits(self.project.timeout, self.project.memory)
        with journals.opened("suite", self.compiler, [build.key], entries, limits, fresh=False) as journal:
            done = running.run(
                *(entries, order, Replay(runner, self.compiler), build.revision, journal),
                budget=seconds(self.project.budget),
                jobs=runner.jobs,
                tell=lambda ran: self.desk.say(f"{ran.name}: {ran.status}"),
            )
            running.remember(self.compiler.name, head.version, done.results)
            follows = self._follow(self._landed(""), done.results, ())
            journal.finish()
        text = f"nothing to compare with; {len(done.results)} of {done.of} cases ran on {head.version[:12]}"
        return Done(text + _told(follows), tuple(follows))

    def _follow(self, landed: Landed, ran: Sequence[Ran], met: Sequence[int]) -> list[NewWork]:
        bugs = known.by_case(self.desk.store, self.compiler.backend)
        cases = known.by_any_case(self.desk.store, self.compiler.backend)
        follows = landing.follow(landed, ran, bugs, cases, [self.desk.store.bug(number) for number in met])
        log.info("suite_ends", project=self.project.name, commit=self.commit, follows=len(follows))
        return follows


def _told(follows: Sequence[NewWork]) -> str:
    return "".join(f"; {each.kind} bug {each.payload['bug']}" for each in follows)
