"""Many deliveries are begun and settled in one transaction."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import DeliveryState, NewDelivery, NewWork, Settled, WorkState
from triage.store import Unknown, open_store

HANDLED, IGNORED = DeliveryState.HANDLED, DeliveryState.IGNORED


def arrive(ledger: Ledger, *names: str) -> None:
    ledger.deliveries.add_many([NewDelivery(name, "push", b"{}") for name in names])


def work(key: str, number: int = 0, kind: str = "suite") -> NewWork:
    return NewWork(kind, key, "tvm", {"number": number}, priority=number)


def test_deliveries_of_one_transaction_keep_their_order(ledger: Ledger) -> None:
    names = [str(number) for number in range(200)]
    arrive(ledger, *names)
    assert [each.id for each in ledger.deliveries.waiting(200)] == names


def test_all_that_was_settled_is_saved_with_its_work(ledger: Ledger) -> None:
    arrive(ledger, "a", "b", "c")
    settled = [Settled("a", HANDLED, "fine", (work("1"), work("2"))), Settled("b", IGNORED, "no \udc80 project")]
    assert ledger.deliveries.settle(settled) == {"a", "b"}
    assert ledger.deliveries.counts() == {HANDLED: 1, IGNORED: 1, DeliveryState.NEW: 1}
    assert sorted(each.key for each in ledger.work.listed([WorkState.QUEUED])) == ["1", "2"]


def test_what_was_settled_before_is_left_alone(ledger: Ledger) -> None:
    arrive(ledger, "a", "b")
    ledger.deliveries.ignored("a", "by hand")
    both = [Settled(name, HANDLED, "", (work(name),)) for name in ("a", "b", "unknown")]
    assert ledger.deliveries.settle(both) == {"b"}
    assert ledger.deliveries.settle(both) == set()
    assert [each.key for each in ledger.work.listed()] == ["b"]


def test_nothing_is_settled_if_the_work_cannot_be_saved(ledger: Ledger) -> None:
    arrive(ledger, "a", "b")
    bad = NewWork("suite", "x", "tvm", {"no": object()})
    with pytest.raises(TypeError):
        ledger.deliveries.settle([Settled("a", HANDLED, "", (work("1"),)), Settled("b", HANDLED, "", (bad,))])
    assert ledger.deliveries.counts() == {DeliveryState.NEW: 2}
    assert ledger.work.listed() == []


def test_much_work_is_queued_as_one_by_one(ledger: Ledger) -> None:
    """Waiting work takes the newer payload, running work is followed, of equal keys the last one counts."""
    ledger.work.add(work("waits", 1))
    ledger.work.add(work("runs", 0))
    assert (claimed := ledger.work.claim(["suite"])) is not None and claimed.key == "runs"
    arrive(ledger, "a")
    more = (work("waits", 7), work("runs", 8), work("twice", 2), work("twice", 3), work("waits", 9, kind="gate"))
    ledger.deliveries.settle([Settled("a", HANDLED, "", more)])
    found = {(each.kind, each.key, each.state): each.payload["number"] for each in ledger.work.listed()}
    assert found == {
        ("suite", "waits", WorkState.QUEUED): 7,
        ("suite", "runs", WorkState.RUNNING): 0,
        ("suite", "runs", WorkState.QUEUED): 8,
        ("suite", "twice", WorkState.QUEUED): 3,
        ("gate", "waits", WorkState.QUEUED): 9,
    }
    waits = next(each for each in ledger.work.listed() if (each.kind, each.key) == ("suite", "waits"))
    assert waits.priority == 7


def test_attempts_at_many_are_counted_together(ledger: Ledger) -> None:
    arrive(ledger, "a", "b")
    ledger.deliveries.begun("a")
    assert ledger.deliveries.begun_many(["a", "b"]) == {"a": 2, "b": 1}
    with pytest.raises(Unknown, match="no delivery c"):
        ledger.deliveries.begun_many(["a", "c"])


def test_how_long_the_oldest_has_waited_is_known(ledger: Ledger) -> None:
    assert ledger.deliveries.oldest() is None and ledger.deliveries.first() is None
    arrive(ledger, "a")
    arrive(ledger, "b")
    first = ledger.deliveries.oldest()
    assert first is not None and now() - first < timedelta(hours=1)
    ledger.deliveries.ignored("a", "")
    second = ledger.deliveries.oldest()
    assert second is not None and second > first
    assert ledger.deliveries.first() == first


def test_a_checkpoint_moves_the_log_into_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    with open_store(file, create=True) as store:
        Ledger(store).deliveries.add_many([NewDelivery("a", "push", b"a body that is easily found")])
        assert b"easily found" not in file.read_bytes()
        store.checkpoint()
        assert b"easily found" in file.read_bytes()


def test_a_checkpoint_of_a_server_is_its_own_affair(ledger: Ledger) -> None:
    ledger.store.checkpoint()
    assert ledger.deliveries.counts() == {}
