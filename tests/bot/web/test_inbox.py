"""The inbox stores in one transaction what waits together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot.web import inbox
from bot.web.inbox import Inbox, NotStored
from triage.ledger import Ledger
from triage.ledger.deliveries import Deliveries
from triage.ledger.records import NewDelivery


class Counted(Deliveries):
    """Notes how many deliveries each transaction stores."""

    sizes: list[int]

    def add_many(self, arrived: Sequence[NewDelivery]) -> set[str]:
        self.sizes.append(len(arrived))
        return super().add_many(arrived)


@pytest.fixture
def counted(ledger: Ledger) -> Counted:
    deliveries = Counted(ledger.store)
    deliveries.sizes = []
    return deliveries


def one(name: object, size: int = 0) -> NewDelivery:
    return NewDelivery(str(name), "push", b"x" * size)


async def put(box: Inbox, *deliveries: NewDelivery) -> list[bool | BaseException]:
    return await asyncio.gather(*(box.put(each) for each in deliveries), return_exceptions=True)


def test_what_waits_together_is_stored_together(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MOST", 40)
    with Inbox(counted) as box:
        assert asyncio.run(put(box, *map(one, range(200)))) == [True] * 200
    assert sum(counted.sizes) == 200 and max(counted.sizes) == 40


def test_large_deliveries_are_stored_in_several_transactions(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MOST_BYTES", 1000)
    with Inbox(counted) as box:
        assert asyncio.run(put(box, *(one(number, 400) for number in range(9)), one("large", 5000))) == [True] * 10
    assert max(counted.sizes) == 2 and sum(counted.sizes) == 10


def test_of_one_id_only_one_is_new(counted: Counted) -> None:
    with Inbox(counted) as box:
        told = asyncio.run(put(box, *[one("same")] * 50))
    assert sorted(map(bool, told)) == [False] * 49 + [True]


def test_they_are_handled_in_the_order_in_which_they_came(counted: Counted) -> None:
    with Inbox(counted) as box:
        asyncio.run(put(box, *map(one, range(100))))
    assert [each.id for each in counted.waiting(100)] == [str(number) for number in range(100)]


def test_a_closed_inbox_takes_nothing(counted: Counted) -> None:
    with Inbox(counted) as box:
        pass
    (told,) = asyncio.run(put(box, one("late")))
    assert isinstance(told, NotStored)


def test_a_failure_reaches_all_who_wait_and_the_inbox_goes_on(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    unstorable = NewDelivery("bad", "push", "no bytes")  # type: ignore[arg-type]
    with Inbox(counted) as box:
        told = asyncio.run(put(box, unstorable))
        assert isinstance(told[0], NotStored)
        assert asyncio.run(put(box, one("good"))) == [True]
