"""Work is done once, told honestly, given up when it keeps breaking, and left alone when it was cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from bot import kinds, settings, working
from bot.desk import Desk
from bot.failures import ExitCode, Refusal
from bot.github.errors import Later, Refused
from bot.kinds import Again, Answer, Done
from triage.ledger import Ledger
from triage.ledger.records import Counted, NewOutgoing, NewWork, OutKind, Work, WorkState
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable
from triage.store import StoreError, open_store


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    path = tmp_path / "graphwarden.toml"
    path.write_text('[projects.tvm]\nrepository = "a/b"\ncompiler = "tvm"\n')
    known = settings.load(path)
    with open_store(known.database, create=True) as store:
        yield Desk(known, Ledger(store), lambda repository: pytest.fail(f"asked for {repository}"))


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Work, Desk], Answer]], None]:
    """Makes a kind of work of a function."""

    def make(run: Callable[[Work, Desk], Answer]) -> None:
        monkeypatch.setattr(kinds, "load", lambda name: SimpleNamespace(HEAVY=False, run=run))

    return make


def until(holds: Callable[[], bool]) -> None:
    """Wait for another thread."""
    deadline = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < deadline, "never"
        threading.Event().wait(0.01)


def attempt(desk: Desk) -> Work:
    """Claim the work and do it; as it is stored then."""
    work = desk.ledger.work.claim()
    assert work is not None
    working.do(work, desk)
    return desk.ledger.work.get(work.id)


def test_what_follows_from_work_is_queued_when_it_is_done(desk: Desk, kind: Callable[..., None]) -> None:
    kind(lambda work, at: Done("fine", (NewWork("file", "bug:1", work.project),)))
    desk.ledger.work.add(NewWork("triage", "bug:1", "tvm"))
    done = attempt(desk)
    assert (done.state, done.note) == (WorkState.DONE, "fine")
    assert [work.kind for work in desk.ledger.work.listed([WorkState.QUEUED])] == ["file"]


def test_what_a_limit_allowed_is_decided_anew_where_another_process_was_faster(
    desk: Desk, kind: Callable[..., None]
) -> None:
    moment = datetime.now(UTC) - timedelta(hours=1)
    desk.ledger.outbox.add(NewOutgoing(OutKind.ISSUE, "issue:a", "a/b", {}, "bug:1"))
    mine = NewOutgoing(OutKind.ISSUE, "issue:b", "a/b", {}, "bug:2")
    stale = Counted(OutKind.ISSUE, "a/b", "issue:", moment, frozenset())
    kind(lambda work, at: Done("filed", outgoing=(mine,), counted=stale))
    desk.ledger.work.add(NewWork("file", "bug:2", "tvm"))
    again = attempt(desk)
    assert again.state is WorkState.QUEUED and "issue:a was said meanwhile" in again.note
    assert [one.key for one in desk.ledger.outbox.listed()] == ["issue:a"]
    fresh = replace(stale, ids=frozenset(one.id for one in desk.ledger.outbox.listed()))
    kind(lambda work, at: Done("filed", outgoing=(mine,), counted=fresh))
    assert attempt(desk).state is WorkState.DONE


@pytest.mark.parametrize("problem", [Refusal("the head\nis unknown"), Refused("no permission", 403)])
def test_what_cannot_be_done_is_told_in_one_line_and_not_tried_again(
    desk: Desk, kind: Callable[..., None], problem: Exception
) -> None:
    def run(work: Work, at: Desk) -> Answer:
        raise problem

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    done = attempt(desk)
    assert (done.state, done.note) == (WorkState.FAILED, " ".join(str(problem).split()))


@pytest.mark.parametrize(
    "problem",
    [
        StoreError("database is locked"),
        OSError(28, "No space left on device"),
        GitError("could not resolve host"),
        IndexUnreachable("the index does not answer"),
        Refusal("the index does not answer", ExitCode.ENVIRONMENT),
        settings.BadSettings("github.private_key_file: app.pem: No such file or directory"),
    ],
)
def test_what_passes_or_is_mended_by_people_is_waited_out(
    desk: Desk, kind: Callable[..., None], problem: Exception
) -> None:
    """For most of a day; then it is told."""

    def run(work: Work, at: Desk) -> Answer:
        if work.attempts < 10:
            raise problem
        return Done("in the end")

    kind(run)
    desk.ledger.work.add(NewWork("human", "k", "tvm"))
    for _ in range(9):
        waits = attempt(desk)
        assert waits.state is WorkState.QUEUED and waits.not_before is not None and "\n" not in waits.note
        assert desk.ledger.work.wake("human", "k")
    done = attempt(desk)
    assert (done.state, done.note) == (WorkState.DONE, "in the end")


def test_what_does_not_pass_is_given_up_after_about_a_day(desk: Desk, kind: Callable[..., None]) -> None:
    def run(work: Work, at: Desk) -> Answer:
        raise GitError("could not resolve host")

    kind(run)
    desk.ledger.work.add(NewWork("suite", "k", "tvm"))
    waited = 0.0
    while (work := attempt(desk)).state is WorkState.QUEUED:
        assert work.not_before is not None
        waited += (work.not_before - work.updated).total_seconds()
        assert desk.ledger.work.wake("suite", "k")
    assert work.state is WorkState.FAILED and "could not resolve host" in work.note
    assert 20 * 3600 < waited < 30 * 3600


def test_a_bug_that_is_not_there_is_not_waited_for(desk: Desk, kind: Callable[..., None]) -> None:
    kind(lambda work, at: Done(str(at.store.bug(4711))))
    desk.ledger.work.add(NewWork("file", "bug:4711", "tvm"))
    assert attempt(desk).state is WorkState.FAILED


def test_github_telling_us_to_wait_is_no_failure_and_no_attempt(desk: Desk, kind: Callable[..., None]) -> None:
    def run(work: Work, at: Desk) -> Answer:
        raise Later("secondary limit", 0)

    kind(run)
    desk.ledger.work.add(NewWork("file", "k", "tvm"))
    for _ in range(working.MOST_ATTEMPTS + 2):
        assert attempt(desk).state is WorkState.QUEUED


def test_a_fault_of_ours_is_tried_again_and_then_told(desk: Desk, kind: Callable[..., None]) -> None:
    def run(work: Work, at: Desk) -> Answer:
        raise KeyError("x")

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    assert attempt(desk).state is WorkState.QUEUED
    assert desk.ledger.work.wake("gate", "k")
    assert attempt(desk).state is WorkState.QUEUED
    assert desk.ledger.work.wake("gate", "k")
    last = attempt(desk)
    assert (last.state, last.note) == (WorkState.FAILED, "internal error: KeyError: 'x'")


def test_work_that_kills_its_process_again_and_again_is_given_up(desk: Desk, kind: Callable[..., None]) -> None:
    runs: list[int] = []

    def run(work: Work, at: Desk) -> Answer:
        runs.append(work.attempts)
        raise SystemExit  # what no handler holds up

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    for _ in range(working.MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            attempt(desk)
        # The row still says that a process has it: one that is no more.
        with desk.store.writing() as session:
            session.connection().exec_driver_sql("UPDATE work SET lease = NULL")
    assert attempt(desk).state is WorkState.FAILED
    assert runs == list(range(1, working.MOST_ATTEMPTS + 1))


def test_cancelled_work_stops_at_its_next_word_and_saves_nothing(desk: Desk, kind: Callable[..., None]) -> None:
    reached: list[str] = []

    def run(work: Work, at: Desk) -> Answer:
        at.say("half way")
        at.ledger.work.cancel("gate", "k", "a newer head")
        at.say("further")
        reached.append("the end")
        return Done()

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    done = attempt(desk)
    assert (done.state, done.note, reached) == (WorkState.CANCELLED, "a newer head", [])


def _table(desk: Desk, old: str, new: str) -> None:
    """A database that cannot answer about work, and one that can again."""
    with desk.store.writing() as session:
        session.connection().exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")


def _lease(desk: Desk) -> object:
    with desk.store.reading() as session:
        return session.connection().exec_driver_sql("SELECT lease FROM work").scalar()


def test_signs_of_life_outlast_a_database_in_passing_trouble(
    desk: Desk, kind: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "BEAT", 0.01)

    def run(work: Work, at: Desk) -> Answer:
        _table(at, "work", "away")
        at.say("half way")
        until(lambda: len(logged) > 2)
        _table(at, "away", "work")
        with at.store.writing() as session:
            session.connection().exec_driver_sql("UPDATE work SET lease = NULL")
        until(lambda: _lease(at) is not None)
        return Done("to the end")

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    with capture_logs() as logged:
        assert attempt(desk).note == "to the end"
    assert {one["event"] for one in logged} >= {"no_sign_of_life"}


def test_work_ends_with_a_word_once_nobody_can_tell_for_long_whose_it_is(
    desk: Desk, kind: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "LEASE", timedelta(0))

    def run(work: Work, at: Desk) -> Answer:
        _table(at, "work", "away")
        try:
            at.say("half way")
        finally:
            _table(at, "away", "work")
        return Done("to the end")

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    waits = attempt(desk)
    assert waits.state is WorkState.QUEUED and "no such table" in waits.note


def test_how_work_ended_is_saved_once_the_database_is_there_again(
    desk: Desk, kind: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working.time, "sleep", lambda seconds: _table(desk, "away", "work"))

    def run(work: Work, at: Desk) -> Answer:
        _table(at, "work", "away")
        return Done("an hour's work")

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    assert attempt(desk).note == "an hour's work"


def test_waiting_work_begins_when_it_is_woken(desk: Desk, kind: Callable[..., None]) -> None:
    kind(lambda work, at: Again(3600, "waiting for build") if work.note == "" else Done("built"))
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    assert attempt(desk).note == "waiting for build"
    assert desk.ledger.work.claim() is None
    desk.ledger.work.wake("gate", "k")
    assert attempt(desk).note == "built"


def test_the_loop_ends_when_it_is_told_to(desk: Desk, kind: Callable[..., None]) -> None:
    stop = threading.Event()

    def run(work: Work, at: Desk) -> Answer:
        stop.set()
        return Done()

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    desk.ledger.work.add(NewWork("gate", "other", "tvm"))
    working.work_off(desk, ["gate"], stop)
    assert [work.key for work in desk.ledger.work.listed([WorkState.QUEUED])] == ["other"]


def test_the_loop_outlasts_a_database_that_is_away_for_a_while(
    desk: Desk, kind: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "TROUBLE", 0.01)
    stop = threading.Event()

    def run(work: Work, at: Desk) -> Answer:
        stop.set()
        return Done()

    kind(run)
    desk.ledger.work.add(NewWork("gate", "k", "tvm"))
    _table(desk, "work", "away")
    with capture_logs() as logged:
        loop = threading.Thread(target=working.work_off, args=(desk, ["gate"], stop))
        loop.start()
        try:
            until(lambda: len(logged) > 2 or not loop.is_alive())
        finally:
            _table(desk, "away", "work")
            until(lambda: stop.is_set() or not loop.is_alive())
            stop.set()
            loop.join()
    assert [one["event"] for one in logged][:2] == ["no_work_claimed"] * 2
    assert desk.ledger.work.listed([WorkState.QUEUED]) == []


def test_work_for_a_project_that_is_not_configured_any_more_fails_with_a_word(
    desk: Desk, kind: Callable[..., None]
) -> None:
    kind(lambda work, at: Done(at.project(work).name))
    desk.ledger.work.add(NewWork("gate", "k", "gone"))
    assert attempt(desk).note.endswith("there is no project 'gone'")
