"""A recorded campaign run again in another order, learning from the recorded outcomes as it goes."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence

from fuzz.ranking.item import Item
from fuzz.ranking.metrics import Bugs
from fuzz.ranking.schedule import NOTHING, Schedule, Seen

#: How many tests a campaign begins before it knows what the first of them did: two chunks (fuzz.campaign).
UNDER_WAY = 32


def learning_order(
    items: Sequence[Item],
    tested: Sequence[Item],
    seed: int,
    bugs: Bugs,
    refused: Sequence[bool],
    failed: Mapping[int, Collection[str]] = NOTHING,
) -> list[int]:
    """The order in which a campaign that learns would have run the items.

    `bugs` says which tests failed, `refused` by test whether the compiler said honestly that it cannot, and `failed`
    which bugs tests showed on an earlier revision.
    """
    schedule = Schedule(items, tested, seed, failed)
    shown: Mapping[int, str] = {test: bug for bug, tests in bugs.items() for test in tests}
    known: set[str] = set().union(*failed.values())
    order: list[int] = []
    waiting: deque[int] = deque()
    for test in schedule:
        order.append(test)
        waiting.append(test)
        if len(waiting) <= UNDER_WAY:
            continue
        ended = waiting.popleft()
        bug = shown.get(ended)
        if bug is None:
            schedule.observe(ended, Seen.REFUSED if refused[ended] else Seen.PASSED)
        else:
            schedule.observe(ended, Seen.AGAIN if bug in known else Seen.NEW)
            known.add(bug)
    return order
