"""The four mutations of graphs and subgraphs, and their selection."""

import random

from fuzz.graphs import mutations
from fuzz.graphs.digraphs import Digraph
from fuzz.graphs.mutations import Part

LINE = Digraph(10, tuple((node, node + 1) for node in range(9)))


def test_gea_adds_edges_rounded_up_and_never_one_twice():
    found = mutations.add_edges(LINE, 0.15, random.Random(0))
    assert len(found.edges) == 9 + 2
    assert set(LINE.edges) < set(found.edges) and list(found.edges) == sorted(set(found.edges))
    assert all(source < target for source, target in found.edges)


def test_gea_stops_where_the_graph_is_full():
    pair = Digraph(2, ((0, 1),))
    assert mutations.add_edges(pair, 0.9, random.Random(0)) == pair


def test_ger_removes_edges_rounded_down():
    found = mutations.remove_edges(LINE, 0.19, random.Random(0))
    assert len(found.edges) == 9 - 1 and set(found.edges) < set(LINE.edges)
    assert mutations.remove_edges(Digraph(3, ()), 0.9, random.Random(0)).edges == ()


def test_a_rate_of_zero_changes_nothing():
    assert mutations.add_edges(LINE, 0, random.Random(0)) == mutations.remove_edges(LINE, 0, random.Random(0)) == LINE


def test_bna_puts_a_copy_behind_the_operator_which_takes_its_edges():
    part = Part(("Conv", "Relu", "Pow", "Concat"), ((0, 1), (1, 3), (2, 3)))
    found = mutations.duplicate_node(part, 1, 1)
    assert found == Part(("Conv", "Relu", "Relu", "Pow", "Concat"), ((0, 1), (1, 2), (2, 4), (3, 4)))


def test_bna_of_an_operator_with_two_inputs_reads_it_twice():
    part = Part(("Conv", "Conv", "Add"), ((0, 2), (1, 2)))
    assert mutations.duplicate_node(part, 2, 2).edges == ((0, 2), (1, 2), (2, 3), (2, 3))


def test_bnr_removes_an_operator_and_its_edges():
    part = Part(("Conv", "Relu", "Pow", "Concat"), ((0, 1), (1, 3), (2, 3)))
    assert mutations.remove_node(part, 1) == Part(("Conv", "Pow", "Concat"), ((1, 2),))


def test_the_last_operator_of_a_block_stays():
    assert mutations.remove_node(Part(("Relu",), ()), 0) == Part(("Relu",), ())


def test_every_mutation_is_selected_and_left_out_now_and_then():
    found = [mutations.select(random.Random(seed)) for seed in range(200)]
    for name in ("gea", "ger", "bna", "bnr"):
        assert {getattr(each, name) for each in found} == set(mutations.RATES)
    assert {(each.tsm, each.pm) for each in found} == {(a, b) for a in (False, True) for b in (False, True)}
