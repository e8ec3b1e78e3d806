"""The operator table against ONNX: what it makes is valid, and what it says of the result is true.

Judges are onnx.checker with strict shape inference, and the reference evaluator. Every intermediate result is
looked at, so that a wrong shape rule shows where it is wrong.
"""

import random

import numpy as np
import onnx
import pytest
from onnx import defs, helper

from fuzz.backends._evaluator import Evaluator
from fuzz.generators.isra import inputs
from fuzz.generators.models import Parameters, isra
from fuzz.operators import dtypes
from fuzz.operators.families import IR_VERSION, OPSET, operators, specifications
from fuzz.operators.growth import Growth, Limits

TABLE = operators()
#: No reference implementation computes with these in all operators that take them.
PALETTES = [
    (dtypes.FLOAT,),
    (dtypes.DOUBLE, dtypes.INT64),
    (dtypes.FLOAT16,),
    (dtypes.BFLOAT16, dtypes.UINT8),
    (22, 17),
]


def evaluated(model, feeds):
    with np.errstate(all="ignore"):
        return [np.asarray(value) for value in Evaluator(model).run(None, feeds)]


def declared(output):
    kind = output.type.tensor_type
    return kind.elem_type, [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]


def assert_as_declared(model, values):
    for output, value in zip(model.graph.output, values, strict=True):
        code, shape = declared(output)
        assert len(shape) == value.ndim and all(
            size in (None, real) for size, real in zip(shape, value.shape, strict=True)
        ), output
        if code != dtypes.STRING:
            assert value.dtype == helper.tensor_dtype_to_np_dtype(code), output


def assert_within_ranges(growth, model, values):
    """Results lie in the ranges that were computed for them; floats but for rounding."""
    for output, value in zip(model.graph.output, values, strict=True):
        number = int(output.name[1:])
        code, shape = declared(output)
        if None in shape or value.dtype.kind in "OUSc" or not value.size:
            continue
        low, high = growth.low[number], growth.high[number]
        slack = 0.02 * max(1, abs(low), abs(high)) if dtypes.is_floating(code) else 0
        numbers = value.astype(np.float64)
        assert np.isfinite(numbers).all(), output.name
        assert numbers.min() >= low - slack and numbers.max() <= high + slack, (output.name, low, high)


def test_the_table_has_the_operators_that_it_is_said_to_have():
    assert len(TABLE) >= 150
    assert {"Add", "Conv", "LSTM", "QLinearConv", "Resize", "ScatterND", "TopK"} <= set(TABLE)


def test_every_row_names_an_operator_of_onnx():
    assert all(defs.has(row.op_type, "") for row in specifications())


@pytest.mark.parametrize("name", TABLE)
def test_nodes_of_an_operator_alone_are_valid_and_as_the_table_says(name):
    rng = np.random.default_rng(0)
    operator = TABLE[name]
    for turn in range(8):
        growth = Growth(random.Random(f"{name} {turn}"), PALETTES[turn % len(PALETTES)], Limits())
        operator.grow(growth, operator)
        model = onnx.load_from_string(growth.model(OPSET, IR_VERSION, all_outputs=True))
        onnx.checker.check_model(model, full_check=True)
        assert model.graph.node[-1].op_type == name
        feeds = {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in growth.inputs()}
        values = evaluated(model, feeds)
        assert_as_declared(model, values)
        assert_within_ranges(growth, model, values)


def test_the_numbers_of_inputs_are_those_that_nodes_have():
    seen = {name: set() for name in TABLE}
    for index in range(60):
        model = onnx.load_from_string(isra.generate(Parameters(150, 150), 5, index).model)
        for node in model.graph.node:
            seen[node.op_type].add(sum(1 for name in node.input if name))
    assert all(found <= set(TABLE[name].degrees) for name, found in seen.items())
    missing = {name for name, found in seen.items() if found != set(TABLE[name].degrees)}
    assert len(missing) < 10


@pytest.mark.parametrize("part", range(4))
def test_two_thousand_models_are_valid(part):
    """Four parts of 500, so that several processes share them."""
    parameters = Parameters(1, 10, all_outputs=True)
    for index in range(500 * part, 500 * (part + 1)):
        generated = isra.generate(parameters, 2026, index)
        model = onnx.load_from_string(generated.model)
        onnx.checker.check_model(model, full_check=True)
        assert_as_declared(model, evaluated(model, inputs(generated, 2026, index)))


@pytest.mark.parametrize("opset", [OPSET, 21])
def test_strict_shape_inference_alone_knows_the_type_of_every_result(opset):
    """The checker's full check passes over a result whose type it does not find; strict inference alone does not."""
    parameters = Parameters(1, 30, opset=opset)
    for index in range(150):
        model = onnx.load_from_string(isra.generate(parameters, 8811, index).model)
        graph = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph
        known = {each.name for each in (*graph.value_info, *graph.output) if each.type.tensor_type.elem_type}
        assert {name for node in graph.node for name in node.output if name} <= known


@pytest.mark.parametrize("opset", [7, 11, 13, 17, 18, 21, 23, 28])
def test_other_opsets_give_valid_models_of_the_operators_that_they_have(opset):
    parameters = Parameters(1, 10, opset=opset)
    assert 40 < len(parameters.operators()) <= len(TABLE)
    for index in range(40):
        generated = isra.generate(parameters, 1, index)
        onnx.checker.check_model(onnx.load_from_string(generated.model), full_check=True)


#: Operators whose older forms differ in little: axes were attributes, some inputs and attributes were not there yet.
OLDER = [
    "GRU",
    "LSTM",
    "Pad",
    "QLinearMatMul",
    "QuantizeLinear",
    "RNN",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Resize",
    "ScatterElements",
    "ScatterND",
    "Split",
]


@pytest.mark.parametrize("opset", [13, 17, 21])
@pytest.mark.parametrize("name", OLDER)
def test_older_forms_of_an_operator_are_valid_and_as_the_table_says(name, opset):
    operator, ir_version = operators(opset)[name], Parameters(opset=opset).ir_version
    for turn in range(12):
        growth = Growth(random.Random(f"{name} {turn}"), PALETTES[turn % len(PALETTES)], Limits())
        operator.grow(growth, operator)
        model = onnx.load_from_string(growth.model(opset, ir_version, all_outputs=True))
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
        given = {each for each in model.graph.node[-1].input if each}
        assert len(given) <= max(operator.degrees)
        rng = np.random.default_rng(turn)
        values = evaluated(model, {e.name: dtypes.draw(e.dtype, e.shape, e.interval, rng) for e in growth.inputs()})
        assert_as_declared(model, values)
        assert_within_ranges(growth, model, values)


def test_the_table_can_be_asked_for_one_operator_alone():
    model = onnx.load_from_string(isra.generate(Parameters(5, 5, ("Conv",)), 0, 0).model)
    assert {node.op_type for node in model.graph.node} == {"Conv"}


@pytest.mark.parametrize(
    ("name", "inner", "first"), [("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss", 22), ("Clip", "Where", 16)]
)
def test_an_operator_has_no_dtype_that_its_own_function_body_cannot_take(name, inner, first):
    """Both take bfloat16, but the operators that they are defined by take it from that opset on only."""
    for opset in (13, first - 1, first, OPSET):
        kinds = operators(opset)[inner].types
        assert set(operators(opset)[name].domain.dtypes) <= kinds["T"]
    assert dtypes.BFLOAT16 in operators(first)[name].domain.dtypes


#: Attributes with domains of their own, each of which some nodes set to something else than its default.
SET = {
    "BatchNormalization": {"momentum"},
    "Cast": {"saturate"},
    "Col2Im": {"dilations", "pads", "strides"},
    "Constant": {"value", "value_float", "value_floats", "value_int", "value_ints"},
    "ConvTranspose": {"dilations", "group", "kernel_shape", "output_padding", "pads", "strides"},
    "DequantizeLinear": {"axis", "block_size"},
    "NegativeLogLikelihoodLoss": {"ignore_index", "reduction"},
    "QuantizeLinear": {"axis", "block_size", "output_dtype"},
    "MaxPool": {"dilations", "pads", "storage_order", "strides"},
    "Resize": {
        "antialias",
        "axes",
        "cubic_coeff_a",
        "exclude_outside",
        "keep_aspect_ratio_policy",
        "mode",
        "nearest_mode",
    },
    "Selu": {"alpha", "gamma"},
    "SoftmaxCrossEntropyLoss": {"ignore_index", "reduction"},
}
#: Dtypes of inputs, by operator and position, that some nodes have.
TAKEN = {
    ("BitwiseNot", 0): {dtypes.UINT8, dtypes.UINT16, dtypes.UINT32, dtypes.UINT64},
    ("Dropout", 1): {dtypes.FLOAT, dtypes.DOUBLE, dtypes.FLOAT16},
    ("HannWindow", 0): {dtypes.INT32, dtypes.INT64},
    ("MelWeightMatrix", 1): {dtypes.INT32, dtypes.INT64},
    ("OneHot", 1): {dtypes.INT32, dtypes.INT64},
    ("Pow", 1): {dtypes.UINT16, dtypes.INT16, dtypes.UINT32, dtypes.UINT64},
    ("Resize", 0): {dtypes.FLOAT16, dtypes.UINT8, dtypes.INT8, dtypes.INT32, dtypes.INT64},
    ("ScatterElements", 1): {dtypes.INT32, dtypes.INT64},
    ("Slice", 4): {dtypes.INT32, dtypes.INT64},
}


def many(name, count):
    """The last nodes of models with one operator, each with the dtypes of the model's tensors."""
    operator = TABLE[name]
    for turn in range(count):
        draw = random.Random(f"many {name} {turn}")
        growth = Growth(draw, (draw.choice(dtypes.ALL),), Limits())
        operator.grow(growth, operator)
        graph = onnx.load_from_string(growth.model(OPSET, IR_VERSION, all_outputs=True)).graph
        codes = {each.name: each.type.tensor_type.elem_type for each in (*graph.input, *graph.output)}
        yield graph.node[-1], codes | {each.name: each.data_type for each in graph.initializer}


def unusual(node):
    """The names of the attributes that have another value than their default."""
    known = defs.get_schema(node.op_type, OPSET, "").attributes
    return {
        each.name
        for each in node.attribute
        if helper.get_attribute_value(each) != helper.get_attribute_value(known[each.name].default_value)
    }


@pytest.mark.parametrize("name", SET)
def test_every_attribute_is_set_by_some_nodes(name):
    found = [unusual(node) for node, _ in many(name, 400)]
    assert SET[name] <= set().union(*found)


@pytest.mark.parametrize(("name", "at"), TAKEN)
def test_every_dtype_of_an_input_is_taken_by_some_nodes(name, at):
    found = {codes[node.input[at]] for node, codes in many(name, 400) if len(node.input) > at}
    assert TAKEN[name, at] <= found


def test_volumes_are_sampled_as_images_are():
    found = set()
    for turn in range(60):
        growth = Growth(random.Random(turn), (dtypes.FLOAT,), Limits())
        TABLE["GridSample"].grow(growth, TABLE["GridSample"])
        found.add(len(growth.shape[-1]))
    assert found == {4, 5}


def test_a_resized_only_element_has_no_mode_whose_place_the_reference_has_wrong():
    """Of pytorch_half_pixel the standard says 0 where one element results, the reference -0.5."""
    found = set()
    for turn in range(300):
        growth = Growth(random.Random(turn), (dtypes.FLOAT,), Limits())
        TABLE["Resize"].grow(growth, TABLE["Resize"])
        node = onnx.load_from_string(growth.model(OPSET, IR_VERSION)).graph.node[-1]
        if any(each.s == b"pytorch_half_pixel" for each in node.attribute):
            found.add(1 in growth.shape[-1][-2:])
    assert found == {False}


def test_optional_results_are_asked_for_by_some_nodes():
    assert {len(node.output) for node, _ in many("LayerNormalization", 300)} == {1, 2, 3}
    assert {len(node.output) for node, _ in many("SoftmaxCrossEntropyLoss", 50)} == {1, 2}


def test_recurrent_layers_run_in_every_direction():
    for name in ("GRU", "LSTM", "RNN"):
        found = {each.s for node, _ in many(name, 80) for each in node.attribute if each.name == "direction"}
        assert found == {b"forward", b"reverse", b"bidirectional"}


def test_powers_of_two_are_never_padded_with_a_zero_that_they_do_not_have():
    operator = TABLE["Pad"]
    for turn in range(60):
        growth = Growth(random.Random(turn), (dtypes.FLOAT8E8M0,), Limits())
        operator.grow(growth, operator)
        model = onnx.load_from_string(growth.model(OPSET, IR_VERSION))
        feeds = {each.name: np.ones(each.shape, dtypes.numpy_dtype(each.dtype)) for each in growth.inputs()}
        assert np.isfinite(evaluated(model, feeds)[0].astype(np.float32)).all()


@pytest.mark.parametrize("code", [dtypes.FLOAT, dtypes.DOUBLE, dtypes.FLOAT16, dtypes.BFLOAT16])
def test_logarithms_of_shares_are_finite_at_the_ends_of_what_the_operator_takes(code):
    """The reference takes the logarithm of a share that underflows to zero where inputs lie far apart."""
    operator = TABLE["LogSoftmax"]
    low, high = operator.domain.bounds[code]
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("LogSoftmax", ["x"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", code, [5])],
            [helper.make_tensor_value_info("y", code, [5])],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    x = np.array([low, high, high, high, high]).astype(dtypes.numpy_dtype(code))
    assert np.isfinite(evaluated(model, {"x": x})[0].astype(np.float64)).all()
    assert low <= -5 and high >= 5
