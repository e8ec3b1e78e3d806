"""The six mutations of graph-based fuzzing (section III-F). Pure.

Four change graphs and blocks before models are made: GEA and GER the edges of the graph, BNA and BNR the operators of
its subgraphs. TSM draws new shapes for inputs, PM lets every parameter vary; the calculator applies these two.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from fuzz.graphs.digraphs import Digraph, Edge

#: The probabilities from which each of the four is drawn (section IV-B).
RATES = (0.0, 0.1, 0.2)


@dataclass(frozen=True)
class Mutations:
    """What is mutated in one model: by which probabilities on the model level, and whether on the source level."""

    gea: float = 0.0
    ger: float = 0.0
    bna: float = 0.0
    bnr: float = 0.0
    tsm: bool = False
    pm: bool = False


#: No mutation at all.
NONE = Mutations()


def select(draw: random.Random) -> Mutations:
    """The mutation selector: every mutation on its own."""
    gea, ger, bna, bnr = (draw.choice(RATES) for _ in range(4))
    return Mutations(gea, ger, bna, bnr, tsm=draw.random() < 0.5, pm=draw.random() < 0.5)


def add_edges(graph: Digraph, rate: float, draw: random.Random) -> Digraph:
    """GEA: so many new edges for each node, rounded up; fewer where the graph has no room."""
    known = set(graph.edges)
    free = [
        (source, target)
        for source in range(graph.count)
        for target in range(source + 1, graph.count)
        if (source, target) not in known
    ]
    added = draw.sample(free, min(len(free), math.ceil(graph.count * rate)))
    return Digraph(graph.count, tuple(sorted((*graph.edges, *added))))


def remove_edges(graph: Digraph, rate: float, draw: random.Random) -> Digraph:
    """GER: so many edges less for each node, rounded down."""
    gone = draw.sample(graph.edges, min(len(graph.edges), math.floor(graph.count * rate)))
    return Digraph(graph.count, tuple(edge for edge in graph.edges if edge not in gone))


@dataclass(frozen=True)
class Part:
    """The operators of one block in a graph and the edges between their positions, perhaps several times the same."""

    operators: tuple[str, ...]
    edges: tuple[Edge, ...]


def duplicate_node(part: Part, reads: int, at: int) -> Part:
    """BNA: the operator at that position once more, behind itself. The copy reads it `reads` times, others the copy."""

    def moved(position: int) -> int:
        return position + 1 if position > at else position

    kept = [(at + 1 if source == at else moved(source), moved(target)) for source, target in part.edges]
    edges = sorted([*kept, *[(at, at + 1)] * reads])
    return Part((*part.operators[: at + 1], part.operators[at], *part.operators[at + 1 :]), tuple(edges))


def remove_node(part: Part, at: int) -> Part:
    """BNR: without the operator at that position and its edges; a block keeps its last operator."""
    if len(part.operators) == 1:
        return part

    def moved(position: int) -> int:
        return position - 1 if position > at else position

    edges = [(moved(source), moved(target)) for source, target in part.edges if at not in (source, target)]
    return Part((*part.operators[:at], *part.operators[at + 1 :]), tuple(edges))
