"""A campaign begins with what those before it covered and found; each result teaches once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.campaign import Policy
from fuzz.case import Case, Status
from fuzz.generators import onnx_node
from fuzz.limits import Limits
from fuzz.ranking.history import NONE, Ends, History, Meaning, meaning
from fuzz.ranking.stream import Ordered
from fuzz.runner import Runner
from tests.triage.test_hunt import CASES, REFERENCE, TARGET
from tests.triage.test_pruning import lesson, passed
from tests.triage.test_store import OV, TVM, case, failing, result
from triage import pruning
from triage.hunt import hunt
from triage.records import Lesson
from triage.sources import Sources
from triage.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def test_a_hunt_keeps_what_its_cases_covered_and_how_they_ended_and_pruning_leaves_that(store: Store) -> None:
    source = [case for case in CASES if isinstance(case, Case)]
    campaign = store.begin_campaign({"targets": [TARGET.id]})
    with Runner(Limits(seconds=600, memory_mb=1000), jobs=2) as runner:
        assert hunt(store, campaign, source, [TARGET], REFERENCE, runner, Policy())
    told = store.history([TARGET.id])
    counts = store.counts(campaign.id)
    new, again = (sum(getattr(each, name) for each in told.ends.values()) for name in ("new", "again"))
    assert 0 < new <= counts.bugs <= new + again == counts.failures
    assert sum(each.passed for each in told.ends.values()) == counts.statuses[Status.OK]
    assert told.bugs == {bug.fingerprint for bug in store.bugs()}
    ran = [each for each in source if (each.id, TARGET.id) in store.done(campaign.id)]
    some = next(each for each in ran if each.id in {r.case_id for r in store.recorded(campaign.id) if r.status == "ok"})
    assert meaning(some).possibilities <= set(told.covered)
    store.finish_campaign(campaign.id)
    pruning.prune(store)
    assert store.history([TARGET.id]) == told


@pytest.fixture(scope="module")
def node_tests() -> list[Case]:
    return [each for each in itertools.islice(onnx_node.cases(0), 300) if isinstance(each, Case)]


def places(cases: list[Case], history: History) -> dict[str, int]:
    """When each case comes in a campaign that begins with that history."""
    order = (each for each in Ordered(cases, "graphwarden", 0, history=history) if isinstance(each, Case))
    return {each.id: at for at, each in enumerate(order)}


def ran(store: Store, cases: list[Case], status: Status) -> History:
    """What is known after a campaign in which all of these ended so."""
    campaign = store.begin_campaign({"targets": [TVM.id]}).id
    lessons = [Lesson(each.id, TVM.id, "tvm", meaning(each)) for each in cases]
    store.record(campaign, [result(each, status=status) for each in cases], lessons=lessons)
    return store.history([TVM.id])


def test_what_the_first_campaign_had_no_time_for_comes_earlier_in_the_second(
    store: Store, node_tests: list[Case]
) -> None:
    first = places(node_tests, NONE)
    untried = [each for each in node_tests if first[each.id] >= len(first) // 2]
    had = ran(store, [each for each in node_tests if each not in untried], Status.OK)
    second = places(node_tests, had)
    assert first.keys() == second.keys()
    assert sum(second[each.id] for each in untried) < sum(first[each.id] for each in untried)


def test_operators_that_the_first_campaign_saw_refused_come_later_in_the_second(
    store: Store, node_tests: list[Case]
) -> None:
    first = places(node_tests, NONE)
    refused = [each for each in node_tests if meaning(each).operators == ("Expand",)]
    assert len(refused) > 3
    second = places(node_tests, ran(store, refused, Status.UNSUPPORTED))
    assert sum(second[each.id] for each in refused) > sum(first[each.id] for each in refused)


def test_the_sources_of_a_campaign_are_given_the_history_of_its_compilers_alone(store: Store) -> None:
    cases = [each for each in itertools.islice(onnx_node.cases(0), 40) if isinstance(each, Case)]
    store.record(
        store.begin_campaign({"targets": [TVM.id]}).id,
        [passed(each) for each in cases],
        lessons=[Lesson(each.id, TVM.id, "tvm", meaning(each)) for each in cases],
    )
    orders = {}
    for name, target in (("known", TVM), ("unknown", OV)):
        campaign = store.begin_campaign({"targets": [target.id], "seed": 0})
        orders[name] = [each.origin.test for each in Sources(store, campaign, ["onnx_node"], "graphwarden")]
    assert orders["known"] != orders["unknown"] and sorted(orders["known"]) == sorted(orders["unknown"])


def test_a_failure_of_a_known_bug_is_told_from_a_new_one_across_campaigns(store: Store) -> None:
    for seed, name in enumerate(("a", "b")):
        campaign = store.begin_campaign({"seed": seed}).id
        store.record(campaign, [result(case(name))], [failing(case(name))], lessons=[lesson(case(name), {1})])
    assert store.history([TVM.id]).ends == {("a",): Ends(new=1), ("b",): Ends(again=1)}


def test_what_two_compilers_must_both_have_covered_one_of_them_may_lack(store: Store) -> None:
    one = case("one")
    results = [result(one, target, Status.OK) for target in (TVM, OV)]
    lessons = [lesson(one, {1, 2}, TVM), lesson(one, {2, 3}, OV)]
    store.record(store.begin_campaign({}).id, results, lessons=lessons)
    assert store.history([TVM.id, OV.id]).covered == {2}
    assert store.history([TVM.id]).covered == {1, 2}
    assert store.history(["mnn@1"]).covered == set()
    assert store.history([TVM.id, OV.id]).ends == {("one",): Ends(passed=2)}


def test_what_is_recorded_with_an_error_teaches_nothing(store: Store) -> None:
    with pytest.raises(Exception, match="FOREIGN KEY"):
        store.record(99, [passed(case("a"))], lessons=[lesson(case("a"), {1})])
    assert store.history([TVM.id]).covered == set() and not store.history([TVM.id]).ends


def test_a_model_of_many_operators_teaches_what_was_covered_alone(store: Store) -> None:
    many = Lesson(case("a").id, TVM.id, "tvm", Meaning((), frozenset({1 << 62})))
    store.record(store.begin_campaign({}).id, [passed(case("a"))], lessons=[many])
    assert store.history([TVM.id]).covered == {1 << 62} and store.history([TVM.id]).ends == {}
