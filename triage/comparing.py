"""Strategies compared on a subject: APFD and its relatives, mean and spread over seeds (OPERA, section V-B)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuzz import prioritize
from fuzz.ranking import metrics
from fuzz.ranking.replay import learning_order
from triage.subjects import Subject

#: The strategy `graphwarden` with what it learns while the campaign runs.
LEARNING = "graphwarden-learning"
#: The same where an earlier revision of the compiler was tested before: of each bug seen there one test comes first.
HISTORY = "graphwarden-history"
#: The share of the tests after which RAUC-k looks.
RAUC_SHARES = (0.1, 0.5, 1.0)
#: Points of a curve.
POINTS = 100


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over seeds (0 for one seed)."""

    mean: float
    stdev: float


@dataclass(frozen=True)
class Score:
    """How early one strategy finds the bugs of one subject.

    `rauc` is by share of the tests. `ranks` and `seconds` (of compiler time) are means, to the first test that shows
    each bug. `curve` is the mean number of bugs found after 0, 1, … POINTS equal parts of the whole compiler time.
    """

    strategy: str
    apfd: Spread
    apfdc: Spread
    rauc: dict[float, Spread]
    ranks: dict[str, float]
    seconds: dict[str, float]
    curve: tuple[float, ...]


def strategies(subjects: Sequence[Subject]) -> list[str]:
    """All that can be compared: `HISTORY` where some test of the subjects failed on an earlier revision."""
    return [*prioritize.names(), LEARNING, *([HISTORY] if any(subject.failed for subject in subjects) else [])]


def score(subject: Subject, strategy: str, seeds: int) -> Score:
    """One strategy on one subject over the seeds 0 … `seeds` - 1. Raises UnknownStrategy."""
    orders = [_order(subject, strategy, seed) for seed in range(seeds)]
    bugs, cost, count = subject.bugs, subject.seconds, len(subject.items)
    ranks = [metrics.ranks(order, bugs) for order in orders]
    times = [metrics.times(order, bugs, cost) for order in orders]
    return Score(
        strategy,
        _spread([metrics.apfd(order, bugs) for order in orders]),
        _spread([metrics.apfdc(order, bugs, cost) for order in orders]),
        {
            share: _spread([metrics.rauc(order, bugs, round(share * count)) for order in orders])
            for share in RAUC_SHARES
        },
        {bug: statistics.mean(rank[bug] for rank in ranks) for bug in bugs},
        {bug: statistics.mean(time[bug] for time in times) for bug in bugs},
        tuple(_curve(times, sum(cost))),
    )


def _order(subject: Subject, strategy: str, seed: int) -> list[int]:
    if strategy in (LEARNING, HISTORY):
        failed = subject.failed if strategy == HISTORY else {}
        return learning_order(subject.items, subject.tested, seed, subject.bugs, subject.refused, failed)
    return prioritize.load(strategy)(subject.items, subject.tested, seed)


def _curve(times: Sequence[dict[str, float]], total: float) -> Iterator[float]:
    for point in range(POINTS + 1):
        until = total * point / POINTS if point < POINTS else float("inf")
        yield statistics.mean(sum(time <= until for time in each.values()) for each in times)


def _spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0)
