"""The order of a suite."""

from __future__ import annotations

from tests.triage.suite.support import entry
from triage.suite.entries import Source
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
    order.changed(first)
    assert sum(name[:-1] == operator for name in named(order, 3)) == 2  # and the next in turn
    order.changed(first)  # once more changes nothing
    assert len(list(order)) == len(ENTRIES) - 4


def test_the_same_entries_come_in_the_same_order() -> None:
    assert list(Order(ENTRIES, 7)) == list(Order(ENTRIES, 7))
    assert list(Order([])) == []


def test_operators_files_and_classes_are_spelt_alike() -> None:
    assert {spelling(name) for name in ("LayerNormalization", "layer_normalization", "ai.x:LayerNormalization")} == {
        "layernormalization"
    }
