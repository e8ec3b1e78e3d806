"""Deliveries: stored once, handled once."""

from __future__ import annotations

from datetime import timedelta

from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import DeliveryState, NewDelivery, NewWork, WorkState


def delivery(name: str, body: bytes = b"{}") -> NewDelivery:
    return NewDelivery(name, "push", body)


def test_a_delivery_comes_out_byte_for_byte_and_in_order(ledger: Ledger) -> None:
    ledger.deliveries.add_many([delivery("a", b"\x00\xff{")])
    ledger.deliveries.add_many([delivery("b")])
    assert [(one.id, one.body) for one in ledger.deliveries.waiting()] == [("a", b"\x00\xff{"), ("b", b"{}")]


def test_a_redelivery_changes_nothing(ledger: Ledger) -> None:
    assert ledger.deliveries.add_many([delivery("a", b"first")]) == {"a"}
    ledger.deliveries.handled("a")
    assert ledger.deliveries.add_many([delivery("a", b"again"), delivery("b"), delivery("b")]) == {"b"}
    assert [one.id for one in ledger.deliveries.waiting()] == ["b"]
    assert ledger.deliveries.known(["a", "b", "c"]) == {"a", "b"}


def test_a_delivery_becomes_work_once(ledger: Ledger) -> None:
    ledger.deliveries.add_many([delivery("a")])
    work = NewWork("suite", "tvm:1", "tvm", {"commit": "1"})
    assert len(ledger.deliveries.handled("a", [work])) == 1
    assert ledger.deliveries.handled("a", [work]) == []
    assert [one.key for one in ledger.work.listed([WorkState.QUEUED])] == ["tvm:1"]


def test_a_delivery_that_was_settled_is_not_handled_any_more(ledger: Ledger) -> None:
    ledger.deliveries.add_many([delivery("a"), delivery("b")])
    ledger.deliveries.ignored("a", "no such project")
    ledger.deliveries.failed("b", "no JSON")
    assert ledger.deliveries.handled("a", [NewWork("suite", "x", "tvm")]) == []
    assert ledger.deliveries.counts() == {DeliveryState.IGNORED: 1, DeliveryState.FAILED: 1}


def test_attempts_are_counted(ledger: Ledger) -> None:
    ledger.deliveries.add_many([delivery("a")])
    assert [ledger.deliveries.begun("a") for _ in range(3)] == [1, 2, 3]


def test_old_deliveries_are_forgotten_but_not_those_that_wait_or_failed(ledger: Ledger) -> None:
    ledger.deliveries.add_many([delivery(name) for name in "abc"])
    ledger.deliveries.handled("a")
    ledger.deliveries.failed("b", "why")
    assert ledger.deliveries.forget(now() - timedelta(days=1)) == 0
    assert ledger.deliveries.forget(now() + timedelta(seconds=1)) == 1
    assert ledger.deliveries.known("abc") == {"b", "c"}
