"""Random graphs: Watts-Strogatz, and the paper's Residual Network (section III-G). Pure.

Nodes are numbers, edges go from smaller to larger ones, so that there is no cycle.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import networkx

Edge = tuple[int, int]


@dataclass(frozen=True)
class Digraph:
    """An acyclic digraph: `count` nodes and sorted edges (source, target), source < target."""

    count: int
    edges: tuple[Edge, ...]

    def before(self, node: int) -> list[int]:
        """The sources of the edges that end in the node."""
        return [source for source, target in self.edges if target == node]

    def out_degree(self, node: int) -> int:
        """The number of edges that begin in the node."""
        return sum(1 for source, _ in self.edges if source == node)


def watts_strogatz(count: int, neighbours: int, rewiring: float, draw: random.Random) -> Digraph:
    """WS(k, p, n): a ring of `count` nodes with `neighbours` each, every edge moved with probability `rewiring`."""
    found = networkx.watts_strogatz_graph(count, min(neighbours, count), rewiring, seed=draw)
    return _directed(count, list(found.edges))


def residual(count: int, neighbours: int, chance: float, draw: random.Random) -> Digraph:
    """RN(k, p, n): a line of `count` nodes with shortcuts, as long as both ends have less than `neighbours`.

    A node with c neighbours gets k - c times the chance of one more.
    """
    edges = [(node, node + 1) for node in range(count - 1)]
    known = set(edges)
    degree = [sum(node in edge for edge in edges) for node in range(count)]
    for node in range(count):
        for _ in range(neighbours - degree[node]):
            others = [at for at in range(node + 1, count) if degree[at] < neighbours and (node, at) not in known]
            if not others or degree[node] >= neighbours or draw.random() >= chance:
                continue
            other = draw.choice(others)
            known.add((node, other))
            degree[node] += 1
            degree[other] += 1
    return _directed(count, list(known))


def _directed(count: int, pairs: Sequence[Edge]) -> Digraph:
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    return Digraph(count, tuple(sorted(edges)))
