"""Isra's generator: deterministic, without backtracks, uniform over operators, within its parameters."""

from collections import Counter

import onnx
import pytest

from fuzz.generators import models
from fuzz.generators.models import Parameters, UnknownModels, UnusableParameters, isra
from fuzz.generators.models._sizes import size
from fuzz.operators.families import OPSET, operators
from fuzz.operators.growth import Limits


def graphs(parameters, count, seed=0):
    return [onnx.load_from_string(isra.generate(parameters, seed, index).model).graph for index in range(count)]


def test_a_model_depends_on_seed_and_index_alone():
    parameters = Parameters(1, 50)
    first = [isra.generate(parameters, 5, index).model for index in range(20)]
    assert [isra.generate(parameters, 5, index).model for index in reversed(range(20))] == first[::-1]
    assert isra.generate(parameters, 6, 0).model != first[0]


def test_nothing_is_ever_taken_back():
    assert sum(isra.generate(Parameters(1, 200), 8, index).rejected for index in range(200)) == 0


def test_the_number_of_operators_is_uniform_between_its_bounds():
    sizes = Counter(len(graph.node) for graph in graphs(Parameters(3, 7), 1000))
    assert sorted(sizes) == [3, 4, 5, 6, 7]
    assert min(sizes.values()) > 140


def test_operators_are_drawn_uniformly():
    counts = Counter(node.op_type for graph in graphs(Parameters(100, 100), 165) for node in graph.node)
    assert set(counts) == set(operators())
    assert min(counts.values()) > 50 and max(counts.values()) < 160


def read(graph):
    """Everything that a node of the graph or of a body in it reads, and what bodies yield."""
    found = set()
    for node in graph.node:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= read(attribute.g) | {each.name for each in attribute.g.output}
    return found


def constants(graph):
    """The initializers of the graph and of all bodies in it."""
    found = {each.name for each in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= constants(attribute.g)
    return found


@pytest.mark.parametrize("all_outputs", [False, True])
def test_every_graph_input_and_every_constant_is_read_and_none_is_an_output(all_outputs):
    for graph in graphs(Parameters(1, 12, all_outputs=all_outputs), 300, seed=991):
        placeholders = {each.name for each in graph.input} | constants(graph)
        assert placeholders <= read(graph)
        assert not placeholders & {each.name for each in graph.output}
        assert graph.output


def test_the_manifest_knows_the_graph_inputs_that_there_are():
    for index in range(100):
        generated = isra.generate(Parameters(1, 4), 991, index)
        graph = onnx.load_from_string(generated.model).graph
        assert [each.name for each in generated.inputs] == [each.name for each in graph.input]


def test_a_model_has_a_real_input_unless_its_operators_take_none_but_constants_that_steer():
    made_of_nothing = {
        "BlackmanWindow",
        "Constant",
        "ConstantOfShape",
        "HammingWindow",
        "HannWindow",
        "MelWeightMatrix",
        "Range",
    }
    for graph in graphs(Parameters(1, 6), 500):
        assert graph.input or {node.op_type for node in graph.node} & made_of_nothing
    assert all(graph.input for graph in graphs(Parameters(1, 1, ("AffineGrid", "Conv", "Det", "LSTM", "Relu")), 200))
    assert sum(1 for graph in graphs(Parameters(5, 10), 300) if graph.initializer) > 200


def test_a_higher_picking_rate_connects_more():
    def edges(rate):
        found = graphs(Parameters(60, 60, limits=Limits(picking_rate=rate)), 40)
        made = [{name for node in graph.node for name in node.output} for graph in found]
        return sum(
            1 for graph, names in zip(found, made, strict=True) for node in graph.node for x in node.input if x in names
        )

    assert edges(0.2) < edges(0.6) < edges(0.97)
    assert edges(0.0) < 200


def test_new_tensors_keep_to_rank_and_length():
    found = graphs(Parameters(5, 10, ("Relu", "Add", "Transpose"), limits=Limits(rank=2, length=3)), 100)
    shapes = [[dim.dim_value for dim in each.type.tensor_type.shape.dim] for graph in found for each in graph.input]
    assert max(map(len, shapes)) == 2 and max(map(max, filter(None, shapes))) == 3


def test_opset_and_ir_version_go_together():
    model = onnx.load_from_string(isra.generate(Parameters(opset=OPSET), 0, 0).model)
    assert (model.opset_import[0].version, model.ir_version) == (26, 13)
    older = onnx.load_from_string(isra.generate(Parameters(opset=17), 0, 0).model)
    assert (older.opset_import[0].version, older.ir_version) == (17, 8)


def test_an_operator_that_the_table_lacks_is_told():
    with pytest.raises(UnusableParameters, match=r"no operator 'Convv' in the table at opset 26, which has \d+"):
        Parameters(names=("Add", "Convv")).operators()


@pytest.mark.parametrize("opset", [-1, 0, 99])
def test_an_opset_that_there_is_not_is_told(opset):
    with pytest.raises(UnusableParameters, match=rf"^no opset {opset}: choose one from 1 to \d+$"):
        Parameters(opset=opset).operators()


def test_generators_of_models_are_found_by_their_file_names():
    assert "isra" in models.names()
    assert all(callable(models.load(name)) for name in models.names())
    with pytest.raises(UnknownModels, match=r"no generator of models is called 'nothing': choose one of .*isra"):
        models.load("nothing")


@pytest.mark.parametrize("seed", range(5))
def test_sizes_are_spread_evenly_over_the_models_of_any_seed(seed):
    """Independent draws are uniform, too, and their mean strays from 100.5 by 1.8 in 1,000 models."""
    sizes = [size(1, 200, seed, index) for index in range(1000)]
    assert sum(sizes) / 1000 == pytest.approx(100.5, abs=0.3)
    assert set(sizes) == set(range(1, 201)) and max(Counter(sizes).values()) <= 7
    assert isra.generate(Parameters(1, 200), seed, 7).nodes == sizes[7]


def test_seeds_differ_in_the_sizes_of_their_models():
    assert len({tuple(size(1, 200, seed, index) for index in range(5)) for seed in range(20)}) == 20
