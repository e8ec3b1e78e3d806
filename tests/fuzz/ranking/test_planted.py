"""Orders on planted faults: what is planted, and that learning finds sooner what several operators have alike."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.planted_faults import plant, plant_weaknesses, refusals
from benchmarks.prioritizers import synthetic
from fuzz.ranking import metrics, reading
from fuzz.ranking.item import Call, Item
from fuzz.ranking.replay import learning_order
from fuzz.ranking.schedule import Schedule

RECORDED = Path(__file__).parents[3] / "data" / "instances" / "pytorch.jsonl.gz"


def test_a_weakness_is_in_several_operators_and_a_fault_is_in_one() -> None:
    items = synthetic(400, 20, 0)
    faults = plant_weaknesses(items, 15, 3)
    assert len(faults) >= 15
    assert all(len({items[at].operator for at in tests}) == 1 for tests in faults.values())
    assert len({name.partition(": ")[2] for name in faults}) < len(faults)


def test_a_planted_compiler_refuses_whole_operators_and_whole_types() -> None:
    items = synthetic(400, 20, 0)
    refused = refusals(items, 5)
    by_operator = {
        name: [refused[at] for at, item in enumerate(items) if item.operator == name]
        for name in {item.operator for item in items}
    }
    assert any(all(own) for own in by_operator.values()) and not all(refused)


def test_learning_finds_weaknesses_of_several_operators_sooner() -> None:
    # Recorded calls: drawn ones share too little for operators to tell anything of each other.
    items = reading.items(RECORDED)[::50]
    gains = []
    for seed in range(4):
        refused = refusals(items, seed)
        faults = {
            name: shown
            for name, tests in plant_weaknesses(items, 15, seed).items()
            if (shown := [at for at in tests if not refused[at]])
        }
        learnt = metrics.apfd(learning_order(items, (), seed, faults, refused), faults)
        gains.append(learnt - metrics.apfd(list(Schedule(items, (), seed)), faults))
    assert statistics.mean(gains) > 0.03, gains


def test_what_shows_an_ignored_attribute_is_a_property_of_its_own() -> None:
    calls = [Call("Pool", {"ceil_mode": value}, {"ceil_mode": 0}) for value in (0, 1, 2, 3)]
    items = [Item(at, (call,), "") for at, call in enumerate(calls)]
    faults = [fault for seed in range(20) for fault in plant(items, 5, seed).items()]
    ignored = [tests for name, tests in faults if name == "Pool: ceil_mode is not its default"]
    assert ignored and all(tests == [1, 2, 3] for tests in ignored)
