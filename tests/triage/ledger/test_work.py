"""Work: claimed by one process at a time, kept alive, finished once, never lost with its owner."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection

from triage import store_file
from triage.ledger import Ledger
from triage.ledger.records import NewOutgoing, NewWork, OutKind, Work, WorkState
from triage.store import open_store


def new(key: str = "k", kind: str = "gate", **more: object) -> NewWork:
    return NewWork(kind, key, "tvm", **more)  # type: ignore[arg-type]


def claimed(ledger: Ledger) -> Work:
    work = ledger.work.claim()
    assert work is not None
    return work


def test_the_most_urgent_work_comes_first_and_then_the_oldest(ledger: Ledger) -> None:
    for key, priority in (("late", 50), ("later", 50), ("urgent", 10)):
        ledger.work.add(new(key, priority=priority))
    assert [claimed(ledger).key for _ in range(3)] == ["urgent", "late", "later"]
    assert ledger.work.claim() is None


def test_only_the_kinds_that_are_asked_for_are_given(ledger: Ledger) -> None:
    ledger.work.add(new(kind="hunt"))
    assert ledger.work.claim(["gate", "suite"]) is None
    assert ledger.work.claim(["hunt"]) is not None


def test_waiting_work_takes_the_newer_payload_and_running_work_gets_a_successor(ledger: Ledger) -> None:
    first = ledger.work.add(new(payload={"head": "1"}))
    assert ledger.work.add(new(payload={"head": "2"})) == first
    running = claimed(ledger)
    assert running.payload == {"head": "2"}
    second = ledger.work.add(new(payload={"head": "3"}))
    assert second != first
    assert ledger.work.claim() is None  # one of a kind and key at a time
    assert ledger.work.done(running)
    assert claimed(ledger).payload == {"head": "3"}


def test_work_that_shall_wait_waits_until_it_is_woken(ledger: Ledger) -> None:
    ledger.work.add(new())
    assert ledger.work.again(claimed(ledger), 3600, "waiting for build")
    assert ledger.work.claim() is None
    assert ledger.work.wake("gate", "k")
    work = claimed(ledger)
    assert (work.note, work.attempts) == ("waiting for build", 1)  # waiting is no attempt
    assert not ledger.work.wake("gate", "k")


def test_attempts_that_broke_are_counted(ledger: Ledger) -> None:
    ledger.work.add(new())
    for attempt in (1, 2, 3):
        work = claimed(ledger)
        assert work.attempts == attempt
        ledger.work.again(work, 0, "broke", counted=True)


def test_what_follows_from_work_is_saved_with_it_or_not_at_all(ledger: Ledger) -> None:
    ledger.work.add(new())
    work = claimed(ledger)
    assert ledger.work.cancel("gate", "k", "superseded") == 1
    said = NewOutgoing(OutKind.COMMENT, "c1", "a/b", {"body": "x"}, "bug:1", number=1)
    assert not ledger.work.done(work, "done", [new("next")], [said])
    assert ledger.work.claim() is None
    assert ledger.outbox.listed() == []
    assert not ledger.work.beat(work)
    assert ledger.work.get(work.id).state is WorkState.CANCELLED


def test_work_is_cancelled_by_the_beginning_of_its_key(ledger: Ledger) -> None:
    for key in ("a/b#1", "a/b#12", "a_b#1"):
        ledger.work.add(new(key))
    assert ledger.work.cancel("gate", "a/b#1", "closed") == 1
    assert ledger.work.cancel("gate", "a/b*", "gone") == 1
    assert [work.key for work in ledger.work.listed([WorkState.QUEUED])] == ["a_b#1"]


def _claim_and_wait(path: str, told: Connection) -> None:
    store_file.BUSY_SECONDS = 600.0
    with open_store(path, create=False) as store:
        work = Ledger(store).work.claim()
        told.send(work and work.key)
        signal.pause()


def test_the_work_of_a_killed_process_is_taken_over_at_once(ledger: Ledger, database: str) -> None:
    ledger.work.add(new())
    context = multiprocessing.get_context("spawn")
    hear, tell = context.Pipe(duplex=False)
    process = context.Process(target=_claim_and_wait, args=(database, tell))
    process.start()
    assert hear.recv() == "k"
    assert ledger.work.claim() is None
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert claimed(ledger).attempts == 2


def _claim_all(path: str, told: Connection) -> None:
    store_file.BUSY_SECONDS = 600.0  # a process that stands still may have the lock
    with open_store(path, create=False) as store:
        ledger = Ledger(store)
        mine = []
        while work := ledger.work.claim():
            mine.append(work.key)
            ledger.work.done(work)
        told.send(mine)


def test_processes_that_claim_together_do_every_piece_once(ledger: Ledger, database: str) -> None:
    for number in range(60):
        ledger.work.add(new(str(number)))
    context = multiprocessing.get_context("spawn")
    ends = []
    for _ in range(3):
        hear, tell = context.Pipe(duplex=False)
        process = context.Process(target=_claim_all, args=(database, tell))
        process.start()
        ends.append((process, hear))
    done = [key for process, hear in ends for key in hear.recv()]
    for process, _ in ends:
        process.join()
    assert sorted(done, key=int) == [str(number) for number in range(60)]


def test_work_that_never_comes_to_an_end_comes_after_all_other_work(ledger: Ledger) -> None:
    ledger.work.add(new("poison", priority=1))
    for _ in range(6):
        work = claimed(ledger)
        assert work.key == "poison"
        ledger.work.again(work, 0, "broke", counted=True)
    ledger.work.add(new("other"))
    assert [claimed(ledger).key for _ in range(2)] == ["other", "poison"]
