"""The generator of graph-based models: within its parameters, and the same whatever is asked for first."""

import onnx
import pytest

from fuzz.generators import models
from fuzz.generators.models import Parameters, UnusableParameters, mcts
from fuzz.operators.growth import Limits


def test_models_are_the_same_in_whatever_order_they_are_asked_for():
    parameters = Parameters(2, 6)
    first = [mcts.generate(parameters, 5, index).model for index in range(8)]
    assert [mcts.generate(parameters, 5, index).model for index in (3, 3, 0, 7)] == [first[at] for at in (3, 3, 0, 7)]
    assert mcts.generate(parameters, 6, 0).model != first[0]


def test_blocks_are_those_asked_for_and_what_makes_tensors_fit():
    adapters = {"Abs", "Cast", "Clip", "Pad", "Reshape", "Slice"}
    for index in range(20):
        made = mcts.generate(Parameters(3, 6, ("MatMul", "Tanh"), 17), 0, index)
        model = onnx.load_from_string(made.model)
        found = [node.op_type for node in model.graph.node]
        assert set(found) <= {"MatMul", "Tanh"} | adapters
        assert 3 <= sum(name not in adapters for name in found) <= 6
        assert made.nodes == len(found) and model.opset_import[0].version == 17


def test_new_tensors_keep_to_rank_and_length():
    for index in range(30):
        limits = Limits(rank=2, length=3)
        for each in mcts.generate(Parameters(3, 6, ("Relu", "Add"), limits=limits), 1, index).inputs:
            assert len(each.shape) <= 2 and max(each.shape, default=0) <= 3


def test_every_result_is_an_output_when_asked_for():
    model = onnx.load_from_string(mcts.generate(Parameters(4, 4, all_outputs=True), 0, 0).model)
    assert {each.name for each in model.graph.output} == {
        name for node in model.graph.node for name in node.output if name
    }


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (Parameters(opset=11), "graph-based models need opset 12 or newer, not 11"),
        (
            Parameters(names=("Conv",), limits=Limits(rank=0)),
            "no block of the corpus has inputs within rank and length",
        ),
        (Parameters(names=("Nothing",)), "no operator 'Nothing' in the table"),
    ],
)
def test_parameters_without_a_model_are_told_before_anything_is_made(parameters, told):
    with pytest.raises(UnusableParameters, match=told):
        models.check("mcts", parameters)
