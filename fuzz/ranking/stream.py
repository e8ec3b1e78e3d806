"""Cases of a campaign in the order of a strategy, while it learns: an iterator that is told what its cases did."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from fuzz import prioritize
from fuzz.case import FAILING, Case, Status
from fuzz.generators import Feedback, Skip
from fuzz.ranking import cases
from fuzz.ranking.history import NONE, History
from fuzz.ranking.item import Item
from fuzz.ranking.schedule import Schedule, Seen

#: The strategy that learns; the others are orders made before anything runs.
LEARNS = "graphwarden"


class Ordered:
    """The cases of one source. What has no case comes last: in a short hunt it would be most of what is counted.

    All cases are made before the first is given, since an order needs them all. `failed` are the bugs that cases
    showed before, by case id: the strategy that learns begins with one of each. It also goes on from the `history` of
    earlier campaigns.
    """

    def __init__(
        self,
        source: Iterable[Case | Skip],
        strategy: str,
        seed: int,
        failed: Mapping[str, Collection[str]] = MappingProxyType({}),
        history: History = NONE,
    ) -> None:
        """Raises UnknownStrategy."""
        order = prioritize.load(strategy)
        found = list(source)
        self._skips = [entry for entry in found if isinstance(entry, Skip)]
        self._cases = list({entry.id: entry for entry in found if isinstance(entry, Case)}.values())
        self._at = {case.id: at for at, case in enumerate(self._cases)}
        self.has_cases = bool(self._cases)
        #: Why the source's first entry has no case; "" for a source without entries.
        self.why_none = f" ({self._skips[0].reason})" if self._skips else ""
        items = [cases.item(case) for case in self._cases]
        before = {self._at[case_id]: bugs for case_id, bugs in failed.items() if case_id in self._at}
        self._items = items
        self._schedule = Schedule(items, (), seed, before, history) if strategy == LEARNS else None
        self._order: Iterator[int] = self._schedule or iter(order(items, (), seed))
        self._bugs = set(history.bugs)

    def __iter__(self) -> Iterator[Case | Skip]:
        for at in self._order:
            yield self._cases[at]
        yield from self._skips

    def item(self, case_id: str) -> Item | None:
        """What was read of a case of this source, None for a foreign one."""
        at = self._at.get(case_id)
        return None if at is None else self._items[at]

    def observe(self, case_id: str, status: Status, bug: str = "", suspects: Collection[str] = ()) -> None:
        """Learn what a case did on some target; `bug` is a failure's fingerprint. Foreign cases are ignored."""
        at = self._at.get(case_id)
        if at is None or self._schedule is None:
            return
        if status in FAILING:
            self._schedule.observe(at, Seen.AGAIN if bug in self._bugs else Seen.NEW)
            self._bugs.add(bug)
        elif status in (Status.OK, Status.UNSUPPORTED):
            self._schedule.observe(at, Seen.PASSED if status is Status.OK else Seen.REFUSED)


class Mixed:
    """Several sources, in turns of so many cases each, so that a short campaign sees all."""

    def __init__(self, sources: Sequence[tuple[Feedback, int]]) -> None:
        self._sources = sources

    def __iter__(self) -> Iterator[Case | Skip]:
        streams = [(iter(source), turn) for source, turn in self._sources]
        while streams:
            for stream in list(streams):
                turn = list(itertools.islice(stream[0], stream[1]))
                if not turn:
                    streams.remove(stream)
                yield from turn

    def observe(self, case_id: str, status: Status, bug: str = "", suspects: Collection[str] = ()) -> None:
        """Tell every source what a case did."""
        for source, _ in self._sources:
            source.observe(case_id, status, bug, suspects)
