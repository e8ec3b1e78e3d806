"""Three processes share a database and are killed at any moment: every delivery and every step is taken once."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage import store_file
from triage.ledger import Ledger
from triage.ledger.records import DeliveryState, NewDelivery, NewWork, WorkState
from triage.lifecycle import State
from triage.records import NewFailure
from triage.store import Conflict, open_store

DELIVERIES = 90
_SPAWN = multiprocessing.get_context("spawn")


def _serve(place: str, number: int) -> None:
    """What a bot's processes do: make work of deliveries, and do it, until there is no more."""
    store_file.BUSY_SECONDS = 600.0
    with open_store(place, create=False) as store:
        ledger = Ledger(store)
        while True:
            for delivery in ledger.deliveries.waiting(limit=5):
                ledger.deliveries.handled(delivery.id, [NewWork("gate", delivery.id, "p", {}, 1)])
            if work := ledger.work.claim():
                ledger.work.done(
                    work, works=[NewWork("follow", work.key, "p", {"by": number}, 2)][: work.kind == "gate"]
                )
            elif not ledger.deliveries.waiting(limit=1) and not ledger.work.listed([WorkState.RUNNING]):
                return


def _started(place: str, number: int) -> BaseProcess:
    process = _SPAWN.Process(target=_serve, args=(place, number))
    process.start()
    return process


def test_processes_killed_at_any_moment_handle_every_delivery_and_do_every_piece_once(
    ledger: Ledger, database: str
) -> None:
    for at in range(0, DELIVERIES, 30):
        ledger.deliveries.add_many([NewDelivery(str(at + n), "push", b"{}") for n in range(30)])
    numbers, chance = itertools.count(), random.Random(5)
    running = [_started(database, next(numbers)) for _ in range(3)]
    for _ in range(6):
        time.sleep(chance.uniform(0.5, 2.5))
        victim = running.pop(0)
        if victim.is_alive() and victim.pid is not None:
            os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        running.append(_started(database, next(numbers)))
    for process in running:
        process.join()
    assert ledger.deliveries.counts() == {DeliveryState.HANDLED: DELIVERIES}
    assert ledger.work.counts() == {("gate", WorkState.DONE): DELIVERIES, ("follow", WorkState.DONE): DELIVERIES}


def _confirm(place: str, told: Connection) -> None:
    store_file.BUSY_SECONDS = 600.0
    with open_store(place, create=False) as store:
        taken = []
        for bug in store.bugs():
            try:
                store.advance(bug.id, State.NEW, State.CONFIRMED)
                taken.append(bug.id)
            except Conflict:
                continue
        told.send(taken)


def test_a_step_of_a_bugs_life_is_taken_by_one_of_three_processes(ledger: Ledger, database: str) -> None:
    target, outcome = Target("tvm", Revision("1")), Outcome(Status.EXCEPTION, Stage.RUN, error=Error("E", "m"))
    cases = [Case("onnx", b"%d" % at, {}, Origin("test")) for at in range(40)]
    failures = [Failure(each, target, outcome, None, "crash", "exception:E", "") for each in cases]
    campaign = ledger.store.begin_campaign({})
    ledger.store.record(campaign.id, [], [NewFailure(each, each.case.id) for each in failures])
    ends = []
    for _ in range(3):
        hear, tell = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=_confirm, args=(database, tell))
        process.start()
        ends.append((process, hear))
    taken = [number for _, hear in ends for number in hear.recv()]
    for process, _ in ends:
        process.join()
    assert sorted(taken) == sorted(bug.id for bug in ledger.store.bugs())
    assert len(taken) == 40
