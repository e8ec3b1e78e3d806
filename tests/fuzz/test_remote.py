"""A pool of other machines, threads here: what is lost, forgotten or refused on the way changes no outcome."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fuzz import host, parcels, remote
from fuzz.case import Case, Origin, Revision, Status, Target
from fuzz.limits import Limits
from fuzz.remote import HostLost, RemotePool
from fuzz.runner import Runner
from fuzz.zygote import BackendUnavailable

LIMITS = Limits(600, 400)
MakeCase = Callable[..., Case]


class Threads:
    """Machines that are threads of this process, and that end over cases as they are told."""

    slots = 2

    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor(4)
        self.killers: set[str] = set()
        self.forgets = 0
        self.requests: list[list[str]] = []
        self.answer: Callable[[bytes], bytes] = host.perform

    def submit(self, request: bytes, tags: Sequence[str]) -> Future[bytes]:
        return self.executor.submit(self._perform, request)

    def _perform(self, data: bytes) -> bytes:
        ids = [case.id for case in parcels.request_from(data).cases]
        self.requests.append(ids)
        if self.forgets:
            self.forgets -= 1
            raise CancelledError
        if self.killers & set(ids):
            raise HostLost("it has ended")
        return self.answer(data)

    def check(self, tags: Sequence[str]) -> None:
        pass

    def close(self) -> None:
        self.executor.shutdown()


@pytest.fixture
def machines() -> Threads:
    return Threads()


@pytest.fixture
def far(machines: Threads) -> Iterator[Runner]:
    with Runner(LIMITS, pool=RemotePool(machines, LIMITS)) as runner:
        yield runner


def test_outcomes_are_those_of_a_local_runner(far: Runner, runner: Runner, case: MakeCase, faulty: Target) -> None:
    faults = ["", "abort_with_message", "plain_exception", ""]
    batch = [case(fault, shift=float(at)) for at, fault in enumerate(faults)]
    here, there = ([*each.run_batch(batch, faulty)] for each in (runner, far))
    assert [each.status for each in there] == [each.status for each in here]
    assert [each.error and each.error.type for each in there] == [each.error and each.error.type for each in here]
    assert np.array_equal(np.asarray(there[3].values[0]), np.asarray(here[3].values[0]))
    assert far.devices(faulty) == runner.devices(faulty) == ["CPU"]


def test_fresh_processes_and_filled_memory_work_there_too(far: Runner, case: MakeCase, faulty: Target) -> None:
    seen = far.run_fresh(case("read_uninitialised"), faulty, perturb=170)
    assert np.asarray(seen.values[0]).tolist() == [255 - 170] * 3
    assert far.run_fresh(case("hang_deaf_to_signals"), faulty, limits=Limits(1, 400)).status is Status.TIMEOUT


def test_the_cases_before_a_death_come_along(far: Runner, case: MakeCase, faulty: Target) -> None:
    culprit, victim = case("poison_later_cases", shift=1.0), case("crash_after_poison")
    assert [each.status for each in far.run_batch([culprit, victim], faulty)] == [Status.OK, Status.SIGNAL]
    assert culprit.id in [each.id for each in far.predecessors(victim, faulty)]


def test_of_a_lost_batch_every_case_runs_alone_and_the_one_that_ends_hosts_is_given_up(
    far: Runner, machines: Threads, case: MakeCase, faulty: Target
) -> None:
    batch = [case(shift=float(at)) for at in range(4)]
    machines.killers = {batch[2].id}
    assert [each.status.value for each in far.run_batch(batch, faulty)] == ["ok", "ok", "skipped", "ok"]
    lost = [ids for ids in machines.requests if batch[2].id in ids]
    assert [len(ids) for ids in lost] == [4, 1, 1]
    alone = far.run_fresh(batch[2], faulty)
    assert alone.status is Status.SKIPPED and alone.error is not None and "run it alone to see" in alone.error.message


def test_a_case_is_given_up_only_if_its_machine_ends_while_nothing_else_runs(
    far: Runner, machines: Threads, case: MakeCase, faulty: Target
) -> None:
    """Machines that end under load end over whatever they are at: no case is to blame."""
    suspect, done, began = case(), threading.Event(), threading.Event()

    def busy(data: bytes) -> bytes:
        if [each.id for each in parcels.request_from(data).cases] != [suspect.id]:
            began.set()
            return host.perform(data)
        began.clear()
        if began.wait(2):
            raise HostLost("it has ended")
        return host.perform(data)

    def others() -> list[Status]:
        return [far.run(case(shift=float(at)), faulty).status for at in itertools.takewhile(alive, itertools.count(1))]

    def alive(at: int) -> bool:
        return not done.is_set()

    machines.answer = busy
    with ThreadPoolExecutor(1) as threads:
        rest = threads.submit(others)
        try:
            assert far.run(suspect, faulty).status is Status.OK
        finally:
            done.set()
    assert machines.requests.count([suspect.id]) == 3
    assert set(rest.result()) == {Status.OK}


@pytest.mark.parametrize("ended", [1, 2])
def test_a_question_over_which_machines_end_for_their_own_reasons_is_answered(
    far: Runner, machines: Threads, faulty: Target, ended: int
) -> None:
    """Without its answer a failure has no conversion function, and would be another bug."""
    left = itertools.repeat(None, ended)

    def ends(data: bytes) -> bytes:
        for _ in left:
            raise HostLost("it has ended")
        return host.perform(data)

    machines.answer = ends
    assert far.devices(faulty) == ["CPU"]


def test_a_question_that_ends_every_machine_says_so(far: Runner, machines: Threads, faulty: Target) -> None:
    def ends(data: bytes) -> bytes:
        raise HostLost("it has ended")

    machines.answer = ends
    with pytest.raises(BackendUnavailable, match="no host survives being asked for its devices"):
        far.devices(faulty)
    assert len(machines.requests) == 3


def test_what_was_forgotten_is_asked_again(far: Runner, machines: Threads, case: MakeCase, faulty: Target) -> None:
    machines.forgets = 3
    assert far.run(case(), faulty).status is Status.OK
    assert len(machines.requests) == 4


def test_large_cases_go_in_parcels_of_their_own(far: Runner, machines: Threads, faulty: Target) -> None:
    large = np.zeros(remote._MOST_BYTES // 4 // 3 + 1, np.float32)
    batch = [Case("onnx", b"%d" % at, {"x": large}, Origin("planted")) for at in range(3)]
    assert [each.status for each in far.run_batch(batch, faulty)] == [Status.OK] * 3
    assert [len(ids) for ids in machines.requests] == [2, 1]


def test_a_value_without_a_wire_form_costs_its_own_case_alone(far: Runner, case: MakeCase, faulty: Target) -> None:
    odd = Case("onnx", case().model, {"x": np.array(["2026-01-01"], "M8[D]")}, Origin("planted"))
    found = list(far.run_batch([case(), odd, case(shift=1.0)], faulty))
    assert [each.status for each in found] == [Status.OK, Status.SKIPPED, Status.OK]


def test_a_host_with_another_build_refuses(far: Runner, case: MakeCase) -> None:
    with pytest.raises(BackendUnavailable, match=r"has reference .*, not 0\.0\.1 as the campaign: install the same"):
        far.run(case(), Target("reference", Revision("0.0.1")))


def test_a_host_refuses_a_backend_file_with_other_contents(
    far: Runner, machines: Threads, case: MakeCase, tmp_path: Path, faulty: Target
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_bytes(Path(faulty.backend).read_bytes())
    target = Target(str(mine), Revision("0"))
    assert far.run(case(), target).status is Status.OK

    def changed(data: bytes) -> bytes:
        mine.write_text("# something else\n" + Path(faulty.backend).read_text())
        return host.perform(data)

    machines.answer = changed
    with pytest.raises(BackendUnavailable, match=r"mine\.py, or one with other contents"):
        far.run(case(), target)


@pytest.mark.parametrize("nonsense", [b"", b"garbage", parcels.pack_ran([])])
def test_a_host_that_talks_nonsense_ends_the_campaign_with_a_clear_line(
    far: Runner, machines: Threads, case: MakeCase, faulty: Target, nonsense: bytes
) -> None:
    machines.answer = lambda data: nonsense
    with pytest.raises(BackendUnavailable, match="a host talks nonsense"):
        far.run(case(), faulty)


def test_more_is_asked_at_once_than_runs_so_that_no_machine_waits(far: Runner) -> None:
    assert far.jobs == 4
