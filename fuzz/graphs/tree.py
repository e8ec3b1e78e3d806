"""Monte Carlo tree search over blocks (section III-E).

A node of the tree is a block; a path from the root is what a model is made of. Selection follows the potentials of
UCT, expansion is the chooser's, rewards go back along the path. The tree is bounded by its depth (tc1) and by its size;
what has been explored as often as allowed (tc2) is left aside. A tree that is explored or full begins anew.

There are more blocks than a campaign could try below every node. So a node gets its children one by one, the more the
more often it was visited (progressive widening; Coulom, "Computing Elo ratings of move patterns in the game of Go",
2007), and promising ones are visited again instead of all being visited once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fuzz.graphs.kept import KeptNode, KeptTree


@dataclass(frozen=True)
class Search:
    """Parameters of the search.

    `depth` is tc1, the most levels of the tree; `explored` is tc2, how often a node of the last level is explored;
    `exploration` is e of UCT, all as in the paper's evaluation. A node of n visits has n to the power of `widening`
    children, rounded up; a tree has at most `nodes`.
    """

    depth: int = 10
    explored: int = 1
    exploration: float = 1 / math.sqrt(2)
    widening: float = 0.5
    nodes: int = 4096


@dataclass(eq=False, slots=True)
class Node:
    """One block on a path. `value` is the sum of the rewards v, `visits` is n; the root has no block.

    `full`: there is no other block for a further child. `done`: explored, with everything below it.
    """

    block: str
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    value: float = 0.0
    visits: int = 0
    depth: int = 0
    full: bool = False
    done: bool = False

    def potential(self, exploration: float) -> float:
        """UCT (formula 8); unbounded before the first visit."""
        if not self.visits or self.parent is None:
            return math.inf
        spread = math.sqrt(math.log(max(self.parent.visits, 1)) / self.visits)
        return self.value / self.visits + exploration * spread

    def path(self) -> list[str]:
        """The blocks from the root to here."""
        found: list[str] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            found.append(node.block)
            node = node.parent
        return found[::-1]


class Tree:
    """The tree of one search."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._rewards = _Spread()
        self._begin()

    def _begin(self) -> None:
        self.root, self.size = Node(""), 1

    def select(self) -> Node:
        """The node that is to be expanded, or explored again: one with room for children, or of the last level."""
        if self.root.done or self.size >= self._search.nodes:
            self._begin()
        # UCT is made for rewards that are spread over [0, 1]; where they lie closer, so must its bounds.
        exploration = self._search.exploration * self._rewards.deviation()
        node = self.root
        while not self.has_room(node) and (unexplored := [child for child in node.children if not child.done]):
            node = max(unexplored, key=lambda child: child.potential(exploration))
        return node

    def has_room(self, node: Node) -> bool:
        """Whether the node may have one more child: as its visits allow, or because all that it has are explored."""
        if node.full or node.depth >= self._search.depth:
            return False
        allowed = math.ceil(max(node.visits, 1) ** self._search.widening)
        return len(node.children) < allowed or all(child.done for child in node.children)

    def expand(self, node: Node, block: str) -> Node:
        """A new child of that block."""
        child = Node(block, node, depth=node.depth + 1)
        node.children.append(child)
        self.size += 1
        return child

    def visit(self, node: Node, reward: float) -> None:
        """Back-propagation of one model: one visit, and its reward."""
        self._rewards.add(reward)
        self._back(node, 1, reward)
        last = node.depth >= self._search.depth or (node.full and not node.children)
        if last and node.visits >= self._search.explored:
            self._close(node)

    def correct(self, node: Node, before: float, after: float) -> None:
        """The reward of one visit turns out to be another one: a compiler has shown what the model does."""
        self._rewards.replace(before, after)
        self._back(node, 0, after - before)

    def _back(self, node: Node | None, visits: int, reward: float) -> None:
        while node is not None:
            node.visits += visits
            node.value += reward
            node = node.parent

    def _close(self, node: Node) -> None:
        """The node is explored; so is every one above it that has all its children, all explored."""
        node.done = True
        above = node.parent
        while above is not None and above.full and all(child.done for child in above.children):
            above.done = True
            above = above.parent

    def state(self) -> dict[str, Any]:
        """What is known, as a JSON document."""
        return {"rewards": self._rewards.state(), "root": _stored(self.root)}

    def restore(self, state: KeptTree, known: Callable[[str], bool]) -> None:
        """Go on from a `state`, without blocks that are not `known` any more and without what is below them."""
        self._rewards.restore(state.rewards)
        self._begin()
        self.root, self.size = _restored(state.root, None, known)


def _stored(node: Node) -> list[Any]:
    return [node.block, node.value, node.visits, node.done, [_stored(child) for child in node.children]]


def _restored(stored: KeptNode, parent: Node | None, known: Callable[[str], bool]) -> tuple[Node, int]:
    """The node and how many there are from it on."""
    block, value, visits, done, children = stored
    node = Node(block, parent, value=value, visits=visits, depth=parent.depth + 1 if parent else 0)
    node.done = done
    kept = [_restored(child, node, known) for child in children if known(child[0])]
    node.children = [child for child, _ in kept]
    return node, 1 + sum(size for _, size in kept)


class _Spread:
    """How far rewards are spread: their standard deviation."""

    def __init__(self) -> None:
        self._count, self._sum, self._squares = 0, 0.0, 0.0

    def add(self, reward: float) -> None:
        self._count += 1
        self._sum += reward
        self._squares += reward**2

    def replace(self, before: float, after: float) -> None:
        self._sum += after - before
        self._squares += after**2 - before**2

    def deviation(self) -> float:
        """1 before there are two."""
        if self._count < 2:
            return 1.0
        mean = self._sum / self._count
        return math.sqrt(max(0.0, self._squares / self._count - mean**2))

    def state(self) -> list[float]:
        return [self._count, self._sum, self._squares]

    def restore(self, state: tuple[int, float, float]) -> None:
        self._count, self._sum, self._squares = state
