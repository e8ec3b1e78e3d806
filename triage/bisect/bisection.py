"""Runs a bisection: asks what to run next, runs it, keeps what was seen, until the answer is known or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Protocol

from fuzz.case import Revision
from triage.bisect import answer, ends, search
from triage.bisect.answer import Answer
from triage.bisect.outcome import PASS, Ledger, Record, Run
from triage.bisect.progress import Progress
from triage.replay import NOTHING
from triage.revisions.environments import Untestable

#: Once the answer is known, revisions elsewhere are looked at for as long as the search took, and at least so long.
CHECK_SECONDS = 60.0


class Tester(Protocol):
    """Makes the environment of a revision and runs the case in it. Used by several threads at once."""

    def ready(self, revision: Revision) -> tuple[Revision, str]:
        """The revision with its interpreter, and the hash of what is installed. Raises Untestable."""

    def once(self, revision: Revision) -> Run:
        """One run in a fresh process. Raises Untestable when the compiler cannot be started."""


class NoAnswer(Exception):
    """The question cannot be answered: an end cannot be tested, or the answer would be to another question."""


class OutOfTime(NoAnswer):
    """The time was up before both ends were known. The same search goes on from there."""


class BrokenEnd(NoAnswer):
    """An end cannot be tested. `passing`: that may be over soon."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


@dataclass
class Bisection:
    """One search between the first and the last of `revisions`, oldest first.

    `fix` asks for the first revision that passes, else for the first that does not. With `sweep` all revisions are
    tested, in the order of a bisection. With `keep`, what was seen stays on disk: a further search depends on the
    answer. With `exact`, a revision that fails in another way than the ends do sides with neither. `deadline` is on the
    clock of `time.monotonic`. `say` hears of every step.
    """

    revisions: Sequence[Revision]
    tester: Tester
    progress: Progress
    fix: bool = False
    sweep: bool = False
    keep: bool = False
    exact: bool = False
    deadline: float = float("inf")
    jobs: int = 1
    say: Callable[[str], object] = lambda text: None
    _ledger: Ledger = field(init=False)
    _running: dict[Future[Record], int] = field(default_factory=dict)
    _started: float | None = None

    def __post_init__(self) -> None:
        self._ledger = self.progress.load([revision.version for revision in self.revisions], self.exact)

    def run(self, checks: bool = True) -> Answer:
        """The answer. Raises NoAnswer, and leaves no thread behind.

        Without `checks`, nothing is looked at but what the search asks for; a second run with them goes on from there.
        """
        pool = ThreadPoolExecutor(self.jobs)
        try:
            finished = self._search(pool, checks)
        finally:
            pool.shutdown(cancel_futures=True)
        found = answer.told(self._ledger, finished)
        if finished and not self.keep:
            self.progress.finish()
        return found

    def _search(self, pool: ThreadPoolExecutor, checks: bool) -> bool:
        """Test until nothing more is to be learnt; false when the time was up before."""
        started = self._started = self._started or time.monotonic()
        checked_since: float | None = None
        while True:
            self._check_ends()
            room = self.jobs - len(self._running) if time.monotonic() < self.deadline else 0
            busy = frozenset(self._running.values())
            wanted = search.wanted(self._ledger, busy, room)
            if room and not wanted and not busy:
                checked_since = checked_since or time.monotonic()
            if room > len(wanted) and (checks or self.sweep) and self._may_check(started, checked_since):
                wanted += search.checks(self._ledger, busy | frozenset(wanted), room - len(wanted))
            for at in wanted:
                self._running[pool.submit(self._test, at)] = at
            if not self._running:
                return self._concluded()
            self._collect()

    def _concluded(self) -> bool:
        if ends.compare(self._ledger).wanted:
            raise OutOfTime("the time ran out before both ends were known; the same command goes on from here")
        left = search.wanted(self._ledger) or (self.sweep and search.checks(self._ledger))
        return not left

    def _may_check(self, started: float, checked_since: float | None) -> bool:
        """Whether revisions are tested that the search itself does not ask for."""
        compared = ends.compare(self._ledger)
        if compared.wanted:
            return False
        if self.sweep:
            return True
        if not compared.differ or checked_since is None:
            return False
        return time.monotonic() - checked_since < max(CHECK_SECONDS, checked_since - started)

    def _check_ends(self) -> None:
        """Raise NoAnswer as soon as it is clear that there is none."""
        ends_at = (0, len(self.revisions) - 1)
        for at in ends_at:
            record, name = self._ledger[at], self._ledger.names[at]
            if record.skipped:
                reason = f"{name} cannot be tested, choose another end: {record.skipped}"
                raise BrokenEnd(reason, passing=record.passing)
            if record.runs and record.letter == NOTHING:
                raise NoAnswer(f"there is nothing to judge on {name}: {record.typical.status}: {record.typical.detail}")
        compared = ends.compare(self._ledger)
        if compared.wanted or not compared.differ or compared.question.letter != PASS:
            return
        if compared.question.but == self.fix:
            old, new = (self._ledger.pooled(at).typical.status for at in ends_at)
            asked = "the first revision without --fix" if self.fix else "the first good revision with --fix"
            raise NoAnswer(f"{self._ledger.names[0]} is {old} and {self._ledger.names[-1]} is {new}: ask for {asked}")

    # ------------------------------------------------------------ testing

    def _test(self, at: int) -> Record:
        """One more run of a revision; none when it turns out to be a build that was run before. In a thread."""
        record, name = self._ledger[at], self._ledger.names[at]
        began = time.monotonic()
        try:
            self.say(f"{name}: making its environment")
            revision, identity = self._made(at)
            made = time.monotonic() - began
            if not record.identity and self._seen(identity):
                return replace(record, identity=identity, seconds=made)
            self.say(f"{name}: run {len(record.runs) + 1}")
            ready = time.monotonic()
            run = replace(self.tester.once(revision), seconds=round(time.monotonic() - ready, 3))
        except Untestable as problem:
            return replace(record, skipped=problem.reason, passing=problem.passing)
        return replace(record, runs=(*record.runs, run), identity=identity, seconds=record.seconds or made)

    def _made(self, at: int) -> tuple[Revision, str]:
        """A busy machine is given a second try. Raises Untestable."""
        try:
            return self.tester.ready(self.revisions[at])
        except Untestable as problem:
            if not problem.passing:
                raise
            return self.tester.ready(self.revisions[at])

    def _seen(self, identity: str) -> bool:
        known = (self._ledger[at] for at in range(len(self._ledger)))
        return bool(identity) and any(record.identity == identity and record.runs for record in known)

    def _collect(self) -> None:
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        for future in done:
            at = self._running.pop(future)
            self._ledger.put(at, future.result())
            self.progress.save(self._ledger)
            record = self._ledger[at]
            told = record.skipped or (record.runs[-1].status if record.runs else "the same build as another revision")
            self.say(f"{self._ledger.names[at]}: {' '.join(told.split())}")
