"""The order of a suite."""

from __future__ import annotations

import itertools

from onnx import TensorProto

from tests.triage.suite.support import case, entry
from triage.suite.entries import Entry, Source
from triage.suite.memory import Past
from triage.suite.order import Order, spelling

ENTRIES = [entry(operator, size) for operator in ("Relu", "Abs", "Neg", "Exp") for size in (2, 3, 4)]


def named(order: Order, count: int = len(ENTRIES)) -> list[str]:
    return [ENTRIES[next(order)].name for _ in range(count)]


def ids(*names: str) -> frozenset[str]:
    return frozenset(entry.id for entry in ENTRIES if entry.name in names)


def test_every_entry_comes_once() -> None:
    assert sorted(Order(ENTRIES)) == list(range(len(ENTRIES)))


def test_what_the_commit_touches_comes_first_then_what_changed_before_then_what_fails() -> None:
    past = Past(failed=ids("Exp3", "Neg2"), changed=ids("Relu4"))
    found = named(Order(ENTRIES, 0, past, {"abs"}))
    assert set(found[:3]) == {"Abs2", "Abs3", "Abs4"}
    assert found[3] == "Relu4"
    assert {found[4], found[6]} == {"Exp3", "Neg2"}  # between them an ordinary test: only what passes can be broken


def test_operators_take_turns_among_what_failed_before() -> None:
    past = Past(failed=ids("Exp2", "Exp3", "Exp4", "Neg2"))
    found = named(Order(ENTRIES, 0, past), 4)
    assert "Neg2" in found[:2]


def test_known_bugs_come_before_ordinary_tests() -> None:
    bug = entry("Tanh", source=Source.BUG)
    assert next(Order([*ENTRIES, bug])) == len(ENTRIES)


def test_a_changed_outcome_calls_up_the_other_tests_of_its_operator() -> None:
    order = Order(ENTRIES)
    first = next(order)
    operator = ENTRIES[first].name[:-1]
    order.learn(first, changed=True, failed=False)
    assert sum(name[:-1] == operator for name in named(order, 3)) == 2  # and the next in turn
    order.learn(first, changed=True, failed=False)  # once more changes nothing
    assert len(list(order)) == len(ENTRIES) - 4


def test_a_change_calls_up_tests_that_share_something_else_than_the_operator() -> None:
    entries = [entry(operator, size) for operator in ("Relu", "Abs", "Neg", "Exp", "Tanh") for size in (2, 3, 4)]
    doubles = [Entry(f"{name}64", case(name, 2, TensorProto.DOUBLE), Source.SLICE) for name in ("Relu", "Abs", "Neg")]
    order = Order([*entries, *doubles])
    for at in range(len(entries)):
        order.learn(at, changed=False, failed=False)
    order.learn(len(entries), changed=True, failed=False)  # Relu of doubles
    assert {len(entries) + 1, len(entries) + 2} < {next(order) for _ in range(5)}


def test_what_fails_on_the_base_is_looked_at_before_what_passes() -> None:
    order = Order(ENTRIES)
    for at in [next(order) for _ in range(4)]:  # one of each operator
        order.learn(at, changed=False, failed=ENTRIES[at].name.startswith("Exp"))
    assert sum(name.startswith("Exp") for name in named(order, 3)) == 2


def test_what_the_commit_touches_comes_first_whatever_was_learnt() -> None:
    order = Order(ENTRIES, touched={"abs"})
    for _ in range(3):
        at = next(order)
        assert ENTRIES[at].name.startswith("Abs")
        for other, each in enumerate(ENTRIES):
            order.learn(other, changed=each.name.startswith("Neg"), failed=False)


def test_the_same_entries_come_in_the_same_order() -> None:
    assert list(Order(ENTRIES, 7)) == list(Order(ENTRIES, 7))
    assert list(Order([])) == []


def test_operators_files_and_classes_are_spelt_alike() -> None:
    assert {spelling(name) for name in ("LayerNormalization", "layer_normalization", "ai.x:LayerNormalization")} == {
        "layernormalization"
    }


def test_of_tests_that_promise_alike_the_cheap_ones_come_first() -> None:
    entries = [entry(operator, size) for operator in ("Relu", "Exp") for size in range(2, 12)]
    seconds = {each.id: 2.0 if each.name.startswith("Relu") else 0.1 for each in entries}
    order = Order(entries, 0, Past(failed=frozenset(seconds), seconds=seconds))
    order.learn(next(order), changed=False, failed=True)  # from now on it ranks
    found = [entries[at].name for at in itertools.islice(order, 12)]
    assert sum(name.startswith("Exp") for name in found) >= 8  # every third is the next in turn
    assert len(list(order)) == len(entries) - 13


def test_no_cost_outweighs_what_the_commit_touches() -> None:
    known = Past(seconds=dict.fromkeys(ids("Abs2", "Abs3", "Abs4"), 1000.0) | dict.fromkeys(ids("Neg2"), 0.001))
    order = Order(ENTRIES, 0, known, {"abs"})
    order.learn(next(order), changed=False, failed=False)
    assert {name[:-1] for name in named(order, 1)} == {"Abs"}
