"""From a random graph to operators: every node gets a block with its in-degree, and subgraphs are spelled out.

A block has the node's in-degree (section III-G). In half of the nodes, and where no block has it, a block may read
fewer of the results that lead there; what it lacks are graph inputs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuzz.coverage.operator_level import Degrees
from fuzz.graphs.blocks import Block, Corpus
from fuzz.graphs.choosers import Chooser, Site
from fuzz.graphs.digraphs import Digraph
from fuzz.graphs.mutations import Mutations, Part, duplicate_node, remove_node

#: How often a node gets a block of exactly its in-degree, if there is one.
_EXACTLY = 0.5


@dataclass(frozen=True)
class Unit:
    """One operator of the model: the units that it reads, as indices, and how many of its inputs are data."""

    op_type: str
    wires: tuple[int, ...]
    flows: int


@dataclass
class _Placed:
    units: list[Unit] = field(default_factory=list)
    #: For every node of the graph the units that its successors may read.
    ends: list[list[int]] = field(default_factory=list)


def place(graph: Digraph, corpus: Corpus, chooser: Chooser, mutations: Mutations, draw: random.Random) -> list[Unit]:
    """The operators of a model, each behind those that it reads. The blocks that the chooser asks for come first."""
    required = chooser.begin(graph.count, draw)
    placed = _Placed()
    for node in range(graph.count):
        sources = [draw.choice(placed.ends[at]) for at in graph.before(node) if placed.ends[at]]
        names = tuple(placed.units[at].op_type for at in sources)
        site = Site(names, graph.out_degree(node))
        wanted = required if required and draw.random() < len(required) / (graph.count - node) else corpus.blocks
        block = chooser.pick(fitting(wanted, len(sources), site.out_degree, draw), site, draw)
        if block in required:
            required.remove(block)
        count = reads(block.degrees, len(sources), draw)
        read = sources if count >= len(sources) else [sources[at] for at in chooser.keep(block, names, count, draw)]
        _spell(placed, block, read, count, corpus, mutations, draw)
    return placed.units


def fitting(blocks: Sequence[Block], in_degree: int, out_degree: int, draw: random.Random) -> Sequence[Block]:
    """The blocks that fit a node, as closely as there are any."""
    leading = [block for block in blocks if not (out_degree and block.is_end)] or blocks
    if not in_degree:
        return leading
    exact = [block for block in leading if in_degree in block.degrees.ins]
    if exact and draw.random() < _EXACTLY:
        return exact
    return [block for block in leading if 0 < block.fewest_ins <= in_degree] or leading


def reads(degrees: Degrees, sources: int, draw: random.Random) -> int:
    """The in-degree of a block where so many results lead: what is allowed and next to that, any without a result."""
    if not sources:
        return draw.choice(sorted(degrees.ins))
    below = [each for each in degrees.ins if each <= sources]
    return max(below) if below else min(degrees.ins)


def _spell(
    placed: _Placed,
    block: Block,
    sources: Sequence[int],
    flows: int,
    corpus: Corpus,
    mutations: Mutations,
    draw: random.Random,
) -> None:
    """Add the operators of a block, a subgraph's perhaps mutated."""
    if not block.is_subgraph:
        placed.ends.append([] if block.is_end else [len(placed.units)])
        placed.units.append(Unit(block.name, tuple(sources), flows))
        return
    part = mutated(Part(block.operators, block.edges), corpus, mutations, draw)
    first = len(placed.units)
    units = [
        Unit(name, tuple(first + source for source, target in part.edges if target == at), 0)
        for at, name in enumerate(part.operators)
    ]
    _connect(units, list(sources), flows, corpus)
    placed.units += units
    inner = {source for source, _ in part.edges}
    placed.ends.append([first + at for at in range(len(units)) if at not in inner])


def mutated(part: Part, corpus: Corpus, mutations: Mutations, draw: random.Random) -> Part:
    """BNA and BNR, each with its probability."""
    if draw.random() < mutations.bna:
        at = draw.randrange(len(part.operators))
        part = duplicate_node(part, min(corpus.degrees[part.operators[at]].ins), at)
    if draw.random() < mutations.bnr:
        part = remove_node(part, draw.randrange(len(part.operators)))
    return part


def _connect(units: list[Unit], sources: list[int], flows: int, corpus: Corpus) -> None:
    """Give the block's inputs to its operators: first to those that lack one, then to those that may have more."""
    spare = flows
    for room in (min, max):
        for at, unit in enumerate(units):
            allowed = corpus.degrees[unit.op_type].ins
            while spare and len(unit.wires) + unit.flows < room(allowed):
                spare -= 1
                if sources:
                    unit = replace(unit, wires=(*unit.wires, sources.pop(0)))
                else:
                    unit = replace(unit, flows=unit.flows + 1)
            units[at] = unit
    for at, unit in enumerate(units):
        allowed = corpus.degrees[unit.op_type].ins
        had = len(unit.wires) + unit.flows
        enough = [each for each in allowed if each >= had]
        units[at] = replace(unit, flows=min(enough) if enough else max(allowed))
