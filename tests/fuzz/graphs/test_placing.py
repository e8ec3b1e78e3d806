"""From graphs to operators: in-degrees, subgraphs, and what the chooser asks for."""

import random

import pytest

from fuzz.coverage.operator_level import Degrees
from fuzz.graphs import blocks, digraphs, placing
from fuzz.graphs.blocks import Block
from fuzz.graphs.choosers import RandomChooser
from fuzz.graphs.mutations import NONE, Mutations, Part

CORPUS = blocks.load(blocks.PAPER)


class Wanting(RandomChooser):
    """Asks for some blocks."""

    def __init__(self, *names):
        self.names = names

    def begin(self, count, draw):
        return [block for block in CORPUS.blocks if block.name in self.names]


def placed(graph, chooser=None, mutations=NONE, corpus=CORPUS, seed=0):
    return placing.place(graph, corpus, chooser or RandomChooser(), mutations, random.Random(seed))


@pytest.mark.parametrize("seed", range(30))
def test_operators_read_earlier_ones_and_keep_to_their_in_degrees(seed):
    graph = digraphs.residual(12, 6, 0.9, random.Random(seed))
    units = placed(graph, mutations=Mutations(bna=0.5, bnr=0.5), seed=seed)
    for at, unit in enumerate(units):
        assert all(wire < at for wire in unit.wires)
        assert unit.flows in CORPUS.degrees[unit.op_type].ins and len(unit.wires) <= unit.flows


def test_what_the_chooser_asks_for_is_in_the_model():
    names = {"Conv", "Concat", "Gather", "Relu"}
    for seed in range(20):
        graph = digraphs.watts_strogatz(5, 2, 0.5, random.Random(seed))
        assert names <= {unit.op_type for unit in placed(graph, Wanting(*names), seed=seed)}


def test_a_subgraph_is_spelled_out_with_its_inner_edges():
    [block] = [block for block in CORPUS.blocks if block.name == "Conv+Add+BatchNormalization+Relu"]
    corpus = blocks.Corpus((block,), CORPUS.degrees, CORPUS.shapes)
    units = placed(digraphs.Digraph(2, ((0, 1),)), corpus=corpus)
    assert [unit.op_type for unit in units] == list(block.operators) * 2
    first, second = units[:4], units[4:]
    assert [unit.wires for unit in first] == [(), (0,), (1,), (2,)]
    assert second[0].wires == (3,) and second[1].wires == (4,)  # the first block's last operator feeds the second


def test_two_inputs_of_a_subgraph_go_to_the_operators_that_lack_one():
    edges = ((0, 1), (1, 3), (2, 3))
    block = Block("Conv+Relu+Exp+Add", ("Conv", "Relu", "Exp", "Add"), edges, Degrees.of([2], [0, 1]))
    relu = next(block for block in CORPUS.blocks if block.name == "Relu")
    corpus = blocks.Corpus((block, relu), CORPUS.degrees, CORPUS.shapes)

    class InTurns(RandomChooser):
        def pick(self, candidates, site, draw):
            return block if len(site.sources) == 2 else relu

    units = placed(digraphs.Digraph(3, ((0, 2), (1, 2))), InTurns(), corpus=corpus)
    assert [unit.wires for unit in units[2:]] == [(0,), (2,), (1,), (3, 4)]


def test_mutated_subgraphs_have_one_operator_more_or_less():
    part = Part(("Conv", "Relu", "Add"), ((0, 1), (1, 2)))
    more = placing.mutated(part, CORPUS, Mutations(bna=1.0), random.Random(0))
    less = placing.mutated(part, CORPUS, Mutations(bnr=1.0), random.Random(0))
    assert (len(more.operators), len(less.operators)) == (4, 2)
    assert placing.mutated(part, CORPUS, NONE, random.Random(0)) == part


def test_a_node_gets_a_block_of_its_in_degree_where_there_is_one():
    found = [
        placing.fitting(CORPUS.blocks, degree, 1, random.Random(seed)) for degree in (1, 2, 5) for seed in range(20)
    ]
    assert all(found)
    exact = placing.fitting(CORPUS.blocks, 5, 1, random.Random(1))
    assert {block.name for block in exact} in ({"Concat", "Max", "Min"}, {b.name for b in CORPUS.blocks})
    assert placing.reads(Degrees.of([1, 3], [0]), 2, random.Random(0)) == 1
    assert placing.reads(Degrees.of([2], [0]), 1, random.Random(0)) == 2
    assert placing.reads(Degrees.of([2], [0]), 0, random.Random(0)) == 2


def test_what_nobody_can_read_stands_where_nobody_reads():
    corpus = blocks.load()
    dead_ends = {name for name, degrees in corpus.degrees.items() if max(degrees.outs) == 0}
    assert {"NonZero", "Unique"} <= dead_ends
    for out_degree in (1, 2):
        for degree in (0, 1, 2):
            found = placing.fitting(corpus.blocks, degree, out_degree, random.Random(0))
            assert not dead_ends & {block.name for block in found}
