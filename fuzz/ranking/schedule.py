"""The order of a campaign that learns: queues of tests, of which the one that promises most goes next.

What tests turn out to do changes the promise of their operators' other tests: an operator that the compiler does not
know, or that shows the same bug again, promises less; one in which a bug was found promises more.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum

from fuzz.ranking.item import Item
from fuzz.ranking.suspicion import Queue, queues


class Seen(StrEnum):
    """What a test showed."""

    PASSED = "passed"
    REFUSED = "refused"  # unsupported: the compiler says honestly that it cannot
    NEW = "new"  # a failure with a signature not seen before
    AGAIN = "again"  # a failure with a known signature


#: How much a refusal, and a failure that is known, count against an operator; how much a new bug counts for it.
REFUSED, AGAIN, NEW = 0.25, 0.25, 1.0


class Schedule:
    """Tests by position, the most promising first; `failed` are those that failed on the previous revision.

    Give and `observe` may alternate as they like: in a campaign several tests are under way at once.
    """

    def __init__(self, items: Sequence[Item], tested: Sequence[Item], seed: int, failed: Collection[int] = ()) -> None:
        self._queues = queues(items, tested, seed)
        self._of = {test: at for at, queue in enumerate(self._queues) for test in queue.tests}
        self._users: dict[str, list[int]] = defaultdict(list)
        for at, queue in enumerate(self._queues):
            for operator in queue.operators:
                self._users[operator].append(at)
        self._next = [0] * len(self._queues)
        self._factor = [1.0] * len(self._queues)
        self._seen: dict[object, Counter[Seen]] = defaultdict(Counter)
        self._given: set[int] = set()
        self._first = _by_queues(self._queues, failed)
        self._heap = [self._entry(at) for at in range(len(self._queues))]
        heapq.heapify(self._heap)

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        """The next test; each comes once. What failed before comes first, one test of each queue in turn."""
        while self._first:
            return self._give(self._first.pop())
        while self._heap:
            entry = heapq.heappop(self._heap)
            at = entry[1]
            queue = self._queues[at]
            if entry != self._entry(at) or self._next[at] >= len(queue.tests):
                continue  # outdated
            test = queue.tests[self._next[at]]
            self._next[at] += 1
            self._push(at)
            if test not in self._given:
                return self._give(test)
        raise StopIteration

    def observe(self, test: int, seen: Seen) -> None:
        """Learn what a test showed."""
        queue = self._queues[self._of[test]]
        # A model of several operators tells of their company, not which of them it was.
        key = queue.operators[0] if len(queue.operators) == 1 else queue.operators
        before = self._ratio(key)
        self._seen[key][seen] += 1
        if self._ratio(key) == before:
            return
        touched = self._users[key] if isinstance(key, str) else [self._of[test]]
        for at in touched:
            operators = self._queues[at].operators
            self._factor[at] = self._ratio(operators) if len(operators) > 1 else 1.0
            for operator in operators:
                self._factor[at] *= self._ratio(operator)
            self._push(at)

    def _ratio(self, key: object) -> float:
        """How much more or less a key promises than before anything was seen of it."""
        seen = self._seen.get(key)
        if not seen:
            return 1.0
        told = 1 + seen[Seen.PASSED] + seen[Seen.NEW]
        wasted = REFUSED * seen[Seen.REFUSED] + AGAIN * seen[Seen.AGAIN]
        return told / (told + wasted) * (1 + NEW * seen[Seen.NEW])

    def _give(self, test: int) -> int:
        self._given.add(test)
        return test

    def _push(self, at: int) -> None:
        if self._next[at] < len(self._queues[at].tests):
            heapq.heappush(self._heap, self._entry(at))

    def _entry(self, at: int) -> tuple[float, int, int]:
        queue, turn = self._queues[at], self._next[at]
        worth = queue.worth[turn] if turn < len(queue.worth) else 0.0
        return (-self._factor[at] * worth, at, turn)


def _by_queues(every: Sequence[Queue], wanted: Collection[int]) -> list[int]:
    """The wanted tests, last first: one of each queue, then a second one of each, and so on."""
    chosen = set(wanted)
    turns: list[tuple[int, int]] = []
    for queue in every:
        turns += enumerate(test for test in queue.tests if test in chosen)
    return [test for _, test in sorted(turns, key=lambda turn: -turn[0])]
