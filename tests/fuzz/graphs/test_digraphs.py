"""Random graphs: Watts-Strogatz and Residual Network."""

import random
from collections import Counter

import pytest

from fuzz.graphs import digraphs


def degrees(graph):
    return Counter(node for edge in graph.edges for node in edge)


@pytest.mark.parametrize("make", [digraphs.watts_strogatz, digraphs.residual])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 15, 30])
@pytest.mark.parametrize("neighbours", [2, 4, 6])
def test_graphs_are_acyclic_and_depend_on_the_draw_alone(make, count, neighbours):
    first, again = (make(count, neighbours, 0.5, random.Random(count)) for _ in range(2))
    assert first == again
    assert first.count == count
    assert all(0 <= source < target < count for source, target in first.edges)
    assert len(set(first.edges)) == len(first.edges)


def test_watts_strogatz_keeps_the_number_of_edges_whatever_is_rewired():
    for rewiring in (0.0, 0.5, 1.0):
        graph = digraphs.watts_strogatz(20, 4, rewiring, random.Random(1))
        assert len(graph.edges) == 20 * 4 // 2
    ring = digraphs.watts_strogatz(6, 2, 0.0, random.Random(0))
    assert ring.edges == ((0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5))


def test_a_residual_network_is_a_line_with_shortcuts_up_to_the_neighbours_of_a_node():
    for seed in range(20):
        graph = digraphs.residual(15, 4, 0.9, random.Random(seed))
        assert {(node, node + 1) for node in range(14)} <= set(graph.edges)
        assert max(degrees(graph).values()) == 4
        assert len(graph.edges) > 20


def test_a_residual_network_of_two_neighbours_becomes_a_ring():
    """The ends of the line have room for each other, and nobody else has any."""
    line = {(node, node + 1) for node in range(7)}
    assert set(digraphs.residual(8, 2, 1.0, random.Random(0)).edges) == line | {(0, 7)}


def test_sources_and_readers_of_a_node():
    graph = digraphs.Digraph(4, ((0, 2), (1, 2), (2, 3)))
    assert graph.before(2) == [0, 1] and graph.before(0) == []
    assert graph.out_degree(2) == 1 and graph.out_degree(3) == 0
