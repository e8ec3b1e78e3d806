"""Does pieces of work one after the other: claim, do, save. Killed at any moment, another process goes on (issue 6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import structlog

from bot import kinds, patience
from bot.desk import Cancelled, Desk, NoProject
from bot.failures import Refusal
from bot.github.errors import GitHubError, Later
from bot.kinds import Again, Answer, Done, Failed
from fuzz.zygote import BackendUnavailable
from triage.ledger.outbox import Overtaken
from triage.ledger.owners import LEASE
from triage.ledger.records import Work
from triage.revisions.environments import Untestable
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable
from triage.store import StoreError

log = structlog.get_logger()

#: Work that has been begun so often and never ended is given up: it may be what kills the process. Many, since a
#: machine that is short of memory kills what is not to blame; work goes on where it was, and other work comes first.
MOST_ATTEMPTS = 40
#: Seconds between two signs of life, far less than a lease.
BEAT = 20.0
#: Seconds between two looks for work, and before the next one where the database failed.
IDLE, TROUBLE = 0.3, 2.0
#: Seconds between tries to save how work ended.
_SAVE_AGAIN = (1.0, 5.0, 20.0)
#: Seconds before work is tried again that failed for a reason of ours: by attempts.
_BACKOFF = (5.0, 30.0, 120.0)

#: What a piece of work may raise because of what it was asked, of the network's or of a compiler's state.
_FORESEEN = (Refusal, StoreError, NoProject, GitError, IndexUnreachable, BackendUnavailable, Untestable, GitHubError)


def work_off(desk: Desk, names: Collection[str], stop: threading.Event) -> None:
    """Do work of these kinds as it comes, until `stop` is set. A database that is away for a while does not end it."""
    while not stop.is_set():
        try:
            work = desk.ledger.work.claim(names)
        except StoreError as error:
            log.error("no_work_claimed", why=str(error))
            stop.wait(TROUBLE)
            continue
        if work is None:
            stop.wait(IDLE)
        else:
            do(work, desk)


def do(work: Work, desk: Desk) -> None:
    """One piece of work that this process has claimed."""
    told = log.bind(work=work.id, kind=work.kind, key=work.key, attempt=work.attempts)
    if work.attempts > MOST_ATTEMPTS:
        note = f"given up after {MOST_ATTEMPTS} attempts, none of which came to an end: {work.note}"
        desk.ledger.work.failed(work, note)
        told.error("work_given_up", note=note)
        return
    told.info("work_begins")
    try:
        with _alive(work, desk) as say:
            answer = _answer(work, replace(desk, say=say))
    except Cancelled as gone:
        told.info("work_cancelled", note=str(gone))
        return
    ours = _saved(work, desk, answer)
    tell = told.warning if isinstance(answer, Failed) else told.info
    tell("work_ends" if ours else "work_was_taken", answer=type(answer).__name__.lower(), note=answer.note[:500])


def _answer(work: Work, desk: Desk) -> Answer:
    try:
        return kinds.load(work.kind).run(work, desk)
    except Cancelled:
        raise
    except Later as problem:
        return Again(problem.seconds, str(problem))
    except (*_FORESEEN, OSError) as problem:
        if not patience.passes(problem):
            return Failed(" ".join(str(problem).split()))
        log.warning("work_in_trouble", work=work.id, kind=work.kind, why=f"{type(problem).__name__}: {problem}")
        return patience.later(work, str(problem))
    except Exception as error:  # the process edge: one piece of work must not end all others
        log.exception("work_broke", work=work.id, kind=work.kind)
        note = f"internal error: {type(error).__name__}: {error}"
        last = work.attempts >= len(_BACKOFF)
        return Failed(note) if last else Again(_BACKOFF[work.attempts - 1], note, counted=True)


def _saved(work: Work, desk: Desk, answer: Answer) -> bool:
    """Save what came of it, whether it was still ours; for a while also where the database is in trouble."""
    for pause in _SAVE_AGAIN:
        try:
            return _save(work, desk, answer)
        except StoreError as problem:
            log.warning("work_not_saved", work=work.id, kind=work.kind, why=str(problem), again_in=pause)
            time.sleep(pause)
    return _save(work, desk, answer)


def _save(work: Work, desk: Desk, answer: Answer) -> bool:
    works = desk.ledger.work
    if isinstance(answer, Done):
        try:
            return works.done(work, answer.note, answer.works, answer.outgoing, answer.counted)
        except Overtaken as problem:
            return works.again(work, 0, str(problem))
    if isinstance(answer, Again):
        return works.again(work, answer.seconds, answer.note, answer.counted)
    return works.failed(work, answer.note, answer.outgoing)


class _Pulse:
    """Signs of life of one piece of work, from several threads. A database in passing trouble does not end it."""

    def __init__(self, work: Work, desk: Desk) -> None:
        self._work, self._desk = work, desk
        self._lost = False
        self._last = time.monotonic()

    def goes_on(self) -> bool:
        """Whether the work is still ours, or nobody can tell."""
        try:
            return self.beat()
        except StoreError:  # told already; whoever does the work hears of it by its next word
            return True

    def beat(self, note: str = "") -> bool:
        """Whether the work is still ours, as far as is known. Raises StoreError once that is not known for a lease."""
        if self._lost:
            return False
        try:
            self._lost = not self._desk.ledger.work.beat(self._work, note)
        except StoreError as problem:
            log.warning("no_sign_of_life", work=self._work.id, kind=self._work.kind, why=str(problem))
            if time.monotonic() - self._last > LEASE.total_seconds():
                raise
            return True
        self._last = time.monotonic()
        return not self._lost


@contextmanager
def _alive(work: Work, desk: Desk) -> Iterator[Callable[[str], None]]:
    """Keeps the lease while the work is done; gives the way to say how it goes, which raises Cancelled."""
    over, pulse = threading.Event(), _Pulse(work, desk)

    def beat() -> None:
        while not over.wait(BEAT) and pulse.goes_on():
            pass

    def say(note: str) -> None:
        if not pulse.beat(note):
            raise Cancelled(f"work {work.id} was cancelled or taken over")

    thread = threading.Thread(target=beat, name=f"beat-{work.id}", daemon=True)
    thread.start()
    try:
        yield say
    finally:
        over.set()
        thread.join()
