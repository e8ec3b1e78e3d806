"""The order of a campaign that learns: queues of tests, of which the one that promises most goes next.

What tests turn out to do changes the promise of their operators' other tests: an operator that the compiler does not
know, or that shows the same bug again, promises less; one in which a bug was found promises more. It also changes that
of tests of other operators with the same properties (`fuzz.ranking.neighbours`).
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from fuzz.ranking.history import FADED, NONE, Ends, History
from fuzz.ranking.item import Item
from fuzz.ranking.neighbours import Neighbours
from fuzz.ranking.suspicion import Queue, queues


class Seen(StrEnum):
    """What a test showed."""

    PASSED = "passed"
    REFUSED = "refused"  # unsupported: the compiler says honestly that it cannot
    NEW = "new"  # a failure with a signature not seen before
    AGAIN = "again"  # a failure with a known signature


#: No test failed before.
NOTHING: Mapping[int, Collection[str]] = MappingProxyType({})
#: Minus what a queue promises, and the queue.
_Entry = tuple[float, int]

#: How much counts against an operator: a failure that is known, and a refusal before anything but refusals was seen of
#: it; less where an element type that few converters know may be the reason. How much a new bug counts for it.
AGAIN, REFUSED, REFUSED_RARE, NEW = 0.25, 4.0, 0.25, 0.5
#: Of so many tests of a queue the one goes next that promises most by what was learnt from other operators.
WINDOW = 16
#: Promises that differ by less are equal.
_EQUAL = 1e-9


@dataclass
class _Record:
    """What was seen of an operator, or of several in one model."""

    passed: float = 0.0
    new: float = 0.0
    again: float = 0.0
    refused: float = 0.0

    @classmethod
    def of(cls, ends: Ends) -> _Record:
        """What earlier campaigns saw. Which refusals were of rare element types is not known any more."""
        refused = min(REFUSED, REFUSED_RARE * ends.refused)
        return cls(FADED * ends.passed, FADED * ends.new, FADED * ends.again, refused)

    def promise(self) -> float:
        """How much more or less it promises than before anything was seen."""
        converted = self.passed + self.new + self.again > 0
        wasted = AGAIN * self.again + (0.0 if converted else self.refused)
        told = 1 + self.passed + self.new
        return told / (told + wasted) * (1 + NEW * self.new)


class Schedule:
    """Tests by position, the most promising first. `failed` says which bugs tests showed on an earlier revision.

    Of each of these bugs one test comes before all others: what was broken mostly still is, and more of the same says
    little. `history` is what earlier campaigns taught: what they covered adds less, and their results count for
    operators as this campaign's own do, `FADED`. Give and `observe` may alternate as they like: in a campaign several
    tests are under way at once.
    """

    def __init__(
        self,
        items: Sequence[Item],
        tested: Sequence[Item],
        seed: int,
        failed: Mapping[int, Collection[str]] = NOTHING,
        history: History = NONE,
    ) -> None:
        self._items = items
        self._queues = queues(items, tested, seed, history)
        self._of = {test: at for at, queue in enumerate(self._queues) for test in queue.tests}
        self._users: dict[str, list[int]] = defaultdict(list)
        for at, queue in enumerate(self._queues):
            for operator in queue.operators:
                self._users[operator].append(at)
        self._first = _one_of_each(self._queues, failed)
        before = set(self._first)
        #: By queue: the tests that are left, last first.
        self._left = [[test for test in reversed(queue.tests) if test not in before] for queue in self._queues]
        self._seen: dict[object, _Record] = defaultdict(_Record)
        self._seen.update({_key(operators): _Record.of(ends) for operators, ends in history.ends.items()})
        self._neighbours: Neighbours | None = None
        self._given: dict[int, float] = {}
        self._entries: list[_Entry | None] = [None] * len(self._queues)
        self._push_all()

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        """The next test; each comes once."""
        if self._first:
            test = self._first.pop()
            return self._give(test, self._queues[self._of[test]].worth[0])
        while self._heap:
            entry = heapq.heappop(self._heap)
            at = entry[1]
            if entry is not self._entries[at]:
                continue  # outdated
            now, place = self._best(at)
            if now < -entry[0] - _EQUAL:
                self._push(at)  # less than when it was put there
                continue
            worth = self._worth(at, place)
            test = self._left[at].pop(-1 - place)
            given = self._give(test, worth)
            self._push(at)
            return given
        raise StopIteration

    def observe(self, test: int, seen: Seen) -> None:
        """Learn what a test showed; one that this schedule has not given yet tells of its operators only."""
        neighbours = self._learning()
        queue = self._queues[self._of[test]]
        key = _key(queue.operators)
        record = self._seen[key]
        before = record.promise()
        match seen:
            case Seen.PASSED:
                record.passed += 1
            case Seen.NEW:
                record.new += 1
            case Seen.AGAIN:
                record.again += 1
            case Seen.REFUSED:
                record.refused += REFUSED_RARE if neighbours.is_rare(test) else REFUSED
        if seen is not Seen.REFUSED and test in self._given:
            neighbours.saw(test, seen is Seen.NEW)
        if seen is Seen.NEW:
            self._push_all()  # elsewhere promises may have risen
        elif record.promise() > before:
            for at in self._users[key] if isinstance(key, str) else [self._of[test]]:
                self._push(at)

    def _learning(self) -> Neighbours:
        """What is learnt across operators, from the first observation on: an order alone needs none of it."""
        if self._neighbours is None:
            self._neighbours = Neighbours(self._items)
            for test, worth in self._given.items():
                self._neighbours.give(test, worth)
        return self._neighbours

    def _give(self, test: int, worth: float) -> int:
        self._given[test] = worth
        if self._neighbours:
            self._neighbours.give(test, worth)
        return test

    def _push_all(self) -> None:
        self._heap: list[_Entry] = []
        for at in range(len(self._queues)):
            self._push(at)

    def _push(self, at: int) -> None:
        if self._left[at]:
            entry = self._entries[at] = (-self._best(at)[0], at)
            heapq.heappush(self._heap, entry)

    def _best(self, at: int) -> tuple[float, int]:
        """What the queue promises, and the place in it of the test that does."""
        factor = self._promise(self._queues[at].operators)
        if self._neighbours is None:
            return factor * self._worth(at, 0), 0
        left, best, found = self._left[at], -1.0, 0
        for place in range(min(WINDOW, len(left))):
            worth = self._worth(at, place) * self._neighbours.likelihood(left[-1 - place])
            if worth > best + _EQUAL:
                best, found = worth, place
        return factor * best, found

    def _worth(self, at: int, place: int) -> float:
        """The worth of the test in that place of what is left of a queue: it fades with the number of tests given."""
        worth = self._queues[at].worth
        return worth[len(worth) - len(self._left[at]) + place]

    def _promise(self, operators: tuple[str, ...]) -> float:
        keys: list[object] = [*operators] if len(operators) == 1 else [*operators, operators]
        return math.prod(self._seen[key].promise() for key in keys if key in self._seen)


def _key(operators: tuple[str, ...]) -> object:
    """What is learnt about. A model of several operators tells of their company, not which of them it was."""
    return operators[0] if len(operators) == 1 else operators


def _one_of_each(every: Sequence[Queue], failed: Mapping[int, Collection[str]]) -> list[int]:
    """For each bug that was seen before a test that showed it, last first; of each queue one, then a second one."""
    turns: list[tuple[int, int]] = []
    for queue in every:
        turns += enumerate(test for test in queue.tests if test in failed)
    shown: set[str] = set()
    chosen: list[int] = []
    for _, test in sorted(turns, key=lambda turn: turn[0]):
        if not shown.issuperset(failed[test]):
            chosen.append(test)
            shown.update(failed[test])
    return chosen[::-1]
