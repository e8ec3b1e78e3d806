"""Cutting parts out of ONNX cases."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.case import Case
from fuzz.wire import Value
from tests.triage.test_submodel import BRANCH, case_of, chain, record, run
from triage.parts import parts
from triage.submodel import load


def op_types(case: Case) -> list[str]:
    return [node.op_type for node in load(case).graph.node]


def test_a_node_cut_out_computes_what_it_computed_inside() -> None:
    case = chain()
    values = record(case)
    for at, name in enumerate(["half", "a", "b", "side", "out"]):
        [alone] = parts(case, {at}, values)
        np.testing.assert_array_equal(run(alone)[0], values[name])


def test_a_dangling_tensor_becomes_an_input_and_a_constant_one_an_initializer() -> None:
    case = chain()
    [alone] = parts(case, {1}, record(case))
    graph = load(alone).graph
    assert {info.name for info in graph.input} == {"x", "unread"}
    assert [tensor.name for tensor in graph.initializer] == ["half"]


def test_an_input_that_was_unused_before_stays_and_one_that_is_unused_now_goes() -> None:
    case = chain()
    [alone] = parts(case, {0}, record(case))
    assert [info.name for info in load(alone).graph.input] == ["unread"] == list(alone.inputs)


UNKNOWN = """<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
g (float[2,3] x) => (float[2,3] y) { a = Exp(x) b = Abs(a) z = com.microsoft.Unknown(b) c = Neg(b) y = Add(c, z) }"""


def test_without_recorded_values_they_are_made_up_or_else_the_producers_stay() -> None:
    case = case_of(UNKNOWN, x=np.ones((2, 3), np.float32))
    made_up, complete = parts(case, {3}, dict(case.inputs))
    assert op_types(made_up) == ["Neg"] and op_types(complete) == ["Exp", "Abs", "Neg"]
    value = made_up.inputs["b"]
    assert isinstance(value, np.ndarray) and value.shape == (2, 3) and value.dtype == np.float32
    assert len(run(made_up)) == 1


def test_what_has_no_known_type_is_not_made_up() -> None:
    text = UNKNOWN.replace("Unknown(b)", "Unknown()")
    case = case_of(text, x=np.ones((2, 3), np.float32))
    kept = [op_types(part) for part in parts(case, {4}, dict(case.inputs))]
    assert kept and all("Unknown" in operators for operators in kept)


def test_what_follows_from_an_unknown_operator_has_the_type_of_its_input() -> None:
    text = """<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
    g (float[2,3] x) => (float[3,2] y) {
        a = com.microsoft.Unknown(x) b = com.microsoft.Other(a) c = Neg(b) y = Transpose(c) }"""
    case = case_of(text, x=np.ones((2, 3), np.float32))
    alone = parts(case, {3}, dict(case.inputs))[0]
    assert op_types(alone) == ["Transpose"] and alone.inputs["c"].shape == (2, 3)
    unknown = parts(case, {1}, dict(case.inputs))[0]
    assert op_types(unknown) == ["Other"]
    assert [len(info.type.tensor_type.shape.dim) for info in load(unknown).graph.output] == [2]


def test_indices_and_shapes_are_not_made_up() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2,3] x) => (float[3,2] y) <int64[2] turn = {1,0}> { s = Shape(x) t = Gather(s, turn) y = Reshape(x, t) }"""
    case = case_of(text, x=np.ones((2, 3), np.float32))
    assert [op_types(part) for part in parts(case, {2}, dict(case.inputs))] == [["Shape", "Gather", "Reshape"]]


def test_without_nodes_there_is_no_case() -> None:
    assert parts(chain(), set(), record(chain())) == []


def test_a_node_with_bodies_gets_their_outer_values_as_inputs() -> None:
    case = case_of(BRANCH, x=np.array([-1, 2], np.float32), flag=np.array(False))
    [alone] = parts(case, {1}, record(case))
    assert set(alone.inputs) == {"flag", "outer", "x"}
    np.testing.assert_array_equal(run(alone)[0], np.array([-1, 4], np.float32))


LONG = """<ir_version: 8, opset_import: ["": 17]>
g (float[2,3] x) => (float[3,2] y) {
    a = Exp(x)
    b = Abs(a)
    c = Transpose(b)
    d = Neg(c)
    y = Relu(d)
}"""


def long_chain() -> tuple[Case, dict[str, Value]]:
    case = case_of(LONG, x=np.arange(6, dtype=np.float32).reshape(2, 3))
    return case, dict(record(case))


@pytest.mark.parametrize(("kept", "ways"), [({0, 4}, 2), ({0, 2}, 2), ({3, 4}, 1)])
def test_a_consumer_is_fed_from_a_kept_producer_and_at_last_from_what_was_recorded(kept: set[int], ways: int) -> None:
    case, values = long_chain()
    found = parts(case, kept, values)
    assert len(found) == ways
    first, last = (load(part).graph.node for part in (found[0], found[-1]))
    assert first[1].input[0] == first[0].output[0]
    if ways > 1:
        assert last[1].input[0] != last[0].output[0]
    for part in found:
        run(part)


def test_what_a_kept_node_reads_is_no_output_unless_it_was_one() -> None:
    case = chain()
    [part] = parts(case, {1, 2}, record(case))
    assert [info.name for info in load(part).graph.output] == ["b"]
    [with_side] = parts(case, {1, 3}, record(case))
    assert [info.name for info in load(with_side).graph.output] == ["side"]


def test_a_recorded_value_of_an_impossible_shape_is_not_believed() -> None:
    """onnx's evaluator joins what the iterations of a Loop return along an axis, where a new one is due."""
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x) => (float[3] z, float[2] y) <int64 n = {3}, bool c = {1}> {
        y, all = Loop(n, c, x) <body = b (int64 i, bool go, float[2] v) => (bool on, float[2] w, float[2] each)
            { on = Identity(go) w = Neg(v) each = Abs(v) }>
        z = ReduceMax<axes = [1], keepdims = 0>(all) }"""
    case = case_of(text, x=np.ones(2, np.float32))
    wrong = {"x": np.ones(2, np.float32), "y": np.ones(2, np.float32), "all": np.ones(6, np.float32)}
    [alone] = parts(case, {0}, wrong)
    declared = {info.name: len(info.type.tensor_type.shape.dim) for info in load(alone).graph.output}
    assert op_types(alone) == ["Loop"] and declared == {"y": 1, "all": 2}
    assert op_types(parts(case, {1}, wrong)[0]) == ["Loop", "ReduceMax"]  # nothing to feed it with


UNREAD = """<ir_version: 8, opset_import: ["": 17]>
g (float[4] x, int64[1] k) => (float[1] y, float[4] x) <float[4] c = {1,2,3,4}> {
    a = Exp(x)
    top, at = TopK(a, k)
    y = Neg(top)
    dead = Add(a, c)
}"""


def outputs(case: Case) -> list[str]:
    return [info.name for info in load(case).graph.output]


def test_a_result_that_nobody_read_before_is_no_output_unless_nothing_else_is_left() -> None:
    case = case_of(UNREAD, x=np.arange(4, dtype=np.float32), k=np.array([1]))
    values = record(case)
    assert outputs(parts(case, {1, 2}, values)[0]) == ["y", "x"]
    assert outputs(parts(case, {1}, values)[0]) == ["top", "x"]
    assert outputs(parts(case, {3}, values)[0]) == ["dead", "x"]


def test_an_output_that_is_an_input_stays_one_as_long_as_something_is_computed() -> None:
    case = case_of(UNREAD, x=np.arange(4, dtype=np.float32), k=np.array([1]))
    kept = parts(case, {0}, record(case))[0]
    assert outputs(kept) == ["a", "x"] and len(run(kept)) == 2
    elsewhere = parts(case, {2}, record(case))[0]
    assert outputs(elsewhere) == ["y", "x"] and set(elsewhere.inputs) == {"top", "x"}


def test_in_the_last_way_a_new_input_has_the_free_sizes_that_its_tensor_had() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[N,3] x) => (float[N,3] z) { a = Neg(x) b = Exp(a) z = Softmax(b) }"""
    case = case_of(text, x=np.ones((2, 3), np.float32))
    ways = parts(case, {2}, record(case))
    sizes = [
        [dim.dim_param or dim.dim_value for dim in load(way).graph.input[0].type.tensor_type.shape.dim] for way in ways
    ]
    assert sizes == [[2, 3], ["N", 3]]
    assert [run(way)[0].shape for way in ways] == [(2, 3), (2, 3)]


def test_an_optional_value_is_no_sequence_whatever_the_evaluator_gives() -> None:
    text = """<ir_version: 8, opset_import: ["": 18]>
    g (float[2] x) => (float[2] y) { o = Optional(x) v = OptionalGetElement(o) y = Neg(v) }"""
    case = case_of(text, x=np.ones(2, np.float32))
    for way in parts(case, {0, 1}, {**case.inputs, "o": [case.inputs["x"]], "v": [case.inputs["x"]]}):
        assert [info.type.WhichOneof("value") for info in load(way).graph.output] == ["tensor_type"]
    assert op_types(parts(case, {1}, {**case.inputs, "o": [case.inputs["x"]]})[0]) == ["Optional", "OptionalGetElement"]


def test_a_bypass_between_other_ranks_declares_the_rank_that_comes_out() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,1,3] x) => (float[2,3] y) <int64[2] to = {2, 3}>
        { a = Softmax(x) b = Reshape(a, to) y = Erf(b) }"""
    case = case_of(text, x=np.ones((2, 1, 3), np.float32))
    first, *_ = parts(case, {0, 2}, record(case))
    assert [node.input[0] for node in load(first).graph.node] == ["x", "a"]
    assert len(load(first).graph.output[0].type.tensor_type.shape.dim) == 3
    assert run(first)[0].shape == (2, 1, 3)


def test_it_does_so_where_what_feeds_the_bypass_becomes_an_input_itself() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[1,1,3,3] x) => (float[1,9] y) <float[1,1,1,1] w = {2}>
        { a = Abs(x) b = Conv(a, w) c = Flatten(b) y = Softmax(c) }"""
    case = case_of(text, x=np.ones((1, 1, 3, 3), np.float32))
    first, *_ = parts(case, {1, 3}, record(case))
    assert [list(node.input) for node in load(first).graph.node] == [["a", "w"], ["b"]]
    assert len(load(first).graph.output[0].type.tensor_type.shape.dim) == 4
    assert run(first)[0].shape == (1, 1, 3, 3)


def test_what_comes_from_the_inputs_may_take_the_place_of_a_dropped_result_if_asked_for() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x) => (float[2,3] y)
        { a = Exp(x) b = Abs(a) y = Neg(b) }"""
    case = case_of(text, x=np.ones((2, 3), np.float32))
    usual, *_ = parts(case, {2}, record(case))
    other, *_ = parts(case, {2}, record(case), from_inputs=True)
    assert list(usual.inputs) == ["b"] and list(other.inputs) == ["x"]
    assert load(other).graph.node[0].input == ["x"]


def test_a_bypass_leads_past_other_types_to_the_nearest_value_of_its_own() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x) => (float[2,3] y) <float s = {0.5}>
        { a = Exp(x) q = QuantizeLinear(a, s) d = DequantizeLinear(q, s) y = Neg(d) }"""
    case = case_of(text, x=np.ones((2, 3), np.float32))
    first, *_ = parts(case, {0, 3}, record(case))
    assert [list(node.input) for node in load(first).graph.node] == [["x"], ["a"]]


def test_the_outputs_of_a_part_stay_in_the_order_of_the_models_own() -> None:
    """A bug can be about an output that is listed before another which it depends on."""
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x) => (bool[2] last, float[2] below) {
        t = Sin(x)
        below = Abs(t)
        last = IsNaN(below)
    }"""
    case = case_of(text, x=np.zeros(2, np.float32))
    cuts = parts(case, {1, 2}, record(case))
    assert [[info.name for info in load(cut).graph.output] for cut in cuts] == [["last", "below"]] * len(cuts)
    assert cuts
