"""The baselines of Isra's evaluation: valid by rejection, and therefore small or slow."""

import onnx
import pytest

from fuzz.generators.models import Parameters, declarative, isra, randoop

SOME = (
    "Abs",
    "Add",
    "Concat",
    "Conv",
    "Flatten",
    "Gemm",
    "MatMul",
    "ReduceMean",
    "Relu",
    "Reshape",
    "Slice",
    "Softmax",
)


@pytest.mark.parametrize("source", [declarative, randoop])
def test_what_is_left_is_valid(source):
    for index in range(60):
        generated = source.generate(Parameters(1, 8), 1, index)
        model = onnx.load_from_string(generated.model)
        onnx.checker.check_model(model, full_check=True)
        assert generated.nodes == len(model.graph.node)
        assert [each.name for each in generated.inputs] == [each.name for each in model.graph.input]
        placeholders = {each.name for each in (*model.graph.input, *model.graph.initializer)}
        assert placeholders <= {name for node in model.graph.node for name in node.input}


@pytest.mark.parametrize("source", [declarative, randoop])
def test_much_is_thrown_away(source):
    assert sum(source.generate(Parameters(5, 10, SOME), 2, index).rejected for index in range(20)) > 40


def test_declarative_models_are_smaller_than_those_checked_node_by_node():
    def nodes(source):
        return sum(source.generate(Parameters(1, 40, SOME), 3, index).nodes for index in range(25))

    assert 3 * nodes(declarative) < nodes(randoop)
    assert nodes(randoop) == pytest.approx(nodes(isra), rel=0.4)
