"""One place, one bug or several? One difference is noise; two that go together are another bug. Pure.

Failures at one place are told apart by message, caller, operator and exception, each in turn. Two values of one of
these are two bugs if another of them, or the line, goes with it (`triage.apart`): two messages that come with
different operators are two bugs, two messages that come with the same ones are two ways of saying the same. A place
that says many things reports errors and has none of its own: there the message decides.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from triage import frequency, shared_place
from triage.apart import apart, ranges_apart
from triage.cells import Cell
from triage.families import family

#: A place that says as many different things, each for this part of its failures and this often, reports errors.
_MANY, _SUPPORT, _SEEN = 5, 0.03, 2
_SHARED_WORDS = 0.6
#: So many line numbers show where a check is.
_MOST_LINES = 400
#: A value is compared with no more than these many others, the most frequent ones, which keeps the work linear.
_MOST_COMPARED = 64

_A_VALUE = "a value"
#: Each way of telling failures apart.
KINDS: dict[str, Callable[[Cell], str]] = {
    "message": lambda cell: _A_VALUE if _is_a_value(cell.message) else cell.message,
    "caller": lambda cell: cell.caller,
    "operator": lambda cell: family(cell.converted),
    "exception": lambda cell: cell.exception,
}


def _is_a_value(message: str) -> bool:
    """Whether a message is one word and no code of an error: a key that was missing, whose name is the model's."""
    return bool(message) and " " not in message and not ("_" in message and message.isupper())


@dataclass
class _Pool:
    """Cells taken together, and what was counted of each kind; "" is not counted, being unknown."""

    cells: list[Cell] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    weight: int = 0

    def add(self, other: _Pool) -> None:
        self.cells += other.cells
        self.lines = _thinned(sorted([*self.lines, *other.lines]))
        self.weight += other.weight
        for kind, counter in other.counts.items():
            if (mine := self.counts.get(kind)) is None:
                self.counts[kind] = counter.copy()
                continue
            for value, count in counter.items():
                mine[value] = mine.get(value, 0) + count

    def differs(self, other: _Pool, besides: str, drift: int) -> bool:
        """Whether anything but the kind `besides` tells the two apart."""
        return any(
            apart(counter, other.counts[kind])
            for kind, counter in self.counts.items()
            if kind != besides and kind in other.counts
        ) or ranges_apart(self.lines, other.lines, drift)


@dataclass(frozen=True)
class Batch:
    """What is usual in the batch at hand: how far one check's line moves, and how often one bug shows (0: unknown)."""

    drift: int = 0
    usual_size: float = 0.0


def batch(cells: Sequence[Cell]) -> Batch:
    """What is usual among these cells."""
    at: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        at[cell.symptom, cell.place].append(cell)
    alone = [sum(cell.weight for cell in found) for found in at.values() if len({cell.message for cell in found}) == 1]
    return Batch(_drift(cells), frequency.usual(alone))


def partition(cells: Sequence[Cell], batch: Batch) -> list[list[Cell]]:
    """The cells of one place as bugs."""
    parts = shared_place.apart(cells) if any(cell.shared and cell.whole for cell in cells) else [list(cells)]
    for kind in KINDS:
        parts = [part for whole in parts for part in _split(whole, kind, batch.drift)]
    return [part for whole in parts for part in _by_frequency(whole, batch.usual_size)]


def _split(cells: list[Cell], kind: str, drift: int) -> list[list[Cell]]:
    """Cells with different values of a kind, apart where something else differs as well."""
    if _alone(cells, kind):
        return [cells]
    by_value = _by_value(cells, kind)
    unknown = by_value.pop("", None)
    reporting = kind == "message" and bool(cells[0].place) and _reports_errors(by_value)
    pools: list[_Pool] = []
    for value, pool in by_value.items():
        heaviest = islice(pools, _MOST_COMPARED)
        like = (each for each in heaviest if not reporting or alike(value, each.cells[0].message))
        found = next((each for each in like if not each.differs(pool, kind, drift)), None)
        if found is None:
            pools.append(found := _Pool())
        found.add(pool)
    if unknown is not None:
        next((each for each in pools if not each.differs(unknown, kind, drift)), pools[0]).add(unknown)
    return [pool.cells for pool in pools]


def _thinned(ordered: list[int]) -> list[int]:
    """Evenly chosen ones of sorted lines: their range is wanted, and that often."""
    step = -(-len(ordered) // _MOST_LINES)
    return ordered[:: step or 1]


def _alone(cells: Sequence[Cell], kind: str) -> bool:
    """Whether the cells have one value of a kind: that is quicker seen than counted, and most have."""
    read = KINDS[kind]
    first = read(cells[0])
    return all(read(cell) == first for cell in cells)


def _by_value(cells: Sequence[Cell], kind: str) -> dict[str, _Pool]:
    """A pool for each value, the heaviest first."""
    pools: defaultdict[str, _Pool] = defaultdict(_Pool)
    for cell in cells:
        pools[KINDS[kind](cell)].add(_pool(cell))
    return dict(sorted(pools.items(), key=lambda item: (-item[1].weight, item[0])))


def _by_frequency(cells: list[Cell], usual_size: float) -> list[list[Cell]]:
    """Messages that each come as often as a whole bug, apart."""
    if not cells[0].place or not usual_size or _alone(cells, "message"):
        return [cells]
    pools = list(_by_value(cells, "message").values())
    if not frequency.several([pool.weight for pool in pools], usual_size):
        return [cells]
    return [pool.cells for pool in pools]


def _reports_errors(by_message: Mapping[str, _Pool]) -> bool:
    """Whether a place is where errors are reported rather than where one is: it says too many different things."""
    least = max(_SEEN, _SUPPORT * sum(pool.weight for pool in by_message.values()))
    wordings: list[str] = []
    for message, pool in by_message.items():
        if pool.weight >= least and not any(alike(message, other) for other in wordings):
            wordings.append(message)
    return len(wordings) >= _MANY


def alike(one: str, other: str) -> bool:
    """Whether two messages are one sentence with other words filled in: most words are shared."""
    words, others = _words(one), _words(other)
    return len(words & others) >= _SHARED_WORDS * max(len(words), len(others))


@lru_cache(maxsize=1 << 14)
def _words(message: str) -> frozenset[str]:
    return frozenset(message.split())


def _pool(cell: Cell) -> _Pool:
    pool = _Pool([cell], lines=_thinned(sorted(cell.lines)) if cell.whole else [], weight=cell.weight)
    for kind, read in KINDS.items():
        if value := read(cell):
            counter = pool.counts[kind] = Counter()  # quicker than from a mapping
            counter[value] = cell.weight
    return pool


def _drift(cells: Sequence[Cell]) -> int:
    """How far the line of one check moves within a batch: the width that nine of ten checks keep to."""
    lines: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for cell in cells:
        if cell.whole:
            lines[cell.place, cell.caller, cell.message] += cell.lines
    widths = sorted(max(found) - min(found) for found in lines.values() if len(found) > 2)
    return widths[len(widths) * 9 // 10] if widths else 0
