"""A growing model gives what fits, and what is new where nothing does."""

import random

import onnx
import pytest

from fuzz.operators.dtypes import ALL, BOOL, FLOAT, INT64, RANGE, UINT8, fresh_intervals
from fuzz.operators.families import operators
from fuzz.operators.growth import Growth, Infeasible, Limits
from fuzz.operators.shapes import BROADCAST, LARGEST, SIZE, ranks
from fuzz.operators.specification import Domain, between, root, share

ALWAYS = Limits(picking_rate=1.0, constants=0.0)
NEVER = Limits(picking_rate=0.0)


def growth(limits=ALWAYS, seed=0):
    return Growth(random.Random(seed), (FLOAT,), limits)


def test_an_existing_tensor_is_picked_where_one_fits():
    g = growth()
    first = g.within(FLOAT, (2, 3), -1, 1)
    assert g.pick(Domain((FLOAT,))) == first
    assert g.within(FLOAT, (2, 3), -5, 5) == first


@pytest.mark.parametrize(
    ("domain", "allowed"),
    [(Domain((INT64,)), ranks(0)), (Domain((FLOAT,), between(50, 60)), ranks(0)), (Domain((FLOAT,)), ranks(3, 3))],
)
def test_a_tensor_of_another_dtype_range_or_rank_is_not_picked(domain, allowed):
    g = growth()
    first = g.within(FLOAT, (2, 3), -1, 1)
    found = g.pick(domain, allowed)
    assert found != first
    low, high = domain.bounds[g.dtype[found]]
    assert len(g.shape[found]) in allowed and low <= g.low[found] and g.high[found] <= high


def test_without_picking_every_tensor_is_new():
    g = growth(NEVER)
    assert len({g.pick(Domain((FLOAT,))) for _ in range(20)}) == 20


def test_new_shapes_keep_to_the_limits():
    g = growth(Limits(rank=2, length=3))
    shapes = [g.shape_of_rank(ranks(0)) for _ in range(200)]
    assert {len(shape) for shape in shapes} == {0, 1, 2}
    assert {size for shape in shapes for size in shape} == {1, 2, 3}


def test_new_shapes_shrink_to_the_size_that_is_asked_for():
    g = growth()
    assert all(SIZE[g.shape_of_rank(ranks(5), 6)] <= 6 for _ in range(100))


def test_what_broadcasts_is_found_and_made():
    for seed in range(50):
        g = growth(seed=seed)
        g.within(FLOAT, (3, 1), -1, 1)
        g.within(FLOAT, (7,), -1, 1)
        found = g.broadcasting(Domain((FLOAT,)), FLOAT, (2, 3, 4))
        assert BROADCAST[2, 3, 4][g.shape[found]] == (2, 3, 4)


def test_one_way_broadcasting_never_enlarges():
    for seed in range(50):
        g = growth(seed=seed)
        g.within(FLOAT, (2, 3), -1, 1)
        found = g.one_way(FLOAT, (1, 3), -9, 9)
        assert BROADCAST[1, 3][g.shape[found]] == (1, 3)


def test_no_broadcast_result_is_larger_than_the_largest_tensor():
    assert BROADCAST[(5, 5, 5, 5, 1)][(5, 5, 5, 5, 5)] == (5,) * 5
    assert BROADCAST[(3125, 1)][(1, 2)] is None
    assert LARGEST == 3125


def test_an_empty_domain_is_told():
    with pytest.raises(Infeasible, match=r"no value of dtype 2 in \[-3, -1\]"):
        growth().within(UINT8, (2,), -3, -1)


@pytest.mark.parametrize("code", ALL)
def test_every_dtype_has_values_for_new_tensors(code):
    for low, high in fresh_intervals(code, *RANGE[code]):
        assert RANGE[code][0] <= low <= high <= RANGE[code][1]


def test_bounds_of_sums_and_products_leave_room_for_the_result():
    low, high = share(5)(*RANGE[FLOAT])
    assert 5 * low >= RANGE[FLOAT][0] and 5 * high <= RANGE[FLOAT][1]
    low, high = root(10)(*RANGE[FLOAT])
    assert 10 * high * high <= RANGE[FLOAT][1] * 1.000001
    assert root()(0, 255)[0] == 0


def test_outputs_are_what_no_node_reads_or_everything():
    g = growth()
    table = operators()
    for name in ("Relu", "Abs", "Not"):
        table[name].grow(g, table[name])
    few = onnx.load_from_string(g.model(26, 13)).graph
    everything = onnx.load_from_string(g.model(26, 13, all_outputs=True)).graph
    read = {name for node in few.node for name in node.input}
    made = [name for node in few.node for name in node.output]
    assert [each.name for each in few.output] == [name for name in made if name not in read]
    assert [each.name for each in everything.output] == made


def with_readers(limits, *sizes):
    """A growth with a Not for a new placeholder of each size."""
    g, op = growth(limits), operators()["Not"]
    for size in sizes:
        x = g.placeholder(BOOL, (size,), 0, 1)
        g.node(op, (x,), b"", BOOL, (size,), 0, 1)
    return g


def test_placeholders_are_inputs_or_initializers_in_their_shares():
    def inputs(limits):
        return len(with_readers(limits, *[2] * 300).inputs())

    assert inputs(Limits(constants=0.0)) == 300
    assert 180 < inputs(Limits(constants=0.25)) < 270


def test_a_model_of_constants_alone_gets_one_of_them_as_its_input():
    g = with_readers(Limits(constants=1.0), 2, 3)
    graph = onnx.load_from_string(g.model(26, 13)).graph
    assert [each.name for each in graph.input] == [each.name for each in g.inputs()] == ["t1"]
    assert [each.name for each in graph.initializer] == ["t3"]


def test_a_constant_that_steers_never_becomes_an_input():
    g, op = growth(), operators()["HannWindow"]
    op.grow(g, op)
    assert not g.inputs() and onnx.load_from_string(g.model(26, 13)).graph.initializer


def test_what_no_node_reads_is_no_part_of_the_model():
    g = with_readers(Limits(constants=0.5), 2)
    for _ in range(20):
        g.placeholder(BOOL, (4,), 0, 1)
    g.configuration((1, 2))
    graph = onnx.load_from_string(g.model(26, 13)).graph
    assert len(graph.input) == 1 and not graph.initializer and len(graph.output) == 1
