"""What compilers have done with operators: how often they refuse them, and how likely those fail in a way that is new.

How likely an operator's next result is a failure of a new kind is told by the kinds that were seen once so far (Good
and Turing's estimate; Böhme, "STADS: Software testing as species discovery", 2018). So a failure is credited to the
operators that it may be due to, in equal shares, until it is seen again. The rate has a gamma distribution (events of a
Poisson process), and whoever looks for failures takes the operator with the highest rate that is drawn from it
(Thompson sampling; Chapelle and Li, "An empirical evaluation of Thompson sampling", 2011). That explores what was seen
little, and bears results that come late.

How much an operator's own results say beside those of all is itself learnt (empirical Bayes): if the kinds of failures
that were seen are spread over the operators as by chance, they tell nothing of where the next one is, and all operators
promise the same; if they gather at some, these promise more.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fuzz.graphs.kept import KeptExperience

#: Results that every operator is thought to have had before its first, where refusals are concerned.
_DOUBT = 4
#: Kinds of failures seen once that are remembered; older ones count as seen again.
_REMEMBERED = 4096
#: Before anything is known: one new failure in so many results of operators.
_FIRST = 500.0
#: The shape of the prior where kinds gather at operators as much as can be, and where they do not at all.
_UNEVEN, _EVEN = 0.1, 1000.0


@dataclass(frozen=True)
class Prior:
    """The gamma distribution of the operators' rates: its shape, and its mean in new failures for each result."""

    shape: float
    mean: float


class Experience:
    """Counts by operator, which the corpus bounds, and the last kinds of failures that were seen once."""

    def __init__(self) -> None:
        self._results: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        #: Credit of the kinds that were seen once, and of all kinds.
        self._credit: defaultdict[str, float] = defaultdict(float)
        self._kinds: defaultdict[str, float] = defaultdict(float)
        #: Kinds of failures that were seen once, and the operators that they may be due to.
        self._once: dict[str, tuple[str, ...]] = {}

    def refused(self, operators: Collection[str]) -> None:
        """A compiler says honestly that it cannot take a model of these operators."""
        self._results.update(operators)
        self._refused.update(operators)

    def ran(self, operators: Collection[str]) -> None:
        """A model of these operators was no refusal: it passed or failed."""
        self._results.update(operators)

    def failed(self, kind: str, suspects: Collection[str]) -> None:
        """A failure of a kind that is new; one of these operators is to blame for it."""
        self._once[kind] = tuple(suspects)
        self._give(kind, 1.0)
        for name in suspects:
            self._kinds[name] += 1 / len(suspects)
        if len(self._once) > _REMEMBERED:
            self.failed_again(next(iter(self._once)))

    def failed_again(self, kind: str) -> None:
        """A failure of a kind that is known: from its second time on it promises no other."""
        if kind in self._once:
            self._give(kind, -1.0)
            del self._once[kind]

    def _give(self, kind: str, credit: float) -> None:
        suspects = self._once[kind]
        for name in suspects:
            self._credit[name] = max(0.0, self._credit[name] + credit / len(suspects))

    def success(self, name: str) -> float:
        """The share of an operator's results that were no refusals (the paper's success ratio)."""
        return 1 - self._refused[name] / (self._results[name] + _DOUBT)

    def prior(self) -> Prior:
        """What the results of all operators say of the rate of one.

        The shape is that of the method of moments: what the squares of the kinds exceed those of a Poisson process of
        equal rates by is due to unequal ones.
        """
        ran = {name: count - self._refused[name] for name, count in self._results.items()}
        total, kinds = sum(ran.values()), sum(self._kinds.values())
        mean = (sum(self._credit.values()) + 1) / (total + _FIRST)
        if not kinds:
            return Prior(_EVEN, mean)
        expected = {name: kinds * count / total for name, count in ran.items()} if total else {}
        excess = sum((self._kinds.get(name, 0.0) - each) ** 2 - each for name, each in expected.items())
        squares = sum(each**2 for each in expected.values())
        return Prior(min(max(squares / excess, _UNEVEN), _EVEN) if excess > 0 else _EVEN, mean)

    def rate(self, name: str, prior: Prior, draw: random.Random) -> float:
        """A rate of new failures for the operator, drawn from what is known of it."""
        ran = self._results[name] - self._refused[name]
        return draw.gammavariate(self._credit.get(name, 0.0) + prior.shape, 1.0) / (ran + prior.shape / prior.mean)

    def state(self) -> dict[str, Any]:
        """What is known, as a JSON document."""
        counts = {"results": dict(self._results), "refused": dict(self._refused), "kinds": dict(self._kinds)}
        return counts | {"once": self._once}

    def restore(self, state: KeptExperience) -> None:
        """Go on from a `state`."""
        self._results = Counter(state.results)
        self._refused = Counter({name: min(count, self._results[name]) for name, count in state.refused.items()})
        self._kinds = defaultdict(float, state.kinds)
        self._credit.clear()
        self._once = {kind: tuple(suspects) for kind, suspects in state.once.items()}
        for kind in self._once:
            self._give(kind, 1.0)
