"""A hunt tells what every case did while it runs, so that an order can learn; the store knows what failed before."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from fuzz.campaign import Policy
from fuzz.case import FAILING, Case, Status
from fuzz.limits import Limits
from fuzz.ranking.stream import Mixed, Ordered
from fuzz.runner import Runner
from tests.triage.test_hunt import CASES, REFERENCE, TARGET
from triage.hunt import hunt
from triage.store import open_store


def test_every_result_is_told_and_failures_come_first_the_next_time(tmp_path: Path) -> None:
    cases = [case for case in CASES if isinstance(case, Case)]
    told: dict[str, tuple[Status, str]] = {}

    def learn(case_id: str, status: Status, fingerprint: str, suspects: Collection[str]) -> None:
        told[case_id] = (status, fingerprint)
        assert bool(suspects) == bool(fingerprint)

    with Runner(Limits(seconds=600, memory_mb=1000), jobs=2) as runner, open_store(tmp_path / "h.db", True) as store:
        campaign = store.begin_campaign({})
        source = Mixed([(Ordered(cases, "graphwarden", 0), 16)])
        assert hunt(store, campaign, source, [TARGET], REFERENCE, runner, Policy(), learn=learn)
        recorded = {each.case_id: each for each in store.recorded(campaign.id)}
        failed = store.failed()
    assert told.keys() == {case.id for case in cases} == recorded.keys()
    assert failed == {case: {bug} for case, (status, bug) in told.items() if status in FAILING} != {}
    for case_id, (status, fingerprint) in told.items():
        assert recorded[case_id].status == status and recorded[case_id].bug == fingerprint
    bugs = {bug for each in failed.values() for bug in each}
    again = list(Ordered(cases, "graphwarden", 0, failed))
    shown = [failed[case.id] for case in again[: len(bugs)] if isinstance(case, Case)]
    assert sorted(bug for each in shown for bug in each) == sorted(bugs)
