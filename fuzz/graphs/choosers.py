"""Block choosers (section III-E): at random, or by Monte Carlo tree search under the operator-level coverage.

A chooser decides which blocks a model must have (`begin`), which of those that fit a node of the graph it gets
(`pick`), and which results a block reads where there are more than it takes (`keep`).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fuzz.coverage.operator_level import OperatorLevel
from fuzz.graphs.blocks import Block, Corpus
from fuzz.graphs.tree import Node, Search, Tree


@dataclass(frozen=True)
class Site:
    """A node that is to get a block: the operators whose results may be read there, and how many nodes read it."""

    sources: tuple[str, ...]
    out_degree: int


class Lesson(StrEnum):
    """What a model showed."""

    NEW = "new"  # a failure that was not known
    SEEN = "seen"  # that it passes, or a failure that is known
    REFUSED = "refused"  # nothing: the compiler says honestly that it cannot


class Chooser(Protocol):
    """What all choosers can do. The last argument draws where they leave something to chance."""

    def begin(self, count: int, draw: random.Random) -> list[Block]:
        """Blocks that the next model of `count` blocks is to have, at most as many."""

    def pick(self, candidates: Sequence[Block], site: Site, draw: random.Random) -> Block:
        """One of the blocks that fit the site."""

    def keep(self, block: Block, sources: Sequence[str], count: int, draw: random.Random) -> list[int]:
        """Which `count` of the sources the block reads: their positions, in order."""

    def finish(self, operators: Sequence[str], gain: float) -> int:
        """The model of these operators is made, and the coverage grows by `gain` (0: it is discarded).

        The result is a number to `learn` by.
        """

    def learn(self, number: int, lesson: Lesson) -> None:
        """What the model of that number did on a compiler."""


class RandomChooser:
    """Blocks, places and edges with equal probabilities."""

    def begin(self, count: int, draw: random.Random) -> list[Block]:
        """No block is asked for."""
        return []

    def pick(self, candidates: Sequence[Block], site: Site, draw: random.Random) -> Block:
        """Any."""
        return draw.choice(candidates)

    def keep(self, block: Block, sources: Sequence[str], count: int, draw: random.Random) -> list[int]:
        """Any."""
        return sorted(draw.sample(range(len(sources)), count))

    def finish(self, operators: Sequence[str], gain: float) -> int:
        """Nothing is learnt."""
        return 0

    def learn(self, number: int, lesson: Lesson) -> None:
        """Nothing is learnt."""


#: Results may come long after their model. So many models are remembered.
_PENDING = 4096
#: Results that every operator is thought to have had before its first.
_DOUBT = 4
#: How fast the usual gain of a model follows the last ones.
_FOLLOWING = 0.1


class TreeChooser:
    """Monte Carlo tree search: the path of the tree first, then what lacks coverage most.

    The reward of a model is the share that its gain in coverage has of itself and the usual gain, between 0 and 1,
    and 1 more for failures that are new. Failures that are known are worth nothing. Operators
    whose models are refused promise less (their success ratio).
    """

    def __init__(self, corpus: Corpus, coverage: OperatorLevel, search: Search | None = None) -> None:
        self._blocks = {block.name: block for block in corpus.blocks}
        self._coverage = coverage
        self._tree = Tree(search or Search())
        self._node = self._tree.root
        self._pending: dict[int, tuple[Node, tuple[str, ...]]] = {}
        self._results: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._made, self._usual = 0, 0.0
        self._tried: Counter[tuple[str, str | int]] = Counter()
        self._wants: dict[str, float] = {}
        self._success: dict[str, float] = {}
        self._sizes = _sizes(corpus)

    def begin(self, count: int, draw: random.Random) -> list[Block]:
        """The blocks of a path: selection, then expansion by the block of lowest coverage that is not on it."""
        leaf = self._tree.select()
        if self._tree.has_room(leaf):
            taken = {*leaf.path(), *(child.block for child in leaf.children)}
            free = [block for name, block in self._blocks.items() if name not in taken]
            if free:
                lowest = min(free, key=lambda block: (self._covered(block) / self._succeeds(block), draw.random()))
                leaf = self._tree.expand(leaf, lowest.name)
        self._node = leaf
        self._wants = {name: self._want(block) for name, block in self._blocks.items()}
        self._success = {name: self._succeeds(block) for name, block in self._blocks.items()}
        return [self._blocks[name] for name in leaf.path()[:count]]

    def _covered(self, block: Block) -> float:
        """The coverage of its operator; of a subgraph, that of the operator in it that has the lowest."""
        return min(self._coverage.operator(name)["OLC"] for name in block.operators)

    def _want(self, block: Block) -> float:
        """What a node of the block may add to the coverage wherever it stands."""
        return sum(self._coverage.lacks_settings(name) for name in dict.fromkeys(block.operators))

    def _succeeds(self, block: Block) -> float:
        """The least share of results of an operator's models that were no refusals."""
        ratios = (1 - self._refused[name] / (self._results[name] + _DOUBT) for name in block.operators)
        return min(ratios)

    def pick(self, candidates: Sequence[Block], site: Site, draw: random.Random) -> Block:
        """The one that may add most to the coverage there, by degrees and edges that it lacks."""
        best = max(candidates, key=lambda block: (self._promise(block, site), draw.random()))
        self._note(best, site)
        return best

    def _promise(self, block: Block, site: Site) -> float:
        first, last = block.operators[0], block.operators[-1]
        promise = self._wants[block.name]
        reads = min(len(site.sources), max(block.degrees.ins, default=0))
        if self._coverage.lacks_in(first, reads):
            promise += self._sizes[first][0] / (1 + self._tried[first, -1 - reads])
        if self._coverage.lacks_out(last, site.out_degree):
            promise += self._sizes[last][1] / (1 + self._tried[last, site.out_degree])
        new = sorted((self._edge(source, first) for source in set(site.sources)), reverse=True)
        return (promise + sum(new[:reads])) * self._success[block.name]

    def _edge(self, source: str, target: str) -> float:
        """What an edge promises: less the more often it was tried and did not come about."""
        if not self._coverage.lacks_edge(source, target):
            return 0.0
        return self._sizes[source][2] / (1 + self._tried[source, target])

    def _note(self, block: Block, site: Site) -> None:
        reads = min(len(site.sources), max(block.degrees.ins, default=0))
        self._tried[block.operators[0], -1 - reads] += 1
        self._tried[block.operators[-1], site.out_degree] += 1

    def keep(self, block: Block, sources: Sequence[str], count: int, draw: random.Random) -> list[int]:
        """Those from which an edge is new first."""
        first = block.operators[0]
        order = sorted(range(len(sources)), key=lambda at: (-self._edge(sources[at], first), draw.random()))
        for at in order[:count]:
            self._tried[sources[at], first] += 1
        return sorted(order[:count])

    def finish(self, operators: Sequence[str], gain: float) -> int:
        """Back-propagation of the gain in coverage."""
        self._usual += _FOLLOWING * (gain - self._usual) if self._made else gain
        self._tree.visit(self._node, gain / (gain + self._usual) if gain else 0.0)
        self._made += 1
        self._pending[self._made] = self._node, tuple(dict.fromkeys(operators))
        if len(self._pending) > _PENDING:
            del self._pending[next(iter(self._pending))]
        return self._made

    def learn(self, number: int, lesson: Lesson) -> None:
        """Back-propagation of a new failure, and the success ratios of the model's operators."""
        if number not in self._pending:
            return
        node, operators = self._pending[number]
        self._results.update(operators)
        if lesson is Lesson.NEW:
            self._tree.reward(node, 1.0)
        elif lesson is Lesson.REFUSED:
            self._refused.update(operators)


def _sizes(corpus: Corpus) -> dict[str, tuple[float, float, float]]:
    """What one new in-degree, out-degree and edge adds to the coverage of every operator, settings being one each."""
    sizes: defaultdict[str, tuple[float, float, float]] = defaultdict(lambda: (0.0, 0.0, 0.0))
    for name, degrees in corpus.degrees.items():
        sizes[name] = (1 / (len(degrees.ins) or 1), 1 / (len(degrees.outs) or 1), 1 / len(corpus.degrees))
    return sizes
