"""How early an order finds bugs: APFD, cost-aware APFDc, RAUC-k and the time to each bug.

A bug is the set of tests that show it; an order is a sequence of positions of tests. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Bugs = Mapping[str, Collection[int]]


def ranks(order: Sequence[int], bugs: Bugs) -> dict[str, int]:
    """The rank, from 1, of the first test that shows each bug. Raises ValueError for a bug that no test shows."""
    at = {test: rank for rank, test in enumerate(order, 1)}
    found = {bug: min((at[test] for test in tests if test in at), default=0) for bug, tests in bugs.items()}
    for bug, rank in found.items():
        if not rank:
            raise ValueError(f"no test of the order shows the bug {bug!r}")
    return found


def apfd(order: Sequence[int], bugs: Bugs) -> float:
    """1 - sum of ranks / (n m) + 1 / 2n (OPERA, formula 1; Rothermel et al. 2001). Raises ValueError without bugs."""
    _some(bugs)
    first = ranks(order, bugs)
    return 1 - sum(first.values()) / (len(order) * len(first)) + 1 / (2 * len(order))


def apfdc(order: Sequence[int], bugs: Bugs, seconds: Sequence[float]) -> float:
    """APFD with each test weighing its cost and all bugs equal (Elbaum, Malishevsky, Rothermel 2001).

    The share of the whole cost that is still ahead when a bug is found, half of the finding test's own included.
    `seconds` is by test. Where nothing costs anything it is `apfd`.
    """
    _some(bugs)
    total = sum(seconds[test] for test in order)
    if total <= 0:
        return apfd(order, bugs)
    left, ahead = total, []
    for test in order:
        ahead.append(left - seconds[test] / 2)
        left -= seconds[test]
    first = ranks(order, bugs).values()
    return sum(ahead[rank - 1] for rank in first) / (total * len(first))


def rauc(order: Sequence[int], bugs: Bugs, k: int) -> float:
    """The area under the bugs-found curve of the first `k` tests over that of an ideal order (RAUC-k).

    The ideal order shows a new bug with each test until all are found, whatever tests there are.
    """
    _some(bugs)
    k = max(1, min(k, len(order)))
    got = sum(max(0, k - rank + 1) for rank in ranks(order, bugs).values())
    return got / sum(max(0, k - rank + 1) for rank in range(1, len(bugs) + 1))


def times(order: Sequence[int], bugs: Bugs, seconds: Sequence[float]) -> dict[str, float]:
    """Seconds of testing until each bug is found, the finding test included."""
    spent, ends = 0.0, []
    for test in order:
        spent += seconds[test]
        ends.append(spent)
    return {bug: ends[rank - 1] for bug, rank in ranks(order, bugs).items()}


def _some(bugs: Bugs) -> None:
    if not bugs:
        raise ValueError("there are no bugs, so no order is better than another")
