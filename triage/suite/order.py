"""The order of a suite: what a commit touches, then what is known to change or to fail, mixed with ordinary tests.

It learns: an outcome that changed calls up the tests that have most in common with it, and what fails on the base is
looked at before what passes there, since a change of a compiler rarely shows in one test only (decision 012 has the
figures).
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fuzz.ranking import cases
from fuzz.ranking.item import Item
from fuzz.ranking.schedule import Schedule
from fuzz.ranking.suspicion import family
from triage.suite.entries import Entry, Source
from triage.suite.memory import Past
from triage.suite.promise import Promise, traits

#: Entries that were chosen because they showed something once.
_TELLING = (Source.COMMITTED, Source.BUG, Source.GIVEN)
#: Every so many-th entry is the next one in turn, whatever promises more: an order that only follows what it has seen
#: does not see what else changed, nor that everything did.
BREADTH = 3
#: What an entry is worth learning from: one that changed, and one that fails or is refused on the base.
CHANGED, FAILING = 1.0, 0.03

#: Costs are compared within this factor of the median, and not below so many seconds, where they are mostly chance.
COSTLIEST, LEAST_SECONDS = 30.0, 0.005


class Tier(IntEnum):
    """Why an entry comes early."""

    TOUCHED = 0  # the operator that it is about is converted by what the commit touches
    USES_TOUCHED = 1
    CHANGED = 2  # its outcome has differed between two revisions
    FAILED = 3  # on the base
    TELLING = 4  # it showed something once
    REFUSED = 5  # honestly, on the base
    ORDINARY = 6


#: What a tier promises before anything is learnt, as a logit. What a commit touches comes before anything else.
HEAD_START = {
    Tier.TOUCHED: 200.0,
    Tier.USES_TOUCHED: 100.0,
    Tier.CHANGED: 4.0,
    Tier.FAILED: 4.0,
    Tier.TELLING: 4.0,
    Tier.REFUSED: 2.0,
    Tier.ORDINARY: 0.0,
}


class Order:
    """Positions of entries, the most promising first; each comes once. `learn` may be called at any time between."""

    def __init__(
        self, entries: Sequence[Entry], seed: int = 0, past: Past | None = None, touched: Collection[str] = ()
    ) -> None:
        """`touched` are operator types whose conversion a commit changes, in any spelling (`changed.spelling`)."""
        self._entries, self._past, self._touched = entries, past or Past(), frozenset(touched)
        self._items = [cases.item(entry.case) for entry in entries]
        self._operators = [operators(item) for item in self._items]
        self._tiers = [self._tier(at) for at in range(len(entries))]
        self._dear = _dear([self._past.seconds.get(entry.id) for entry in entries])
        self._given: set[int] = set()
        self._turn = 0
        self._turns = self._in_turns(seed)
        self._waiting = deque(self._turns)
        self._promise: Promise | None = None
        self._best: list[int] = []

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self._turn += 1
        in_turn = self._turn % BREADTH == 0 or self._promise is None
        at = self._next_in_turn() if in_turn else self._next_best()
        if at is None:
            at = self._next_best() if in_turn else self._next_in_turn()
        if at is None:
            raise StopIteration
        self._given.add(at)
        return at

    def learn(self, at: int, *, changed: bool, failed: bool) -> None:
        """Learn of an entry whether its outcome changed, and whether it failed or was refused on the base."""
        if self._promise is None:
            self._promise = Promise(
                [
                    traits(entry.case, item, own)
                    for entry, item, own in zip(self._entries, self._items, self._operators, strict=True)
                ]
            )
        self._promise.learn(at, CHANGED if changed else FAILING if failed else 0.0)
        self._best = []

    def touches(self, at: int) -> bool:
        """Whether the entry uses an operator that the commit touches."""
        return not self._touched.isdisjoint(self._operators[at])

    def operator(self, at: int) -> str:
        """The operator that an entry is about, as `changed.spelling` spells it."""
        return self._operators[at][0]

    def operators(self, at: int) -> tuple[str, ...]:
        """All operators of an entry, the one that it is about first."""
        return self._operators[at]

    def _next_in_turn(self) -> int | None:
        while self._waiting:
            at = self._waiting.popleft()
            if at not in self._given:
                return at
        return None

    def _next_best(self) -> int | None:
        """The entry that promises most; of equal ones the first in turn."""
        if self._promise is None:
            return None
        if not self._best:
            worth = self._promise.values() + np.array([HEAD_START[tier] for tier in self._tiers]) - self._dear
            ranked = sorted(self._turns, key=lambda at: -worth[at])  # stable
            self._best = [at for at in reversed(ranked) if at not in self._given]
        while self._best:
            at = self._best.pop()
            if at not in self._given:
                return at
        return None

    def _in_turns(self, seed: int) -> list[int]:
        """All entries by tier; within a tier, one of each operator, then a second one of each, and so on."""
        used: Counter[tuple[str, Tier]] = Counter()
        turns: list[tuple[Tier, int, int]] = []
        for at in Schedule(self._items, (), seed):
            tier = min(self._tiers[at], Tier.REFUSED)  # refusals rarely change: they wait with ordinary tests
            key = self.operator(at), tier
            turns.append((tier, used[key], at))
            used[key] += 1
        ordered = [(tier, at) for tier, _, at in sorted(turns, key=lambda turn: turn[:2])]
        touched = [at for tier, at in ordered if tier <= Tier.USES_TOUCHED]
        telling = [at for tier, at in ordered if Tier.USES_TOUCHED < tier <= Tier.TELLING]
        return [*touched, *_mixed(telling, [at for tier, at in ordered if tier > Tier.TELLING])]

    def _tier(self, at: int) -> Tier:
        entry = self._entries[at]
        if self.touches(at):
            return Tier.TOUCHED if self.operator(at) in self._touched else Tier.USES_TOUCHED
        if entry.id in self._past.changed:
            return Tier.CHANGED
        if entry.id in self._past.failed:
            return Tier.FAILED
        if entry.source in _TELLING:
            return Tier.TELLING
        return Tier.REFUSED if entry.id in self._past.refused else Tier.ORDINARY


def _dear(seconds: Sequence[float | None]) -> NDArray[np.float64]:
    """What each entry costs beside the median, as a logarithm; 0 where nothing is known.

    What changes is rare, so the logit of its probability is nearly the logarithm: less this, it ranks by changes that
    are expected in a second.
    """
    known = [one for one in seconds if one is not None]
    usual = max(statistics.median(known), LEAST_SECONDS) if known else 0.0
    found = [1.0 if one is None else max(one, LEAST_SECONDS) / usual for one in seconds]
    relative: NDArray[np.float64] = np.clip(found, 1 / COSTLIEST, COSTLIEST)
    return np.log(relative)


def _mixed(telling: Sequence[int], ordinary: Sequence[int]) -> list[int]:
    """Both in their order, an ordinary entry after every `BREADTH - 1` others: only what passed can be broken."""
    found: list[int] = []
    rest = iter(ordinary)
    for turn, at in enumerate(telling, 1):
        found.append(at)
        if turn % (BREADTH - 1) == 0:
            found += itertools.islice(rest, 1)
    return [*found, *rest]


def operators(item: Item) -> tuple[str, ...]:
    """The operators of a test, the one that it is about first; as `changed.spelling` spells them."""
    return tuple(_spelt(call.operator for call in item.calls))


def _spelt(names: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(spelling(name) for name in names)


def spelling(name: str) -> str:
    """One spelling for an operator and for the file or class that converts it: ``LayerNormalization``,
    ``layer_normalization`` and ``layer_normalization.cpp`` are ``layernormalization``."""
    plain = family(name.rpartition(":")[2])
    return "".join(letter for letter in plain.lower() if letter.isalnum())
