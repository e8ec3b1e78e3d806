"""Where in a graph a bug may sit: hypotheses, their weights, and what a run of the predicate says of them.

A hypothesis is a small structure: one node, a producer and its consumer, a chain, two consumers of one tensor,
a diamond, a node and one far above it, two nodes anywhere. Each comes in two strengths. "This occurrence": the
bug needs exactly these nodes. "This pattern": any occurrence with the same operators will do, so that a model of
five hundred nodes but fifteen operators has few of them. A hypothesis says that a part of the graph fails when
it holds an occurrence; so every run of the predicate refutes about as much weight as is asked of it.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

#: The nodes of one occurrence, at most `_WIDTH`.
Occurrence = tuple[int, ...]
_WIDTH = 4
#: How many occurrences of one shape are looked at; the rest are sampled away.
_MOST = 30_000
#: The share of a shape's weight that goes to its patterns; the rest goes to single occurrences.
_PATTERN_SHARE = 0.6
#: How many times likelier than all else it is that the operators that a failure names are involved.
_TRUST = 4.0
#: The same for bodies and functions, when it names none: compilers seldom meet them.
_COMPOSITE = 2.0
#: How many times likelier it is that one of them is enough on its own.
_COMPOSITE_ALONE = 10.0
#: The share of a shape's weight that all its operators have alike; the rest favours rare ones.
_ALIKE = 0.5


@dataclass(frozen=True)
class Wiring:
    """A graph as the search sees it: an operator per node, and who reads whose result.

    `edges` are (producer, consumer); `groups` are the nodes that read one tensor, whoever made it. `composite` are
    the nodes that stand for others: those with bodies, and calls of functions.
    """

    operators: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, ...], ...] = ()
    composite: tuple[int, ...] = ()


@dataclass(frozen=True)
class Neighbours:
    """Producers and consumers of every node."""

    before: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    after: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def _singles(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    return ((node,) for node in range(len(wiring.operators)))


def _fed(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    return iter(wiring.edges)


def _siblings(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    for group in wiring.groups:
        yield from itertools.combinations(group[:40], 2)


def _chains(length: int) -> Callable[[Wiring, Neighbours], Iterator[Occurrence]]:
    def chains(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
        paths: Iterable[Occurrence] = wiring.edges
        for _ in range(length - 2):
            paths = ((*path, node) for path in paths for node in near.after[path[-1]])
        return iter(paths)

    return chains


def _joins(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    for node in range(len(wiring.operators)):
        yield from ((*pair, node) for pair in itertools.combinations(near.before[node][:10], 2))


def _forks(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    for node in range(len(wiring.operators)):
        yield from ((node, *pair) for pair in itertools.combinations(near.after[node][:10], 2))


def _diamonds(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    for top, left, right in _forks(wiring, near):
        common = set(near.after[left]) & set(near.after[right])
        yield from ((top, left, right, bottom) for bottom in common)


def _far(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    """A node and one that it needs, at whatever distance beyond one."""
    for node in range(len(wiring.operators)):
        for above in sorted(_above(node, near) - set(near.before[node])):
            yield above, node


def _above(node: int, near: Neighbours) -> set[int]:
    found: set[int] = set()
    waiting = list(near.before[node])
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += near.before[each]
    return found


def _anywhere(wiring: Wiring, near: Neighbours) -> Iterator[Occurrence]:
    return itertools.combinations(range(len(wiring.operators)), 2)


#: Shapes of structures with their prior weights: guesses, which decide about runs but never about the result.
_SHAPES: tuple[tuple[float, Callable[[Wiring, Neighbours], Iterator[Occurrence]]], ...] = (
    (0.22, _singles),
    (0.26, _fed),
    (0.05, _siblings),
    (0.10, _chains(3)),
    (0.04, _joins),
    (0.03, _forks),
    (0.07, _chains(4)),
    (0.04, _diamonds),
    (0.08, _far),
    (0.08, _anywhere),
)


def _neighbours(wiring: Wiring) -> Neighbours:
    near = Neighbours()
    for producer, consumer in wiring.edges:
        near.before[consumer].append(producer)
        near.after[producer].append(consumer)
    return near


class Hypotheses:
    """The hypotheses that are still possible, for the parts of one graph."""

    def __init__(self, wiring: Wiring, suspects: Collection[str], seed: int = 0) -> None:
        near, counts = _neighbours(wiring), Counter(wiring.operators)
        rows: list[Occurrence] = []
        weights: list[float] = []
        patterns: list[int] = []
        pattern_weights: list[float] = []
        for share, shape in _SHAPES:
            found = _sampled(shape(wiring, near), seed)
            kinds: dict[tuple[str, ...], int] = {}
            for occurrence in found:
                operators = tuple(wiring.operators[node] for node in occurrence)
                patterns.append(kinds.setdefault(operators, len(pattern_weights) + len(kinds)))
            rows += found
            rarity = {operators: _rarity(operators, counts) for operators in kinds}
            single = [rarity[tuple(wiring.operators[node] for node in occurrence)] for occurrence in found]
            weights += _shares(share * (1 - _PATTERN_SHARE), single)
            pattern_weights += _shares(share * _PATTERN_SHARE, list(rarity.values()))
        padded = [row + (row[0],) * (_WIDTH - len(row)) for row in rows]
        self._rows = np.array(padded, dtype=np.int32).reshape(len(padded), _WIDTH)
        self._weights, self._patterns = np.array(weights), np.array(patterns, dtype=np.int32)
        self._pattern_weights = np.array(pattern_weights)
        self._possible = np.ones(len(rows), dtype=bool)
        self._pattern_possible = np.ones(len(pattern_weights), dtype=bool)
        named = [node for node, name in enumerate(wiring.operators) if name in suspects]
        if named:
            self._trust(named, _TRUST, _TRUST)
        else:
            self._trust(wiring.composite, _COMPOSITE, _COMPOSITE_ALONE)

    def _trust(self, nodes: Collection[int], trust: float, single: float) -> None:
        """What holds one of the suspected `nodes` weighs `trust` times the rest; `single` times more on its own."""
        if not nodes:
            return
        alone: np.ndarray = np.all(self._rows == self._rows[:, :1], axis=1)
        self._multiply(np.isin(self._rows[:, 0], list(nodes)) & alone, single)
        near: np.ndarray = np.any(np.isin(self._rows, list(nodes)), axis=1)
        kinds = np.unique(self._patterns[near])
        own = float(self._weights[near].sum() + self._pattern_weights[kinds].sum())
        rest = float(self._weights.sum() + self._pattern_weights.sum()) - own
        self._multiply(near, max(1.0, trust * rest / own))

    def favour(self, nodes: Collection[int], factor: float) -> None:
        """What holds one of `nodes` weighs more from now on."""
        near: np.ndarray = np.any(np.isin(self._rows, list(nodes)), axis=1)
        self._multiply(near, factor)

    def _multiply(self, chosen: np.ndarray, factor: float) -> None:
        self._weights = np.where(chosen, factor * self._weights, self._weights)
        self._pattern_weights[np.unique(self._patterns[chosen])] *= factor

    def weight(self, part: np.ndarray) -> float:
        """How much weight says that `part` (bool[nodes]) fails."""
        held, patterns = self._held(part)
        return float(self._weights[held & self._possible].sum() + self._pattern_weights[patterns].sum())

    def refute(self, part: np.ndarray) -> None:
        """`part` did not fail: nothing that it holds is enough."""
        held, _ = self._held(part)
        self._pattern_possible[np.unique(self._patterns[held])] = False
        self._possible &= ~held

    def doubt(self, part: np.ndarray, factor: float) -> None:
        """`part` did not fail, perhaps for another reason: what it holds is `factor` times as likely as before."""
        held, _ = self._held(part)
        self._multiply(held, factor)

    def confine(self, part: np.ndarray) -> None:
        """`part` failed and is all there is from now on."""
        held, patterns = self._held(part)
        alive = np.zeros_like(self._pattern_possible)
        alive[patterns] = True
        self._pattern_possible &= alive
        self._rows, self._weights, self._patterns = self._rows[held], self._weights[held], self._patterns[held]
        self._possible = self._possible[held]

    def _held(self, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which occurrences `part` holds, and which patterns are possible and have one there."""
        held: np.ndarray = np.all(part[self._rows], axis=1)
        patterns = np.unique(self._patterns[held])
        return held, patterns[self._pattern_possible[patterns]]

    def covering(self) -> list[int]:
        """Nodes, those first that the weightiest hypotheses need, structure by structure."""
        gains: dict[Occurrence, float] = {}
        first: dict[int, int] = {}
        for at, pattern in enumerate(self._patterns.tolist()):
            if self._pattern_possible[pattern]:
                first.setdefault(pattern, at)
        shown = {at: float(self._pattern_weights[pattern]) for pattern, at in first.items()}
        for at in np.flatnonzero(self._possible).tolist():
            shown[at] = shown.get(at, 0.0) + float(self._weights[at])
        for at, weight in shown.items():
            nodes = tuple(dict.fromkeys(self._rows[at].tolist()))
            gains[nodes] = gains.get(nodes, 0.0) + weight
        order = sorted(gains, key=lambda nodes: (-gains[nodes] / len(nodes), nodes))
        return list(dict.fromkeys(node for nodes in order for node in nodes))


def _shares(total: float, rarity: Sequence[float]) -> list[float]:
    """`total` divided: one part to all alike, the other by rarity."""
    whole = sum(rarity)
    return [total * (_ALIKE / len(rarity) + (1 - _ALIKE) * each / whole) for each in rarity]


def _rarity(operators: Sequence[str], counts: Mapping[str, int]) -> float:
    """How suspicious operators are, up to a factor: what a model has often is tested often, by everybody."""
    return float(np.prod([counts[name] ** -0.5 for name in operators]))


def _sampled(occurrences: Iterator[Occurrence], seed: int) -> list[Occurrence]:
    """All of them, or a sample that is the same every time."""
    found = [each for each in itertools.islice(occurrences, 8 * _MOST) if len(set(each)) == len(each)]
    return found if len(found) <= _MOST else sorted(random.Random(seed).sample(found, _MOST))
