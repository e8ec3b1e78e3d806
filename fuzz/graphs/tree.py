"""Monte Carlo tree search over blocks (section III-E).

A node of the tree is a block; a path from the root is what a model is made of. Selection follows the potentials of
UCT, expansion is the chooser's, rewards go back along the path. The tree is bounded by its depth (tc1) and by the
number of children; what has been explored as often as allowed (tc2) is left aside, and when that is everything, the
tree begins anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Search:
    """Parameters of the search, as in the paper's evaluation.

    `depth` is tc1, the most levels of the tree; `explored` is tc2, how often a node of the last level is explored;
    `exploration` is e of UCT; `children` how many a node is expanded by.
    """

    depth: int = 10
    explored: int = 1
    exploration: float = 1 / math.sqrt(2)
    children: int = 3


@dataclass(eq=False, slots=True)
class Node:
    """One block on a path. `value` is the sum of the rewards v, `visits` is n; the root has no block."""

    block: str
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    value: float = 0.0
    visits: int = 0
    depth: int = 0
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
    """The tree of one campaign."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.root = Node("")

    def select(self) -> Node:
        """The node that is to be expanded, or explored again: one with room for children, or of the last level."""
        if self.root.done:
            self.root = Node("")
        node = self.root
        while node.depth < self._search.depth and not self.has_room(node):
            unexplored = [child for child in node.children if not child.done]
            node = max(unexplored, key=lambda child: child.potential(self._search.exploration))
        return node

    def has_room(self, node: Node) -> bool:
        """Whether the node may have one more child."""
        return node.depth < self._search.depth and len(node.children) < self._search.children

    def expand(self, node: Node, block: str) -> Node:
        """A new child of that block."""
        child = Node(block, node, depth=node.depth + 1)
        node.children.append(child)
        return child

    def visit(self, node: Node, reward: float) -> None:
        """Back-propagation of one model: one visit, and its reward."""
        self._back(node, 1, reward)
        if node.depth >= self._search.depth and node.visits >= self._search.explored:
            self._close(node)

    def reward(self, node: Node, reward: float) -> None:
        """A reward that comes later than its visit: what a compiler did with the model."""
        self._back(node, 0, reward)

    def _back(self, node: Node | None, visits: int, reward: float) -> None:
        while node is not None:
            node.visits += visits
            node.value += reward
            node = node.parent

    def _close(self, node: Node) -> None:
        """The node is explored; so is every one above it that has all its children, all explored."""
        node.done = True
        above = node.parent
        while above is not None and len(above.children) >= self._search.children:
            if not all(child.done for child in above.children):
                return
            above.done = True
            above = above.parent
