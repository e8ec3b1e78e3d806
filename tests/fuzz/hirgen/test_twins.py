"""Twins and repeats: nodes that nearly equal others, in graphs that stay valid."""

from __future__ import annotations

import random
from collections.abc import Iterator

import onnx

from fuzz.hirgen import strict, twins
from fuzz.hirgen.coverage import Coverage
from fuzz.hirgen.inserting import Inserting
from fuzz.hirgen.strict import Grown
from fuzz.operators.dtypes import FLOAT, INT64
from fuzz.operators.families import IR_VERSION, OPSET, operators

TABLE = tuple(operators().values())


def graphs(count: int, *, guided: bool = True) -> Iterator[Grown]:
    coverage = Coverage()
    for index in range(count):
        yield strict.grow(random.Random(f"twins {index}"), TABLE, 1 + index % 8, coverage, guided=guided)


def model(found: Grown | Inserting) -> onnx.ModelProto:
    growth = found.growth if isinstance(found, Grown) else found
    return onnx.load_model_from_string(growth.model(OPSET, IR_VERSION))


def attributes(node: onnx.NodeProto) -> list[bytes]:
    return sorted(each.SerializeToString() for each in node.attribute)


def twins_in(graph: onnx.GraphProto) -> list[tuple[onnx.NodeProto, onnx.NodeProto]]:
    return [
        (one, other)
        for at, one in enumerate(graph.node)
        for other in graph.node[:at]
        if one.input
        and (one.op_type, list(one.input)) == (other.op_type, list(other.input))
        and attributes(one) != attributes(other)
    ]


def repeats_in(graph: onnx.GraphProto) -> list[tuple[onnx.NodeProto, onnx.NodeProto]]:
    made = {name: node for node in graph.node for name in node.output}
    pairs = [(node, made[node.input[0]]) for node in graph.node if node.input and node.input[0] in made]
    return [(node, first) for node, first in pairs if node.op_type == first.op_type]


def grown_until(name: str, count: int, make: str) -> Inserting:
    """A graph of one operator and a twin or repeat of its node."""
    for seed in range(count):
        growth = Inserting(random.Random(f"{name} {seed}"), (FLOAT,))
        if growth.insert(operators()[name], FLOAT) and getattr(twins, make)(growth, growth.inserted[0]):
            return growth
    raise AssertionError(f"no {make} of {name}")


def test_two_hundred_graphs_hold_some_of_each_and_are_valid() -> None:
    for guided in (True, False):  # HirGen_r has them as well
        found = [(each.similar, model(each)) for each in graphs(200, guided=guided)]
        for _, each in found:
            onnx.checker.check_model(each, full_check=True)
        assert sum(bool(twins_in(each.graph)) for _, each in found) > 3
        repeats = [pair for _, each in found for pair in repeats_in(each.graph)]
        assert any(attributes(one) == attributes(other) != [] for one, other in repeats)
        assert any(attributes(one) != attributes(other) for one, other in repeats)
        assert 0 < sum(similar for similar, _ in found) < sum(len(each.graph.node) for _, each in found) / 10


def test_the_same_seed_gives_the_same_graphs() -> None:
    assert [model(each) for each in graphs(60)] == [model(each) for each in graphs(60)]


def test_both_results_of_twins_are_kept() -> None:
    for each in graphs(200):
        graph = model(each).graph
        kept = {name for node in graph.node for name in node.input} | {info.name for info in graph.output}
        for pair in twins_in(graph):
            assert all(set(node.output) & kept for node in pair)


def test_a_twin_differs_in_attributes_alone_even_where_constants_steer_it() -> None:
    for name in ("Softmax", "Gemm", "ReduceSum", "Pad", "CumSum", "DepthToSpace", "Conv"):
        growth = grown_until(name, 200, "twin")
        first, second = model(growth).graph.node
        assert first.op_type == second.op_type == name and first.input == second.input
        assert attributes(first) != attributes(second)
        onnx.checker.check_model(model(growth), full_check=True)


def test_a_repeat_reads_what_its_own_kind_gave() -> None:
    for name in ("Transpose", "Reshape", "Relu", "Squeeze", "Softmax"):
        growth = grown_until(name, 200, "repeat")
        first, second = model(growth).graph.node
        assert first.op_type == second.op_type == name and second.input[0] == first.output[0]
        onnx.checker.check_model(model(growth), full_check=True)


def test_an_operator_whose_twin_cannot_be_drawn_leaves_no_trace() -> None:
    growth = Inserting(random.Random(1), (FLOAT,))
    assert growth.insert(operators()["Relu"], FLOAT)
    before = model(growth)
    assert twins.twin(growth, growth.inserted[0]) is None
    assert model(growth) == before and len(growth.inserted) == 1


def test_a_node_is_never_given_a_tensor_that_it_cannot_read() -> None:
    growth = Inserting(random.Random(2), (FLOAT,))
    assert growth.insert(operators()["Relu"], FLOAT)
    [relu] = growth.inserted[0].outputs
    with growth.telling((relu,)):
        assert growth.insert(operators()["Not"], 0) and growth.inserted[-1].inputs != (relu,)
        assert growth.insert(operators()["BitwiseNot"], INT64) and growth.inserted[-1].inputs != (relu,)
        assert growth.insert(operators()["Tanh"], FLOAT) and growth.inserted[-1].inputs == (relu,)
    onnx.checker.check_model(model(growth), full_check=True)
