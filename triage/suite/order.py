"""The order of a suite: what a commit touches, then what is known to change or to fail, mixed with ordinary tests.

It learns: an outcome that changed calls up the other tests of the same operator, since a change of a conversion
function rarely shows in one test only (decision 012 has the figures).
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence

from fuzz.ranking import cases
from fuzz.ranking.item import Item
from fuzz.ranking.schedule import Schedule
from fuzz.ranking.suspicion import family
from triage.suite.entries import Entry, Source
from triage.suite.memory import Past

#: Entries that were chosen because they showed something once.
_TELLING = (Source.COMMITTED, Source.BUG, Source.GIVEN)


#: Every so many-th entry is the next one in turn, whatever has been called up: an order that only follows one operator
#: does not see what else changed, nor that everything did.
BREADTH = 3


#: Tiers up to this one are what the commit touches; the last one holds what nothing is known of.
_TOUCHED, _ORDINARY = 1, 5


class Order:
    """Positions of entries, the most promising first; each comes once. `changed` may be called at any time between."""

    def __init__(
        self, entries: Sequence[Entry], seed: int = 0, past: Past | None = None, touched: Collection[str] = ()
    ) -> None:
        """`touched` are operator types whose conversion a commit changes, in any spelling (`changed.spelling`)."""
        self._entries, self._past, self._touched = entries, past or Past(), frozenset(touched)
        self._items = [cases.item(entry.case) for entry in entries]
        self._operators = [_operators(item) for item in self._items]
        self._hot: deque[int] = deque()
        self._given: set[int] = set()
        self._turn = 0
        #: The entries of each operator by tier, in the prioritiser's order.
        self._of: dict[str, list[int]] = defaultdict(list)
        for at in sorted(Schedule(self._items, (), seed), key=self._tier):
            self._of[self.operator(at)].append(at)
        self._waiting = deque(self._in_turns())

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self._turn += 1
        queues = (self._hot, self._waiting) if self._turn % BREADTH else (self._waiting, self._hot)
        for queue in queues:
            while queue:
                at = queue.popleft()
                if at not in self._given:
                    self._given.add(at)
                    return at
        raise StopIteration

    def changed(self, at: int) -> None:
        """Learn that the outcome of an entry changed: the other tests of its operator are worth running now."""
        self._hot.extend(other for other in self._of[self.operator(at)] if other not in self._given)

    def touches(self, at: int) -> bool:
        """Whether the entry uses an operator that the commit touches."""
        return not self._touched.isdisjoint(self._operators[at])

    def operator(self, at: int) -> str:
        """The operator that an entry is about, as `changed.spelling` spells it."""
        return self._operators[at][0]

    def operators(self, at: int) -> tuple[str, ...]:
        """All operators of an entry, the one that it is about first."""
        return self._operators[at]

    def _in_turns(self) -> list[int]:
        """All entries by tier; within a tier, one of each operator, then a second one of each, and so on."""
        turns: list[tuple[int, int, int]] = []
        for own in self._of.values():
            used: Counter[int] = Counter()
            for at in own:
                tier = self._tier(at)
                turns.append((tier, used[tier], at))
                used[tier] += 1
        ordered = [(tier, at) for tier, _, at in sorted(turns, key=lambda turn: turn[:2])]
        telling = [at for tier, at in ordered if _TOUCHED < tier < _ORDINARY]
        ordinary = [at for tier, at in ordered if tier == _ORDINARY]
        return [*(at for tier, at in ordered if tier <= _TOUCHED), *_mixed(telling, ordinary)]

    def _tier(self, at: int) -> int:
        entry = self._entries[at]
        if self.touches(at):
            return 0 if self.operator(at) in self._touched else 1
        if entry.id in self._past.changed:
            return 2
        if entry.id in self._past.failed:
            return 3
        return 4 if entry.source in _TELLING else _ORDINARY


def _mixed(telling: Sequence[int], ordinary: Sequence[int]) -> list[int]:
    """Both in their order, an ordinary entry after every `BREADTH - 1` others: only what passed can be broken."""
    found: list[int] = []
    rest = iter(ordinary)
    for turn, at in enumerate(telling, 1):
        found.append(at)
        if turn % (BREADTH - 1) == 0:
            found += itertools.islice(rest, 1)
    return [*found, *rest]


def _operators(item: Item) -> tuple[str, ...]:
    """The operators of a test, the one that it is about first; as `changed.spelling` spells them."""
    return tuple(_spelt(call.operator for call in item.calls))


def _spelt(names: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(spelling(name) for name in names)


def spelling(name: str) -> str:
    """One spelling for an operator and for the file or class that converts it: ``LayerNormalization``,
    ``layer_normalization`` and ``layer_normalization.cpp`` are ``layernormalization``."""
    plain = family(name.rpartition(":")[2])
    return "".join(letter for letter in plain.lower() if letter.isalnum())
