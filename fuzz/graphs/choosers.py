"""Block choosers (section III-E): at random, or by Monte Carlo tree search under the operator-level coverage.

A chooser decides which blocks a model must have (`begin`), which of those that fit a node of the graph it gets
(`pick`), which results a block reads where there are more than it takes (`keep`), and which draft of a node stays
(`worth`).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from fuzz.coverage.operator_level import OperatorLevel
from fuzz.graphs import kept
from fuzz.graphs.blocks import Block, Corpus
from fuzz.graphs.experience import Experience
from fuzz.graphs.pairwise import Pairwise
from fuzz.graphs.tree import Node, Search, Tree


@dataclass(frozen=True)
class Site:
    """A node that is to get a block: the operators whose results may be read there, and how many nodes read it."""

    sources: tuple[str, ...]
    out_degree: int


class Ended(StrEnum):
    """What a compiler did with a model."""

    PASSED = "passed"
    NEW = "new"  # a failure that was not known
    KNOWN = "known"  # a failure that was
    REFUSED = "refused"  # nothing: the compiler says honestly that it cannot


@dataclass(frozen=True)
class Lesson:
    """What a model showed; of a failure its kind, and the operators that it may be due to (none: any)."""

    ended: Ended
    kind: str = ""
    suspects: frozenset[str] = frozenset()


class Chooser(Protocol):
    """What all choosers can do. `draw` draws where they leave something to chance.

    `drafts`: so many drafts of a node are made at most, from which one is chosen.
    """

    drafts: int

    def begin(self, count: int, draw: random.Random) -> list[Block]:
        """Blocks that the next model of `count` blocks is to have, at most as many."""

    def pick(self, candidates: Sequence[Block], site: Site, draw: random.Random) -> Block:
        """One of the blocks that fit the site."""

    def keep(self, block: Block, sources: Sequence[str], count: int, draw: random.Random) -> list[int]:
        """Which `count` of the sources the block reads: their positions, in order."""

    def worth(self, operator: str, values: tuple[int, ...]) -> float:
        """What a draft of a node is worth whose operator has these values (`fuzz.graphs.pairwise`)."""

    def enough(self, operator: str, worth: float) -> bool:
        """Whether no further draft is needed."""

    def settle(self, operator: str, values: tuple[int, ...]) -> None:
        """The draft with these values was chosen."""

    def finish(self, operators: Sequence[str], gain: float) -> int:
        """The model of these operators is made, and the coverage grows by `gain` (0: it is discarded).

        The result is a number to `learn` by.
        """

    def learn(self, number: int, lesson: Lesson) -> None:
        """What the model of that number did on a compiler."""

    def state(self) -> dict[str, Any]:
        """What was learnt, as a JSON document."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`, perhaps of another corpus."""


class RandomChooser:
    """Blocks, places and edges with equal probabilities, and the first draft."""

    drafts = 1

    def begin(self, count: int, draw: random.Random) -> list[Block]:
        """No block is asked for."""
        return []

    def pick(self, candidates: Sequence[Block], site: Site, draw: random.Random) -> Block:
        """Any."""
        return draw.choice(candidates)

    def keep(self, block: Block, sources: Sequence[str], count: int, draw: random.Random) -> list[int]:
        """Any."""
        return sorted(draw.sample(range(len(sources)), count))

    def worth(self, operator: str, values: tuple[int, ...]) -> float:
        """All the same."""
        return 0.0

    def enough(self, operator: str, worth: float) -> bool:
        """Always."""
        return True

    def settle(self, operator: str, values: tuple[int, ...]) -> None:
        """Nothing is learnt."""

    def finish(self, operators: Sequence[str], gain: float) -> int:
        """Nothing is learnt."""
        return 0

    def learn(self, number: int, lesson: Lesson) -> None:
        """Nothing is learnt."""

    def state(self) -> dict[str, Any]:
        """Nothing was learnt."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing was learnt."""


#: Results may come long after their model. So many models are remembered.
_PENDING = 4096
#: How fast the usual gain of a model follows the last ones.
_FOLLOWING = 0.1
#: How many blocks of the simulation look for failures; the others look for coverage.
_FOR_FAILURES = 0.5
#: What an operator may still show counts so much at least: other things than its values may be new.
_LEAST = 0.05
#: Drafts of a node. More find more that is new, and take more time.
_DRAFTS = 3


@dataclass(frozen=True)
class _Pending:
    """A model whose results are still to come: its node of the tree, its operators, the settings of its blocks, its
    reward so far, and the kinds of failures that it has shown."""

    node: Node
    operators: tuple[str, ...]
    settled: tuple[tuple[str, tuple[int, ...]], ...]
    reward: float
    kinds: frozenset[str] = frozenset()


class TreeChooser:
    """Monte Carlo tree search: the path of the tree first, then the simulation.

    The reward of a model is the share that its gain in coverage has of itself and the usual gain, between 0 and 1,
    and 1 more for failures that are new. Failures that are known are worth nothing. A block of the simulation is the
    one that may add most to the coverage, or the one whose operators are the likeliest to fail in a new way, with equal
    chances. Operators whose models are refused promise less. Of the drafts of a node, the one with the most values and
    pairs of values that its operator has not shown is taken, and none with one that no compiler takes.
    """

    drafts = _DRAFTS

    def __init__(self, corpus: Corpus, coverage: OperatorLevel, search: Search | None = None) -> None:
        self._blocks = {block.name: block for block in corpus.blocks}
        self._coverage, self._experience = coverage, Experience()
        self._tree = Tree(search or Search())
        self._node = self._tree.root
        self._pending: dict[int, _Pending] = {}
        self._made, self._usual = 0, 0.0
        self._tried: Counter[tuple[str, str | int]] = Counter()
        self._wants: dict[str, float] = {}
        self._success: dict[str, float] = {}
        self._prior = self._experience.prior()
        self._sizes = _sizes(corpus)
        self.pairwise = Pairwise()
        self._settled: list[tuple[str, tuple[int, ...]]] = []

    def begin(self, count: int, draw: random.Random) -> list[Block]:
        """The blocks of a path: selection, then expansion by the block of lowest coverage that is not on it."""
        self._success = {name: self._succeeds(block) for name, block in self._blocks.items()}
        self._settled = []
        leaf = self._tree.select()
        if self._tree.has_room(leaf):
            taken = {*leaf.path(), *(child.block for child in leaf.children)}
            free = [block for name, block in self._blocks.items() if name not in taken]
            leaf.full = len(free) <= 1
            if free:
                lowest = min(free, key=lambda block: (self._covered(block) / self._success[block.name], draw.random()))
                leaf = self._tree.expand(leaf, lowest.name)
        self._node = leaf
        self._wants = {name: self._want(block) for name, block in self._blocks.items()}
        self._prior = self._experience.prior()
        return [self._blocks[name] for name in leaf.path()[:count]]

    def _covered(self, block: Block) -> float:
        """The coverage of its operator; of a subgraph, that of the operator in it that has the lowest."""
        return min(self._coverage.operator(name)["OLC"] for name in block.operators)

    def _want(self, block: Block) -> float:
        """What the neediest operator of the block may add to the coverage wherever it stands."""
        return max(map(self._coverage.lacks_settings, block.operators))

    def _succeeds(self, block: Block) -> float:
        """The least share of results of an operator's models that were no refusals."""
        return min(map(self._experience.success, block.operators))

    def pick(self, candidates: Sequence[Block], site: Site, draw: random.Random) -> Block:
        """One that promises a new failure, or the one that may add most to the coverage there."""
        if draw.random() < _FOR_FAILURES:
            best = max(candidates, key=lambda block: self._risk(block, draw))
        else:
            best = max(candidates, key=lambda block: (self._promise(block, site), draw.random()))
        self._note(best, site)
        return best

    def _risk(self, block: Block, draw: random.Random) -> float:
        """A rate of new failures, drawn, times what the operator may still show; of a subgraph the highest.

        It is nothing as often as models of the block are refused.
        """
        if draw.random() >= self._success[block.name]:
            return 0.0
        return max(
            self._experience.rate(name, self._prior, draw) * max(_LEAST, self.pairwise.lacking(name))
            for name in dict.fromkeys(block.operators)
        )

    def _promise(self, block: Block, site: Site) -> float:
        """What the block may add to the coverage there, by degrees and edges that it lacks."""
        first, last = block.operators[0], block.operators[-1]
        promise = self._wants[block.name]
        reads = min(len(site.sources), block.most_ins)
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
        reads = min(len(site.sources), block.most_ins)
        self._tried[block.operators[0], -1 - reads] += 1
        self._tried[block.operators[-1], site.out_degree] += 1

    def keep(self, block: Block, sources: Sequence[str], count: int, draw: random.Random) -> list[int]:
        """Those from which an edge is new first."""
        first = block.operators[0]
        order = sorted(range(len(sources)), key=lambda at: (-self._edge(sources[at], first), draw.random()))
        for at in order[:count]:
            self._tried[sources[at], first] += 1
        return sorted(order[:count])

    def worth(self, operator: str, values: tuple[int, ...]) -> float:
        """How much of it is new."""
        return self.pairwise.worth(operator, values)

    def enough(self, operator: str, worth: float) -> bool:
        """As much as the operator's last nodes."""
        return self.pairwise.enough(operator, worth)

    def settle(self, operator: str, values: tuple[int, ...]) -> None:
        """What it shows is new no more."""
        self.pairwise.show(operator, values)
        self._settled.append((operator, values))

    def finish(self, operators: Sequence[str], gain: float) -> int:
        """Back-propagation of the gain in coverage."""
        self._usual += _FOLLOWING * (gain - self._usual) if self._made else gain
        reward = gain / (gain + self._usual) if gain else 0.0
        self._tree.visit(self._node, reward)
        self._made += 1
        settled, self._settled = tuple(self._settled), []
        self._pending[self._made] = _Pending(self._node, tuple(dict.fromkeys(operators)), settled, reward)
        if len(self._pending) > _PENDING:
            del self._pending[next(iter(self._pending))]
        return self._made

    def learn(self, number: int, lesson: Lesson) -> None:
        """Back-propagation of a new failure, and what the model's operators did."""
        found = self._pending.get(number)
        if found is None:
            return
        passed = lesson.ended is Ended.PASSED
        for operator, values in found.settled:
            if passed or not lesson.suspects or operator in lesson.suspects:
                self.pairwise.ended(operator, values, taken=passed)
        if lesson.ended is Ended.REFUSED:
            self._experience.refused(found.operators)
            return
        self._experience.ran(found.operators)
        if lesson.kind and lesson.kind not in found.kinds:  # one failure may show on several targets
            self._pending[number] = self._shown(found, lesson)

    def _shown(self, found: _Pending, lesson: Lesson) -> _Pending:
        """A failure and its reward."""
        reward = 0.0
        if lesson.ended is Ended.NEW:
            suspects = [name for name in found.operators if name in lesson.suspects] or found.operators
            self._experience.failed(lesson.kind, suspects)
            self._tree.correct(found.node, found.reward, found.reward + 1)
            reward = 1.0
        else:
            self._experience.failed_again(lesson.kind)
        return replace(found, reward=found.reward + reward, kinds=found.kinds | {lesson.kind})

    def state(self) -> dict[str, Any]:
        """The tree, the experience, what was tried in vain, and the values that were shown."""
        return {
            "tree": self._tree.state(),
            "experience": self._experience.state(),
            "tried": [[*key, count] for key, count in self._tried.items()],
            "made": self._made,
            "usual": self._usual,
            "pairwise": self.pairwise.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`. What the corpus does not have any more is left out; pending models are forgotten.

        Raises ValueError for anything that is no state.
        """
        found = kept.chooser(state)
        self._tree.restore(found.tree, self._blocks.__contains__)
        self._node = self._tree.root
        self._experience.restore(found.experience)
        known = ((name, other, count) for name, other, count in found.tried if name in self._sizes)
        self._tried = Counter(
            {(name, other): count for name, other, count in known if isinstance(other, int) or other in self._sizes}
        )
        self.pairwise.restore({name: each for name, each in found.pairwise.items() if name in self._sizes})
        self._made, self._usual = found.made, found.usual
        self._pending.clear()


def _sizes(corpus: Corpus) -> dict[str, tuple[float, float, float]]:
    """What one new in-degree, out-degree and edge adds to the coverage of every operator, settings being one each."""
    sizes: defaultdict[str, tuple[float, float, float]] = defaultdict(lambda: (0.0, 0.0, 0.0))
    for name, degrees in corpus.degrees.items():
        sizes[name] = (1 / (len(degrees.ins) or 1), 1 / (len(degrees.outs) or 1), 1 / len(corpus.degrees))
    return sizes
