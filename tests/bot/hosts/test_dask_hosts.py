"""Campaigns over Dask, with real schedulers and hosts that die at any time, find what a local campaign finds."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import hosts
from bot.failures import Refusal
from bot.hosts import Tls, dask_hosts
from bot.hosts.dask_hosts import DaskHosts
from fuzz import catalogue
from fuzz.case import Status
from fuzz.remote import RemotePool
from fuzz.runner import Runner
from fuzz.zygote import BackendUnavailable
from tests.bot.hosts.campaigns import LIMITS, Found, campaign, cases, found, local
from tests.bot.hosts.support import PATIENCE, REFERENCE, TAGS, Cluster, kill, wait_until, workers
from tests.fuzz.conftest import FAULTY, make_case
from triage.hunt import Progress
from triage.store import Store, open_store

__all__ = ["local"]

KILLER = catalogue.target(str(FAULTY / "kills_its_host.py"))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_hosts, "FIRST", PATIENCE)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def remote(cluster: Cluster) -> Runner:
    return Runner(LIMITS, pool=RemotePool(hosts.connect(cluster.url, Tls()), LIMITS))


def test_a_campaign_on_two_hosts_ends_with_the_bugs_of_a_local_one(
    cluster: Cluster, store: Store, local: Found
) -> None:
    cluster.add()
    cluster.add()
    with remote(cluster) as runner:
        assert found(store, campaign(store, runner)) == local


def test_hosts_killed_at_random_cost_no_case_and_count_none_twice(cluster: Cluster, store: Store, local: Found) -> None:
    cluster.add()
    cluster.add(threads=2)
    chance, told = random.Random(7), itertools.count(1)

    def disturb(progress: Progress) -> None:
        if next(told) % 2 == 0:
            cluster.add()
            kill(cluster.hosts.pop(chance.randrange(2)))

    with remote(cluster) as runner:
        number = campaign(store, runner, disturb)
    assert found(store, number) == local
    assert store.counts(number).cases == len(cases())


def test_a_scheduler_that_is_restarted_costs_nothing(cluster: Cluster, store: Store, local: Found) -> None:
    cluster.add()
    cluster.add()
    told = itertools.count(1)

    def disturb(progress: Progress) -> None:
        if next(told) in (2, 6):
            cluster.restart()

    with remote(cluster) as runner:
        assert found(store, campaign(store, runner, disturb)) == local


def test_a_case_that_ends_its_host_is_given_up_after_three_and_the_others_are_judged(cluster: Cluster) -> None:
    processes = [cluster.add(), cluster.add()]
    ended = threading.Event()
    seen: set[int] = set()

    def watch() -> None:
        while not ended.wait(0.05):
            seen.update(pid for process in processes for pid in workers(process))

    watching = threading.Thread(target=watch)
    watching.start()
    batch = [make_case("kill_the_host" if at == 3 else "", shift=float(at)) for at in range(8)]
    try:
        with remote(cluster) as runner:
            outcomes = list(runner.run_batch(batch, KILLER))
            wait_until(
                lambda: len({pid for process in processes for pid in workers(process)}) == 2, "no host came back"
            )
    finally:
        ended.set()
        watching.join()
    assert [each.status for each in outcomes] == [Status.OK] * 3 + [Status.SKIPPED] + [Status.OK] * 4
    error = outcomes[3].error
    assert error is not None and error.message.startswith("the last of three hosts that ended over it ran nothing else")
    assert len(seen) == 2 + 3  # two hosts, and one more for each that it ended


def test_a_worker_that_is_killed_below_its_nanny_is_replaced(cluster: Cluster) -> None:
    process = cluster.add()
    with remote(cluster) as runner:
        assert runner.run(make_case(), KILLER).status is Status.OK
        for pid in workers(process):
            os.kill(pid, signal.SIGKILL)
        assert runner.run(make_case(shift=1.0), KILLER).status is Status.OK


def test_a_target_is_only_sent_to_hosts_that_offer_it_at_this_version(cluster: Cluster) -> None:
    cluster.add_worker(("reference@0.0.1",))
    with remote(cluster) as runner:
        with pytest.raises(BackendUnavailable, match=rf"offers {TAGS[0]} \(there is reference@0\.0\.1\)"):
            runner.run(make_case(), REFERENCE)
        cluster.add()
        wait_until(lambda: _offers(runner, TAGS[0]), "the second host did not come")
        assert runner.run(make_case(), REFERENCE).status is Status.OK


def _offers(runner: Runner, tag: str) -> bool:
    assert isinstance(runner._pool, RemotePool) and isinstance(runner._pool._hosts, DaskHosts)
    return tag in runner._pool._hosts.offered


def test_where_nobody_listens_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"tcp://127\.0\.0\.1:1: Connection refused; start one with: dask scheduler"):
        hosts.connect("dask://127.0.0.1:1", Tls())


@pytest.mark.parametrize("url", ["dask://", "dask://host", "dask://host:none", "tcp://host:8786", "dask://host:70000"])
def test_a_url_that_cannot_be_meant_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(Refusal, match="not of the form dask://HOST:PORT"):
        hosts.connect(url, Tls())
