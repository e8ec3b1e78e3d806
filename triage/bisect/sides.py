"""On which side of a change each revision is, and between which neighbours the outcome flips. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from triage.bisect.ends import CONFIRMED, Ends
from triage.bisect.outcome import PASS, Counts, Ledger, Question, count
from triage.bisect.posterior import Posterior, odds, repeats
from triage.bisect.uneven import LUCK, Relapse, Seen, relapse

#: The log odds at which a revision's own runs put it on one side.
_DECISIVE = math.log(999)
#: The probability that the change is elsewhere, at which the search in a row ends.
_DOUBT = 0.01
#: The probability of a flip that was seen from both sides.
_CLEAR = 0.999
#: After so many runs a revision that sides with neither is left alone; a rare failure needs more.
_LEAST_PATIENCE, _MOST_PATIENCE = 12, 200
#: After so many runs that tell nothing, a revision is left alone.
_MUTE = 2


@dataclass(frozen=True)
class Flip:
    """The outcome changes behind revision `before` and not later than with `after`. `rising`: to the newer end's.

    `probability` is that of the change lying there, as far as this row of revisions is concerned.
    """

    before: int
    after: int
    rising: bool
    probability: float


@dataclass(frozen=True)
class Gap:
    """A flip that can be narrowed down: the revisions that can be run, and what is expected of a run of each."""

    flip: Flip
    gains: dict[int, float]


class Sides:
    """A ledger read with the question that its ends pose."""

    def __init__(self, ledger: Ledger, ends: Ends) -> None:
        self.ledger = ledger
        self._ends = ends
        self._last = len(ledger) - 1
        # Of ends that are alike nothing is known of the other side; it is taken for steady, as most are.
        self._older, self._newer = self._counts(0), self._counts(self._last) if ends.differ else Counts(CONFIRMED)
        self._steady = not (self._older.shown or self._newer.hidden)
        self._learn()
        self._patience = self._patient()
        self.known = self._known()

    def _counts(self, at: int) -> Counts:
        return count(self.ledger.runs(at), self._ends.question)

    def _learn(self) -> None:
        """Revisions that answer now so, now so show that failures come and go, which counts for the side that does so.

        That is the one that fails; the other one, where that fails now and then and this each time.
        """
        unsteady = self._unsteady()
        if self._older.shown and self._newer.hidden:
            return
        older_fails = self._ends.question == Question(PASS, among=self._ends.question.among)
        if self._older.shown or (older_fails and not self._newer.hidden):
            self._older += unsteady
        else:
            self._newer += unsteady

    def _unsteady(self) -> Counts:
        """The runs of all revisions between the ends that answer now so, now so."""
        between = (self._counts(at) for at in range(1, self._last) if self.ledger.tested(at))
        return sum((seen for seen in between if seen.shown and seen.hidden), Counts())

    def _patient(self) -> int:
        """How many runs are enough to miss a failure of the rate that the ends have only once in a thousand times."""
        rates = [(side.shown / side.runs if side.runs else 1.0) for side in (self._older, self._newer)]
        needed = 2 * repeats(abs(rates[1] - rates[0]), 0.001)
        return min(_MOST_PATIENCE, max(_LEAST_PATIENCE, needed))

    def _known(self) -> dict[int, bool]:
        """Revisions whose own runs decide: whether they are on the newer end's side. The ends are by definition."""
        sides = {0: False, self._last: self._ends.differ}
        tested = [at for at in range(1, self._last) if self.ledger.tested(at) and not self._random(at)]
        told = odds([self._counts(at) for at in tested], self._older, self._newer)
        sides |= {at: bool(each > 0) for at, each in zip(tested, told, strict=True) if abs(each) >= _DECISIVE}
        return dict(sorted(sides.items()))

    def _random(self, at: int) -> bool:
        """Whether a revision answers now so, now so although the ends do not: then it sides with neither."""
        seen = self._counts(at)
        return self._steady and seen.shown > 0 and seen.hidden > 0

    def doubted_ends(self) -> list[int]:
        """Ends that pass, of too few runs if they fail as often as a revision between them that comes and goes."""
        unsteady = self._unsteady()
        if not unsteady.runs or self._ends.question.letter != PASS:
            return []
        fails = unsteady.shown if self._ends.question.but else unsteady.hidden
        needed = min(_MOST_PATIENCE, repeats(fails / unsteady.runs, LUCK))
        runs = {at: self.ledger.pooled(at) for at in (0, self._last)}
        return [at for at, record in runs.items() if not record.failed and len(record.runs) < needed]

    def undecided(self, at: int) -> bool:
        """Whether the revision was run and is on neither side."""
        return at not in self.known and self.ledger.tested(at)

    def open(self, at: int) -> bool:
        """Whether another run of the revision could tell something."""
        return self._may_run(at, self._patience)

    def _may_run(self, at: int, most: int) -> bool:
        runs = len(self.ledger.runs(at))
        mute = runs >= _MUTE and not self._counts(at).runs
        return not self.ledger[at].skipped and runs < most and not mute

    def rows(self) -> Iterator[Flip | Gap]:
        """Every place where the outcome flips, newest first; a Gap while it can be narrowed down."""
        found = list(self._plain_rows)
        again = self.relapse()
        if again.flip is not None:
            low, high = sorted(again.flip)
            flip = Flip(low, high, self._ends.question.but, _CLEAR)
            found.append(Gap(flip, {again.wanted: 1.0}) if again.wanted is not None else flip)
        yield from sorted(found, key=lambda row: -(row.flip if isinstance(row, Gap) else row).before)

    def relapse(self) -> Relapse:
        """Whether the better of two ends that fail comes after a compiler that passes."""
        newer = self._ends.question == Question(PASS, among=self._ends.question.among)
        older = self._ends.question == Question(PASS, but=True, among=self._ends.question.among)
        seen = self._newer if newer else self._older
        if not self._ends.differ or not (newer or older) or not (seen.hidden if newer else seen.shown):
            return Relapse()
        flips = [row for row in self._plain_rows if isinstance(row, Flip)]
        if len(flips) != 1:
            return Relapse()
        [flip] = flips
        within = range(flip.after, self._last + 1) if newer else range(flip.before, -1, -1)
        stretch = self._stretch(within, newer)
        unseen = [at for at in within if not self.ledger.tested(at) and not self.ledger[at].skipped]
        return relapse(stretch, unseen, [at for at in within if not self._may_run(at, _MOST_PATIENCE)])

    @cached_property
    def _plain_rows(self) -> list[Flip | Gap]:
        """Those between revisions that are known, the newest first."""
        pairs = reversed(list(pairwise(self.known)))
        return [self._row(left, right) for left, right in pairs if self.known[left] != self.known[right]]

    def stretches(self) -> Iterator[list[Seen]]:
        """The tested revisions of each row between flips, oldest first, with how many of their runs are like it."""
        first, newer = 0, False
        for row in reversed(list(self.rows())):
            flip = row.flip if isinstance(row, Gap) else row
            yield self._stretch(range(first, flip.before + 1), newer)
            first, newer = flip.after, flip.rising
        yield self._stretch(range(first, self._last + 1), newer)

    def _stretch(self, within: range, newer: bool) -> list[Seen]:
        return [self._seen(at, newer) for at in within if self.ledger[at].runs]

    def _seen(self, at: int, newer: bool) -> Seen:
        own = count(self.ledger[at].runs, self._ends.question)
        return Seen(at, own.shown, own.hidden) if newer else Seen(at, own.hidden, own.shown)

    def posterior(self, left: int, right: int) -> Posterior:
        """Where the one change between two revisions lies that are on different sides."""
        # Each run counts once, where it was made; builds that are equal are joined.
        inside = [count(self.ledger[at].runs, self._ends.question) for at in range(left + 1, right)]
        joined = frozenset(at - left - 1 for at in self._joined(left, right))
        beyond = self._last - right
        return Posterior(self._side(left), self._side(right), inside, self.known[right], joined, beyond)

    def _joined(self, left: int, right: int) -> set[int]:
        """Revisions that one change cannot have come with: an equal build lies before them, and one not before."""
        found: set[int] = set()
        for at in range(left, right + 1):
            alike = [other for other in self.ledger.twins(at) if at < other <= right]
            if alike:
                found |= set(range(at + 1, alike[-1] + 1))
        return found

    def _side(self, at: int) -> Counts:
        known = self._newer if self.known[at] else self._older
        return known if at in (0, self._last) else known + self._counts(at)

    def _row(self, left: int, right: int) -> Flip | Gap:
        told = self.posterior(left, right)
        rising = self.known[right]
        before, after = left, right
        for at in range(left + 1, right):
            changed = told.changed_by(at - left - 1)
            shown = self._counts(at).shown > 0
            tells = self.ledger.tested(at) and self._counts(at).runs > 0
            if tells and changed <= _DOUBT and (rising or shown):
                before = at
            if tells and changed >= 1 - _DOUBT and (shown or not rising):
                after = at
                break
        mass = float(told.places[before - left : after - left].sum())
        flip = Flip(before, after, rising, mass)
        candidates = [at for at in range(before + 1, after) if self.open(at)]
        if not candidates:
            return flip
        gains = told.gains()
        return Gap(flip, {at: float(gains[at - left - 1]) for at in candidates})

    def blame(self, flip: Flip) -> float:
        """The probability that the change came with `flip.after` itself, if there is only one change."""
        places = self.posterior(0, self._last).places
        return float(places[flip.after - 1])


def best(gap: Gap, busy: frozenset[int]) -> int | None:
    """The revision of a gap whose run tells most, None when all of them are being run."""
    free = {at: gain for at, gain in gap.gains.items() if at not in busy}
    if not free:
        return None
    top = max(free.values())
    alike = [at for at, gain in free.items() if np.isclose(gain, top, rtol=1e-9, atol=1e-12)]
    return alike[len(alike) // 2]
