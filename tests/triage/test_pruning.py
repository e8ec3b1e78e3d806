"""Pruning takes away what nobody needs, keeps what somebody does, and leaves a true record whatever is killed when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.case import Case, Status, Target
from fuzz.ranking.history import Meaning
from tests.triage.test_store import TVM, case, failing, result
from triage import campaign_control, pruning, store_pruning
from triage.lifecycle import State
from triage.records import Lesson, Result
from triage.store import Store, open_store

_PRUNE = (
    "import sys; from triage import pruning, store_pruning; from triage.store import open_store\n"
    "store_pruning.AT_ONCE = 5; print('ready', flush=True)\n"
    "pruning.prune(open_store(sys.argv[1], create=False))"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def lesson(of: Case, shows: set[int], target: Target = TVM) -> Lesson:
    return Lesson(of.id, target.id, target.backend, Meaning((of.origin.test,), frozenset(shows)))


def passed(of: Case) -> Result:
    return result(of, status=Status.OK)


def kept(store: Store, campaign: int) -> set[str]:
    return {each.origin.test for each in store.recorded(campaign)}


def test_what_added_coverage_stays_and_what_showed_nothing_new_goes(store: Store) -> None:
    first, again, other = case("first"), case("again"), case("other")
    campaign = store.begin_campaign({}).id
    shown = [lesson(first, {1, 2}), lesson(again, {1, 2}), lesson(other, {2, 3})]
    store.record(campaign, [passed(each) for each in (first, again, other)], lessons=shown)
    before = store.overview(campaign)
    assert pruning.prune(store) == {"results": 0, "cases": 0}, "it may go on"
    store.finish_campaign(campaign)
    assert pruning.would_prune(store) == {"results": 1, "cases": 0} and len(kept(store, campaign)) == 3
    assert pruning.prune(store) == {"results": 1, "cases": 0}
    assert kept(store, campaign) == {"first", "other"}
    assert store.overview(campaign) == before, "its numbers and its curve are what they were"
    [record] = store.pruned()
    assert (record.rule, record.campaign_id, record.removed) == ("results", campaign, 1)
    assert pruning.prune(store) == {"results": 0, "cases": 0} and len(store.pruned()) == 1


def test_what_was_skipped_refused_or_invalid_goes_and_what_failed_or_was_flaky_stays(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    every = {status: case(status.value) for status in Status}
    store.record(campaign, [result(each, status=status) for status, each in every.items()])
    store.finish_campaign(campaign)
    pruning.prune(store)
    gone = {Status.SKIPPED, Status.UNSUPPORTED, Status.INVALID}
    assert kept(store, campaign) == {each.value for each in Status if each not in gone}, (
        "of ok nobody knows what it added"
    )


def test_nothing_goes_that_a_failure_a_bug_a_slip_or_a_decision_refers_to(store: Store) -> None:
    bug, slip, reduced, apart = case("bug"), case("slip"), case("reduced"), case("apart")
    every = (bug, slip, reduced, apart)
    campaign, later = store.begin_campaign({}).id, store.begin_campaign({"later": 1}).id
    store.record(campaign, [result(bug), result(apart)], [failing(bug), failing(apart)])
    store.record(campaign, [], [failing(slip, "another")], state=State.SLIP)
    store.amend(1, State.NEW, reduced=reduced)
    store.split(1, [store.failure_ids(1)[-1]])
    store.record(later, [passed(each) for each in every], lessons=[lesson(each, set()) for each in every])
    store.finish_campaign(campaign)
    store.finish_campaign(later)
    assert pruning.prune(store) == {"results": 0, "cases": 0}
    assert kept(store, later) == {"bug", "slip", "reduced", "apart"}
    assert all(store.case(each.id) for each in every)


def test_a_case_that_a_smaller_one_has_taken_the_place_of_goes(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    store.record(campaign, [result(case("bug"))], [failing(case("bug"))])
    for name in ("reduced", "smaller"):
        store.amend(1, State.NEW, reduced=case(name))
    assert pruning.prune(store) == {"results": 0, "cases": 1}
    assert store.case(case("smaller").id) and store.bug(1).reduced_case_id == case("smaller").id


def test_what_a_paused_campaign_has_done_stays_and_goes_once_it_is_cancelled(store: Store) -> None:
    campaign = store.begin_campaign({"sources": []}).id
    store.record(campaign, [result(case("x"), status=Status.SKIPPED)])
    campaign_control.pause(store, str(campaign))
    assert pruning.prune(store)["results"] == 0 and len(store.done(campaign)) == 1
    campaign_control.cancel(store, str(campaign))
    assert pruning.prune(store)["results"] == 1


def test_a_pruning_that_is_killed_leaves_a_true_record_and_the_next_one_goes_on(store: Store) -> None:
    campaign, count = store.begin_campaign({}).id, 3000
    some = [replace(result(case("x"), status=Status.SKIPPED), case_id=f"{at:016x}") for at in range(count)]
    store.record(campaign, some)
    store.finish_campaign(campaign)
    process = subprocess.Popen([sys.executable, "-c", _PRUNE, str(store.address)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    while len(store.done(campaign)) == count and process.poll() is None:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was killed in the middle"
    left = len(store.done(campaign))
    assert 0 < left < count and sum(each.removed for each in store.pruned()) == count - left
    pruning.prune(store)
    assert store.done(campaign) == set() and sum(each.removed for each in store.pruned()) == count


def test_two_prunings_at_once_take_nothing_twice(store: Store) -> None:
    campaign, count = store.begin_campaign({}).id, 200
    some = [replace(result(case("x"), status=Status.SKIPPED), case_id=f"{at:016x}") for at in range(count)]
    store.record(campaign, some)
    store.finish_campaign(campaign)
    both = [subprocess.Popen([sys.executable, "-c", _PRUNE, str(store.address)]) for _ in range(2)]
    assert [each.wait() for each in both] == [0, 0]
    assert sum(each.removed for each in store.pruned()) == count and store.counts(campaign).cases == count


def test_every_rule_is_told_in_words() -> None:
    assert pruning.RULES.keys() == store_pruning.RULES.keys()
