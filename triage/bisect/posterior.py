"""Where the change lies, as probabilities. Pure.

A row of revisions lies between two that are known to be on different sides; `k` of them are still on the left side.
Each side has its own rate at which runs show what is asked for. A rate is certain (always on the newer side, never on
the older one) with probability `CERTAIN`, else uniform on [0, 1]; integrated out, this gives a closed form
(Beta-binomial). So a failure that repeats costs one run a revision, and one that does not costs as many as its rate
makes necessary, by the same rule: the next run is the one that is expected to tell most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triage.bisect.outcome import Counts

#: The probability, before anything is seen, that an outcome is the same in all runs on one side.
CERTAIN = 0.99

Floats = NDArray[np.float64]


def evidence(shown: NDArray[Any], hidden: NDArray[Any], newer: bool) -> Floats:
    """The log probability of runs on one side in the order in which they came."""
    against = hidden if newer else shown
    table = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int((shown + hidden).max()) + 2)))])
    varying = math.log(1 - CERTAIN) + table[shown] + table[hidden] - table[shown + hidden + 1]
    return np.asarray(np.where(against == 0, np.logaddexp(varying, math.log(CERTAIN)), varying))


def odds(seen: Sequence[Counts], older: Counts, newer: Counts) -> Floats:
    """The log odds that each build is on the newer side, not the older one, given runs known to be of each side."""
    return _likelihood(seen, newer, True) - _likelihood(seen, older, False)


def _likelihood(seen: Sequence[Counts], known: Counts, newer: bool) -> Floats:
    """The log probability of each build's runs, once those known of the side have been seen."""
    shown = np.array([known.shown, *(counts.shown + known.shown for counts in seen)])
    hidden = np.array([known.hidden, *(counts.hidden + known.hidden for counts in seen)])
    found = evidence(shown, hidden, newer)
    return np.asarray(found[1:] - found[0])


class Posterior:
    """The probabilities of where the change lies within one row.

    `left` and `right` are the runs known of the two sides, `inside` the runs of the revisions between, oldest first.
    `rising`: the newer end's outcome is on the right. `joined` are places k where the change cannot lie, since builds
    on both sides of them are equal; they count for nothing when they are all places there are. `beyond`: how many
    revisions are newer than the row.
    """

    def __init__(
        self,
        left: Counts,
        right: Counts,
        inside: Sequence[Counts],
        rising: bool = True,
        joined: frozenset[int] = frozenset(),
        beyond: int = 0,
    ) -> None:
        self._rising = rising
        shown = np.cumsum([left.shown, *(counts.shown for counts in inside)])
        hidden = np.cumsum([left.hidden, *(counts.hidden for counts in inside)])
        self._left = shown, hidden
        self._right = shown[-1] - shown + right.shown, hidden[-1] - hidden + right.hidden
        log = evidence(*self._left, not rising) + evidence(*self._right, rising) + _recent(len(inside) + 1, beyond)
        if len(joined) < len(log):
            log[sorted(joined)] = -np.inf
        weights = np.exp(log - log.max())
        #: probability that the change lies right behind the first k revisions inside, for k = 0 … len(inside)
        self.places: Floats = weights / weights.sum()

    def changed_by(self, at: int) -> float:
        """The probability that inside revision `at` is on the right side."""
        return float(self.places[: at + 1].sum())

    def gains(self) -> Floats:
        """For each revision inside: by how many nats one more run of it is expected to narrow the place down."""
        before, after = self._rate(self._left, not self._rising), self._rate(self._right, self._rising)
        now = _entropy(self.places.sum(), _terms(self.places).sum())
        left = 0.0
        for one, two in ((before, after), (1 - before, 1 - after)):
            # Revision m is on the right side of every change at k <= m, and on the left of all others.
            right_part, left_part = self.places * two, self.places * one
            mass = np.cumsum(right_part)[:-1] + left_part.sum() - np.cumsum(left_part)[:-1]
            terms = np.cumsum(_terms(right_part))[:-1] + _terms(left_part).sum() - np.cumsum(_terms(left_part))[:-1]
            left = left + mass * _entropy(mass, terms)
        return np.asarray(now - left, dtype=np.float64)

    def _rate(self, totals: tuple[NDArray[Any], NDArray[Any]], newer: bool) -> Floats:
        """How likely the next run on one side shows what is asked for, for each place of the change."""
        shown, hidden = totals
        return np.exp(evidence(shown + 1, hidden, newer) - evidence(shown, hidden, newer))


def _recent(places: int, beyond: int) -> Floats:
    """Log weights: a change is the likelier, the nearer it is to the newer end (as 1 / distance).

    Of many revisions this asks near the newer end first and then further and further back: exponential search.
    """
    return -np.log(beyond + np.arange(places, 0, -1, dtype=np.float64))


def _terms(weights: Floats) -> Floats:
    return weights * np.log(np.maximum(weights, 1e-300))


def _entropy(mass: Any, terms: Any) -> Any:
    """The entropy of weights that sum to `mass` and whose w log w sum to `terms`."""
    safe = np.maximum(mass, 1e-300)
    return np.log(safe) - terms / safe


def repeats(rate: float, doubt: float) -> int:
    """How many runs must all pass before a failure with this rate counts as absent, up to `doubt`."""
    if rate >= 1:
        return 1
    return max(1, math.ceil(math.log(doubt) / math.log1p(-rate))) if rate > 0 else 1
