"""Scheduled hunts whose cases run on other machines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot import checkup, working
from bot.hosts import dask_hosts
from bot.settings import Hosts, Schedule
from fuzz.remote import RemotePool
from tests.bot.checks.support import Shop
from tests.bot.hosts.support import PATIENCE, Cluster
from tests.ports import unused
from triage import campaign_control as control
from triage.ledger.records import Planned, Work, WorkState


def elsewhere(shop: Shop, url: str) -> Work:
    """The work of a schedule that wants its cases run on the machines behind a URL, claimed."""
    schedule = Schedule(name="nightly", project="tiny", cron="0 2 * * *", hosts=True)
    shop.settings = shop.settings.model_copy(update={"schedule": (schedule,), "hosts": Hosts(executor=url)})
    shop.ledger.schedules.agree([Planned("nightly", "tiny", "0 2 * * *", "1h", ("onnx_node",))])
    shop.ledger.schedules.ring("nightly")
    work = shop.ledger.work.claim(["hunt"])
    assert work is not None
    return work


def test_its_cases_run_there_on_the_newest_build_which_is_made_here(
    tiny_shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_hosts, "FIRST", PATIENCE)
    newest = tiny_shop.lands("neg raises")
    sent: list[str] = []
    batch = RemotePool._batch
    monkeypatch.setattr(
        RemotePool, "_batch", lambda pool, cases, target: sent.append(target.backend) or batch(pool, cases, target)
    )
    store = tiny_shop.ledger.store
    with Cluster(tmp_path) as cluster:
        cluster.add(threads=3)
        work = elsewhere(tiny_shop, cluster.url)

        def say(note: str) -> None:
            if store.done(store.campaigns()[-1].id):
                control.cancel(store, "nightly", "me")

        working.do(work, replace(tiny_shop.desk, say=say))
        [found] = [one for one in checkup.findings(tiny_shop.settings) if one.about == "hosts"]
        assert found.good and "reference@" in found.told
    done = tiny_shop.ledger.work.get(work.id)
    assert done.state in (WorkState.DONE, WorkState.CANCELLED), done.note
    assert {Path(name).stem for name in sent} == {"reference", "tinyc_backend"}
    [campaign] = store.campaigns()
    [target] = campaign.parameters["targets"]
    assert store.counts(campaign.id).cases and newest in target


def test_where_nobody_answers_the_hunt_waits_and_says_for_whom(tiny_shop: Shop) -> None:
    url = f"dask://127.0.0.1:{unused()}"
    work = elsewhere(tiny_shop, url)
    working.do(work, tiny_shop.desk)
    waits = tiny_shop.ledger.work.get(work.id)
    assert waits.state is WorkState.QUEUED and "Connection refused; start one with: dask scheduler" in waits.note
    assert tiny_shop.ledger.store.campaigns() == []
    [found] = [one for one in checkup.findings(tiny_shop.settings) if one.about == "hosts"]
    assert found.good is False and "Connection refused" in found.told
