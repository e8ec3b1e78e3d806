"""Which revisions are run next. Pure: the same ledger gives the same answer, so a search that was killed goes on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from triage.bisect import ends, uneven
from triage.bisect.outcome import Ledger
from triage.bisect.sides import Flip, Gap, Sides, best


def wanted(ledger: Ledger, busy: frozenset[int] = frozenset(), room: int = 1) -> list[int]:
    """The revisions to run next, the most telling first, at most `room`; none once all flips are known and confirmed.

    `busy` are being run already. An empty answer with something busy means: wait.
    """
    compared = ends.compare(ledger)
    if compared.wanted:
        return [at for at in compared.wanted if at not in busy][:room]
    sides = Sides(ledger, compared)
    doubted = [at for at in sides.doubted_ends() if at not in busy]
    return doubted[:room] or list(islice(_narrowing(sides, busy), room))


def checks(ledger: Ledger, busy: frozenset[int] = frozenset(), room: int = 1) -> list[int]:
    """Revisions away from what is known: the middle of the largest gap first, then those that side with nobody yet."""
    found: list[int] = []
    while len(found) < room:
        at = _middle(ledger, busy | frozenset(found), range(1, len(ledger) - 1))
        if at is None:
            break
        found.append(at)
    if len(found) < room:
        sides = Sides(ledger, ends.compare(ledger))
        again = [at for at in range(1, len(ledger) - 1) if sides.undecided(at) and sides.open(at)]
        again.sort(key=lambda at: len(ledger.runs(at)))
        found += [at for at in again if at not in busy][: room - len(found)]
    return found


def _narrowing(sides: Sides, busy: frozenset[int]) -> Iterator[int]:
    rows = list(sides.rows())
    gaps = [row for row in rows if isinstance(row, Gap)]
    taken = set(busy)
    for gap in gaps:
        at = best(gap, frozenset(taken))
        if at is not None:
            taken.add(at)
            yield at
    flips = [row for row in rows if isinstance(row, Flip)]
    for at in dict.fromkeys(at for flip in flips for at in (flip.before, flip.after)):
        if at not in taken and ends.unconfirmed(sides.ledger.runs(at)):
            taken.add(at)
            yield at
    again = sides.relapse().wanted
    if again is not None and again not in taken:
        taken.add(again)
        yield again
    for at in _doubtful(sides) if not gaps else ():
        if at not in taken:
            taken.add(at)
            yield at
    for gap in gaps:  # there is room for more: the answer of the first run is not waited for
        at = _middle(sides.ledger, frozenset(taken), range(gap.flip.before + 1, gap.flip.after))
        if at is not None:
            taken.add(at)
            yield at


def _doubtful(sides: Sides) -> Iterator[int]:
    """Where the rate changes within a side: what was tested there, else the middle of what was not."""
    for stretch in sides.stretches():
        for left, right in uneven.doubts(stretch):
            again = [at for at in range(left + 1, right) if sides.ledger[at].runs]
            if again:
                yield from (at for at in again[:1] if sides.open(at))
            elif (middle := _middle(sides.ledger, frozenset(), range(left + 1, right))) is not None:
                yield middle


def _middle(ledger: Ledger, busy: frozenset[int], within: range) -> int | None:
    """The middle of the largest stretch of revisions that nobody has looked at; the newest of equal ones."""
    largest: list[int] = []
    stretch: list[int] = []
    for at in within:
        if at in busy or ledger[at].skipped or ledger.tested(at):
            stretch = []
            continue
        stretch.append(at)
        if len(stretch) >= len(largest):
            largest = list(stretch)
    return largest[len(largest) // 2] if largest else None
