"""Bodies of If, Loop and Scan: valid, fed by the graphs around them, and what is said of their results is true."""

import random
from collections import Counter

import numpy as np
import onnx
import pytest

from fuzz.backends._evaluator import Evaluator
from fuzz.generators.isra import inputs
from fuzz.generators.models import Parameters, isra
from fuzz.operators import graph as onnx_graph
from fuzz.operators.bodies import Body
from fuzz.operators.dtypes import FLOAT
from fuzz.operators.families import operators
from fuzz.operators.growth import Growth, Limits

CONTROL = ("If", "Loop", "Scan")
#: Enough others for bodies to be of interest.
OTHERS = ("Add", "Clip", "Concat", "Less", "MatMul", "NonZero", "Not", "Relu", "Softmax", "TopK", "Where")


def models(names, count, low=1, high=6, seed=0, **rest):
    parameters = Parameters(low, high, names, **rest)
    for index in range(count):
        generated = isra.generate(parameters, seed, index)
        yield generated, onnx.load_from_string(generated.model), inputs(generated, seed, index)


def captured(body):
    made = {name for node in body.node for name in node.output}
    own = made | {each.name for each in body.input} | {each.name for each in body.initializer}
    return {name for node in body.node for name in node.input if name} - own


@pytest.mark.parametrize("names", [CONTROL + OTHERS, CONTROL])
def test_models_with_bodies_are_valid_and_end_in_what_they_declare(names):
    for generated, model, feeds in models(names, 120, all_outputs=True):
        onnx.checker.check_model(model, full_check=True)
        assert generated.rejected == 0
        with np.errstate(all="ignore"):
            values = Evaluator(model).run(None, dict(feeds))
        for output, value in zip(model.graph.output, map(np.asarray, values), strict=True):
            sizes = [d.dim_value if d.HasField("dim_value") else None for d in output.type.tensor_type.shape.dim]
            assert len(sizes) == value.ndim
            assert all(size in (None, real) for size, real in zip(sizes, value.shape, strict=True))


@pytest.mark.parametrize("opset", [13, 14, 15])
@pytest.mark.parametrize("name", CONTROL)
def test_what_a_body_yields_has_a_dtype_that_its_node_may_give_at_that_opset(name, opset):
    """Before opset 16 none of them gives bfloat16, which other operators do."""
    for names in ((name,), (name, "Add", "Cast", "Relu")):
        for _, model, _ in models(names, 60, 1, 3, seed=9, opset=opset):
            onnx.checker.check_model(model, full_check=True)


def test_bodies_capture_tensors_of_the_graphs_around_them():
    found = [
        bool(captured(body))
        for _, model, _ in models(CONTROL + OTHERS, 60, 4, 8)
        for node in model.graph.node
        for body in onnx_graph.bodies(node)
    ]
    assert len(found) > 50 and sum(found) > len(found) / 2


def test_bodies_lie_in_bodies_but_no_deeper_than_that():
    def depth(graph):
        return max((1 + depth(body) for node in graph.node for body in onnx_graph.bodies(node)), default=0)

    assert {depth(model.graph) for _, model, _ in models(CONTROL, 30, 3, 6)} == {2}


def test_no_name_is_used_twice_in_all_graphs_of_a_model():
    for _, model, _ in models(CONTROL + OTHERS, 60, 4, 8):
        made = [name for node in onnx_graph.walk(model.graph) for name in node.output if name]
        formal = [
            each.name
            for node in onnx_graph.walk(model.graph)
            for body in onnx_graph.bodies(node)
            for each in (*body.input, *body.initializer)
        ]
        names = made + formal + [each.name for each in (*model.graph.input, *model.graph.initializer)]
        assert len(names) == len(set(names))


def test_loops_end_by_count_by_condition_by_both_and_by_what_only_the_run_knows():
    kinds = Counter()
    for _, model, _ in models(("Loop", *OTHERS), 150, 1, 3):
        constants = {each.name for each in model.graph.initializer}
        for node in model.graph.node:
            if node.op_type == "Loop":
                body = next(onnx_graph.bodies(node))
                last = {name: each.op_type for each in body.node for name in each.output}[body.output[0].name]
                kinds[bool(node.input[0]), node.input[0] in constants, last == "Less"] += 1
    assert {(True, True, False), (False, False, True), (True, True, True), (True, False, False)} <= set(kinds)


def test_what_a_loop_stacks_has_a_known_length_where_its_number_of_turns_is_known():
    known = Counter()
    found = (
        (model, node)
        for _, model, _ in models(("Loop", *OTHERS), 100, 2, 6, all_outputs=True)
        for node in model.graph.node
    )
    for model, node in found:
        if node.op_type != "Loop":
            continue
        states = len(node.input) - 2
        rows = [each for each in model.graph.output if each.name in list(node.output)[states:]]
        constant = node.input[0] in {each.name for each in model.graph.initializer} or not node.input[0]
        known.update((constant, each.type.tensor_type.shape.dim[0].HasField("dim_value")) for each in rows)
    assert known[True, True] > 10 and known[False, False] > 3
    assert not known[False, True]


def test_only_operators_that_were_named_are_drawn_for_bodies():
    ending = {"Add", "Identity", "Where", "Less"}
    for _, model, _ in models(("If", "Scan", "Relu", "Neg"), 60, 2, 5):
        assert {node.op_type for node in onnx_graph.walk(model.graph)} <= {"If", "Scan", "Relu", "Neg"} | ending


def test_what_a_body_has_made_is_hidden_from_the_graph_around_it():
    outer = Growth(random.Random(0), (FLOAT,), Limits(picking_rate=1.0, constants=0.0))
    outer.within(FLOAT, (2, 3), -1, 1)
    body = Body(outer)
    state = body.formal(FLOAT, (2, 3), -1, 1)
    relu = operators()["Relu"]
    relu.grow(body, relu)
    (result,) = body.results()
    body.finish("body", [result])
    assert {state, result}.isdisjoint(outer.pool)
    assert outer.within(FLOAT, (2, 3), -1, 1) not in (state, result)
    outputs = {each.name for each in onnx.load_from_string(outer.model(26, 13, all_outputs=True)).graph.output}
    assert not outputs & {f"t{state}", f"t{result}"}


def test_baselines_leave_them_out_and_tell_where_nothing_is_left():
    from fuzz.generators.models import UnusableParameters, randoop

    model = onnx.load_from_string(randoop.generate(Parameters(6, 6, ("If", "Relu")), 0, 0).model)
    assert {node.op_type for node in model.graph.node} == {"Relu"}
    with pytest.raises(UnusableParameters, match="name other operators than If, Loop and Scan, too"):
        randoop.generate(Parameters(1, 3, ("Loop",)), 0, 0)
