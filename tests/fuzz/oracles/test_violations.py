"""Preconditions of the specification that only a run can break: what is let pass, and what is let pass rightly."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from fuzz.oracles.undefined import DECLARATION, Kind, rules, screen, violation

FLOAT, INT32, INT64, UINT8, STRING = (
    TensorProto.FLOAT,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.UINT8,
    TensorProto.STRING,
)


def f(*shape: int) -> np.ndarray:
    """Counting up from 0."""
    return np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, "float32")


def u8(*shape: int) -> np.ndarray:
    return np.ones(shape, "uint8")


def a(values: Any, dtype: str = "float32") -> np.ndarray:
    return np.array(values, dtype)


def i(values: Any) -> np.ndarray:
    return a(values, "int64")


def hidden(
    op_type: str, inputs: list[Any], opset: int, codes: list[int], attributes: Mapping[str, Any]
) -> tuple[Any, Any]:
    """A model of one node "it" whose ranks and values are known at run time only, and what it is fed.

    Every input is reshaped to a shape that is fed too, the outputs are flattened.
    """
    nodes, declared, feeds, names = [], [], {}, []
    for at, value in enumerate(inputs):
        names.append("" if value is None else f"i{at}")
        if value is None:
            continue
        code = helper.np_dtype_to_tensor_dtype(value.dtype)
        declared += [helper.make_tensor_value_info(f"flat{at}", code, [f"n{at}"])]
        declared += [helper.make_tensor_value_info(f"shape{at}", INT64, [f"r{at}"])]
        feeds |= {f"flat{at}": value.ravel(), f"shape{at}": i(list(value.shape))}
        nodes.append(helper.make_node("Reshape", [f"flat{at}", f"shape{at}"], [f"i{at}"]))
    results = [f"o{at}" for at in range(len(codes))]
    nodes.append(helper.make_node(op_type, names, results, name="it", **attributes))
    nodes.append(helper.make_node("Constant", [], ["all"], value=helper.make_tensor("", INT64, [1], [-1])))
    nodes += [helper.make_node("Reshape", [name, "all"], [f"{name}flat"]) for name in results]
    infos = [
        helper.make_tensor_value_info(f"{name}flat", code, [f"m{name}"])
        for name, code in zip(results, codes, strict=True)
    ]
    graph = helper.make_graph(nodes, "g", declared, infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), feeds


class Pair(NamedTuple):
    """Inputs that break the precondition `when`, inputs that just keep it, and what the node needs beside them.

    `near` are attributes of the second that differ from the first's.
    """

    when: str
    op_type: str
    broken: list[Any]
    kept: list[Any]
    codes: tuple[int, ...] = (FLOAT,)
    opset: int = 24
    attributes: Mapping[str, Any] = MappingProxyType({})
    near: Mapping[str, Any] | None = None


QUANTIZED = [u8(1, 1, 3, 3), a(1.0), a(1, "uint8"), u8(2, 1, 2, 2), a(1.0), a(1, "uint8"), a(1.0), a(1, "uint8")]
PAIR_OFF = [*QUANTIZED[:4], a([1.0, 1.0]), a(1, "uint8"), *QUANTIZED[6:]]
PAIR_ON = [*QUANTIZED[:4], a([1.0, 1.0]), a([1, 1], "uint8"), *QUANTIZED[6:]]
VECTOR_SCALE = [u8(1, 1, 3, 3), a([1.0]), a([1], "uint8"), *QUANTIZED[3:]]
ROWS = [u8(2, 3), ones(2, 1), u8(2, 1), u8(3, 2), a(1.0), a(1, "uint8"), a(1.0), a(1, "uint8")]
ROWS_OFF = [u8(2, 3), ones(2, 1), u8(), *ROWS[3:]]
CHANNELS = [f(1, 3, 2), ones(3), ones(3), ones(3), ones(3)]
RNN = {"hidden_size": 1}
TWO_LONG = [f(3, 2, 1), ones(1, 1, 1), ones(1, 1, 1)]
POOL = {"kernel_shape": [2]}
UPPER = {"auto_pad": "SAME_UPPER"}
LSTM = [f(3, 2, 1), ones(1, 4, 1), ones(1, 4, 1), None, None]

PAIRS = [
    Pair("not_scalar", "Range", [a([0]), a(3), a(1)], [a(0), a(3), a(1)]),
    Pair("not_scalar", "Range", [i([[0]]), i(3), i(1)], [i(0), i(3), i(1)], (INT64,)),
    Pair("not_scalar", "Clip", [f(2), a([1]), a(3)], [f(2), a(1), a(3)]),
    Pair("not_scalar", "Clip", [f(2), None, a([1, 0])], [f(2), None, a(1)]),
    Pair("not_scalar", "Trilu", [f(2, 2), i([1])], [f(2, 2), i(1)]),
    Pair("not_scalar", "Dropout", [f(2), a([0.0])], [f(2), a(0.0)]),
    Pair(
        "weights_unlike_hidden_size", "LSTM", [f(1, 2, 2), f(1, 1, 2), f(1, 1, 1)], [f(1, 2, 2), f(1, 4, 2), f(1, 4, 1)]
    ),
    Pair(
        "parameters_unlike_hidden_size",
        "LSTM",
        [f(3, 2, 1), ones(1, 8, 1), ones(1, 8, 2), None, None, None, None, ones(1, 3)],
        [f(3, 2, 1), ones(1, 8, 1), ones(1, 8, 2), None, None, None, None, ones(1, 6)],
        attributes={"hidden_size": 2},
    ),
    Pair(
        "parameters_unlike_hidden_size",
        "LSTM",
        [f(3, 2, 1), ones(1, 8, 1), ones(1, 8, 2), ones(1, 2)],
        [f(3, 2, 1), ones(1, 8, 1), ones(1, 8, 2), ones(1, 16)],
        attributes={"hidden_size": 2},
    ),
    Pair(
        "weights_unlike_kernel_shape",
        "DeformConv",
        [f(1, 1, 4, 4), ones(1, 1, 1, 2), f(1, 8, 3, 3)],
        [f(1, 1, 4, 4), ones(1, 1, 2, 2), f(1, 8, 3, 3)],
        attributes={"kernel_shape": [2, 2]},
    ),
    Pair(
        "parameters_unlike_hidden_size",
        "RNN",
        [f(3, 2, 1), ones(1, 2, 1), ones(1, 2, 2), ones(1, 2)],
        [f(3, 2, 1), ones(1, 2, 1), ones(1, 2, 2), ones(1, 4)],
        attributes={"hidden_size": 2},
    ),
    Pair(
        "not_scalar",
        "ConvInteger",
        [u8(1, 1, 3, 3), u8(2, 1, 2, 2), a([1], "uint8")],
        [u8(1, 1, 3, 3), u8(2, 1, 2, 2), a(1, "uint8")],
        (INT32,),
    ),
    Pair("not_scalar", "QLinearConv", VECTOR_SCALE, QUANTIZED, (UINT8,)),
    Pair("constant_is_not_one_element", "Pad", [f(2), i([1, 1]), a([5, 6])], [f(2), i([1, 1]), a([5])]),
    Pair("not_vector", "Unsqueeze", [f(3), i(0)], [f(3), i([0])]),
    Pair("not_vector", "Expand", [ones(1), i(2)], [ones(1), i([2])]),
    Pair("not_vector", "Slice", [f(3), i(0), i(1)], [f(3), i([0]), i([1])]),
    Pair("not_matrix", "Gemm", [f(2, 2, 2), f(2, 3)], [f(2, 2), f(2, 3)]),
    Pair("not_matrix", "Gemm", [f(2), f(2, 3)], [f(1, 2), f(2, 3)]),
    Pair("not_matrix", "EyeLike", [f(2)], [f(1, 2)]),
    Pair("below_rank_two", "Trilu", [f(3)], [f(1, 3)]),
    Pair("more_than_one_row", "StringNormalizer", [a([["a"], ["b"]], "O")], [a([["a", "b"]], "O")], (STRING,)),
    Pair("not_broadcastable_to_first", "LayerNormalization", [f(1, 3), ones(2, 3)], [f(2, 3), ones(1, 3)]),
    Pair("not_broadcastable_to_first", "RMSNormalization", [f(1, 3), ones(2, 3)], [f(2, 3), ones(3)]),
    Pair("not_broadcastable_to_first", "PRelu", [a([-1]), a([1, 2])], [a([-1, 1]), a([1])]),
    Pair("not_broadcastable_to_first", "PRelu", [a([-1]), a([[1]])], [a([[-1]]), a([1])]),
    Pair("not_one_per_channel", "BatchNormalization", [CHANNELS[0], *[ones(1)] * 4], CHANNELS),
    Pair("not_one_per_channel", "BatchNormalization", [f(1, 3, 2), ones(3, 1), *[ones(3)] * 3], [f(3), *[ones(1)] * 4]),
    Pair("not_one_per_channel", "InstanceNormalization", [f(1, 3, 2), *[ones(1)] * 2], [f(1, 3, 2), *[ones(3)] * 2]),
    Pair(
        "not_one_per_channel",
        "GroupNormalization",
        [f(1, 4, 2), *[ones(1)] * 2],
        [f(1, 4, 2), *[ones(4)] * 2],
        attributes={"num_groups": 2},
    ),
    Pair("bias_not_one_per_filter", "Conv", [f(1, 1, 3), f(2, 1, 2), ones(1)], [f(1, 1, 3), f(2, 1, 2), ones(2)]),
    Pair("bias_not_one_per_filter", "Conv", [f(1, 1, 3), f(1, 1, 2), ones(1, 1)], [f(1, 1, 3), f(1, 1, 2), ones(1)]),
    Pair(
        "bias_not_one_per_filter",
        "ConvTranspose",
        [f(1, 1, 3, 3), f(1, 2, 2, 2), ones(3)],
        [f(1, 1, 3, 3), f(1, 2, 2, 2), ones(2)],
    ),
    Pair(
        "boxes_of_wrong_shape",
        "NonMaxSuppression",
        [f(1, 1, 1), f(1, 1, 1), np.array([1]), f(1), f(1)],
        [f(1, 1, 4), f(1, 1, 1), np.array([1]), f(1), f(1)],
        (onnx.TensorProto.INT64,),
    ),
    Pair(
        "initial_state_of_wrong_shape",
        "RNN",
        [*TWO_LONG, None, None, ones(1, 1, 1)],
        [*TWO_LONG, None, None, ones(1, 2, 1)],
        (FLOAT, FLOAT),
        attributes=RNN,
    ),
    Pair(
        "initial_state_of_wrong_shape",
        "LSTM",
        [*LSTM, ones(1, 2, 1), ones(1, 1, 1)],
        [*LSTM, ones(1, 2, 1), ones(1, 2, 1)],
        (FLOAT, FLOAT),
        attributes=RNN,
    ),
    Pair("batch_unlike_size", "AffineGrid", [f(1, 2, 3), i([2, 1, 2, 2])], [f(2, 2, 3), i([2, 1, 2, 2])]),
    Pair("axis_beyond_rank", "Flatten", [f(2, 3)], [f(2, 3)], attributes={"axis": 3}, near={"axis": 2}),
    Pair("axis_beyond_rank", "Flatten", [f(2, 3)], [f(2, 3)], attributes={"axis": -3}, near={"axis": -2}),
    Pair(
        "axis_out_of_range",
        "LayerNormalization",
        [f(1, 3), ones(3)],
        [f(1, 3), ones(3)],
        attributes={"axis": 2},
        near={},
    ),
    Pair(
        "axis_out_of_range", "RMSNormalization", [f(1, 3), ones(3)], [f(1, 3), ones(3)], attributes={"axis": 7}, near={}
    ),
    Pair(
        "axis_beyond_new_rank",
        "OneHot",
        [i([0]), i(2), f(2)],
        [i([0]), i(2), f(2)],
        attributes={"axis": 2},
        near={"axis": 1},
    ),
    Pair("index_out_of_bounds", "GatherElements", [f(2, 3), i([[2, 0, 0]])], [f(2, 3), i([[1, -2, 0]])]),
    Pair("index_out_of_bounds", "GatherElements", [f(2, 3), i([[0, -3, 0]])], [f(2, 3), i([[0, -1, 0]])]),
    Pair("updates_unlike_indices", "ScatterElements", [f(3), i([0]), ones(2)], [f(3), i([0, 1]), ones(2)]),
    Pair(
        "updates_of_wrong_shape",
        "ScatterND",
        [f(3, 2), i([[0], [1]]), ones(2, 1)],
        [f(3, 2), i([[0], [1]]), ones(2, 2)],
    ),
    Pair("updates_of_wrong_shape", "ScatterND", [f(3), i([[0]]), ones(2)], [f(3), i([[0]]), ones(1)]),
    Pair("class_out_of_range", "NegativeLogLikelihoodLoss", [f(2, 3), i([-1, 0])], [f(2, 3), i([2, 0])]),
    Pair(
        "class_out_of_range",
        "SoftmaxCrossEntropyLoss",
        [f(2, 3), i([-1, 0])],
        [f(2, 3), i([-1, 0])],
        near={"ignore_index": -1},
    ),
    Pair(
        "image_out_of_range",
        "RoiAlign",
        [f(1, 1, 4, 4), a([[0, 0, 2, 2]]), i([-1])],
        [f(1, 1, 4, 4), a([[0, 0, 2, 2]]), i([0])],
    ),
    Pair(
        "index_is_negative",
        "MaxUnpool",
        [ones(1, 1, 1, 1), i([[[[-1]]]])],
        [ones(1, 1, 1, 1), i([[[[3]]]])],
        attributes={"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    Pair(
        "index_beyond_output",
        "MaxUnpool",
        [ones(1, 1, 1, 1), i([[[[0]]]]), i([0, 0, 0, 0])],
        [ones(1, 1, 1, 1), i([[[[0]]]]), i([1, 1, 1, 1])],
        attributes={"kernel_shape": [1, 1]},
    ),
    Pair("attention_sizes_differ", "Attention", [f(2, 1, 1, 2)] + [f(1, 1, 1, 2)] * 2, [f(2, 1, 1, 2)] * 3),
    Pair("slice_lengths_differ", "Slice", [f(2, 3), i([0, 0]), i([1]), i([0])], [f(2, 3), i([0]), i([1]), i([0])]),
    Pair("slice_lengths_differ", "Slice", [f(2, 3), i([0]), i([1, 1])], [f(2, 3), i([0]), i([1])]),
    Pair("not_one_per_dimension", "Tile", [f(2, 3), i([2])], [f(2, 3), i([1, 2])]),
    Pair("not_one_per_dimension", "Tile", [f(2), i(2)], [f(2), i([2])]),
    Pair("crop_unlike_axes", "CenterCropPad", [f(2, 3), i([2])], [f(2, 3), i([2])], near={"axes": [-1]}),
    Pair(
        "counts_unlike",
        "RoiAlign",
        [f(1, 1, 4, 4), a([[0, 0, 2, 2], [0, 0, 1, 1]]), i([0])],
        [f(1, 1, 4, 4), a([[0, 0, 2, 2], [0, 0, 1, 1]]), i([0, 0])],
    ),
    Pair("not_two_values", "OneHot", [i([0]), i(2), f(2, 1)], [i([0]), i(2), f(2)]),
    Pair(
        "weights_not_one_per_class",
        "NegativeLogLikelihoodLoss",
        [f(2, 3), i([1, 0]), ones(2)],
        [f(2, 3), i([1, 0]), ones(3)],
    ),
    Pair(
        "weights_not_one_per_class",
        "SoftmaxCrossEntropyLoss",
        [f(2, 3), i([1, 0]), ones(4)],
        [f(2, 3), i([1, 0]), ones(3)],
    ),
    Pair("not_one_positive_number", "TopK", [f(3), i([2, 1])], [f(3), i([2])], (FLOAT, INT64)),
    Pair("not_one_positive_number", "TopK", [f(3), i([0])], [f(3), i([1])], (FLOAT, INT64)),
    Pair("parts_do_not_sum_up", "Split", [f(5), i([2, 2])], [f(5), i([2, 3])], (FLOAT, FLOAT)),
    Pair("parts_do_not_sum_up", "Split", [f(5), i([6, -1])], [f(5), i([5, 0])], (FLOAT, FLOAT)),
    Pair(
        "parts_given_twice",
        "Split",
        [f(2), i([1, 1])],
        [f(2), i([1, 1])],
        (FLOAT, FLOAT),
        attributes={"num_outputs": 2},
        near={},
    ),
    Pair("size_below_minus_one", "Reshape", [f(6), i([-2, 3])], [f(6), i([-1, 3])]),
    Pair(
        "lengths_not_one_per_sequence",
        "ReverseSequence",
        [f(3, 2), i([1])],
        [f(3, 2), i([1, 1])],
        attributes={"batch_axis": 1, "time_axis": 0},
    ),
    Pair(
        "lengths_not_one_per_sequence",
        "RNN",
        [*TWO_LONG, None, a([3], "int32")],
        [*TWO_LONG, None, a([3, 3], "int32")],
        (FLOAT, FLOAT),
        attributes=RNN,
    ),
    Pair("length_beyond_sequence", "ReverseSequence", [f(3, 2), i([4, 1])], [f(3, 2), i([3, 0])]),
    Pair(
        "length_beyond_sequence",
        "ReverseSequence",
        [f(2, 3), i([1, -1])],
        [f(2, 3), i([1, 3])],
        attributes={"batch_axis": 0, "time_axis": 1},
    ),
    Pair(
        "length_beyond_sequence",
        "RNN",
        [*TWO_LONG, None, a([4, 3], "int32")],
        [*TWO_LONG, None, a([3, 3], "int32")],
        (FLOAT, FLOAT),
        attributes=RNN,
    ),
    Pair("window_unlike_frame", "STFT", [f(1, 8, 1), i(2), ones(3), i(4)], [f(1, 8, 1), i(2), ones(4), i(4)]),
    Pair(
        "pads_beside_auto_pad",
        "Conv",
        [f(1, 1, 5), f(1, 1, 3)],
        [f(1, 1, 5), f(1, 1, 3)],
        attributes={**UPPER, "pads": [1, 1]},
        near={**UPPER, "pads": [0, 0]},
    ),
    Pair(
        "pads_beside_auto_pad",
        "AveragePool",
        [f(1, 1, 5)],
        [f(1, 1, 5)],
        attributes={**POOL, **UPPER, "pads": [1, 1]},
        near={**POOL, "pads": [1, 1]},
    ),
    Pair(
        "padding_is_negative",
        "MaxPool",
        [f(1, 1, 5)],
        [f(1, 1, 5)],
        attributes={**POOL, "pads": [-1, 0]},
        near=POOL,
    ),
    Pair(
        "pads_of_wrong_length",
        "Conv",
        [f(1, 1, 5), f(1, 1, 3)],
        [f(1, 1, 5), f(1, 1, 3)],
        attributes={"pads": [1, 1, 1, 1]},
        near={"pads": [1, 1]},
    ),
    Pair("scale_not_positive", "Resize", [f(2), None, a([0])], [f(2), None, a([0.5])]),
    Pair("scale_below_one", "Upsample", [f(2), a([0])], [f(2), a([2])], opset=9),
    Pair("both_given", "Resize", [f(2), None, a([2]), i([4])], [f(2), None, None, i([4])]),
    Pair("zero_point_unlike_scale", "DequantizeLinear", [u8(2, 3), ones(3), a(1, "uint8")], [u8(2, 3), ones(3), u8(3)]),
    Pair("zero_point_unlike_scale", "QuantizeLinear", [f(2, 3), ones(3), u8()], [f(2, 3), a(1.0), u8(1)], (UINT8,)),
    Pair("zero_point_unlike_scale", "QLinearConv", PAIR_OFF, PAIR_ON, (UINT8,)),
    Pair("zero_point_unlike_scale", "QLinearMatMul", ROWS_OFF, ROWS, (UINT8,)),
    Pair(
        "blocks_do_not_fill_axis",
        "QuantizeLinear",
        [f(3, 2), ones(3, 2)],
        [f(3, 2), ones(3, 1)],
        (UINT8,),
        attributes={"block_size": 2},
    ),
    Pair(
        "blocks_do_not_fill_axis",
        "DequantizeLinear",
        [u8(4, 2), ones(4, 2)],
        [u8(4, 2), ones(2, 2)],
        attributes={"block_size": 2, "axis": 0},
    ),
    Pair("scale_not_as_long_as_axis", "QuantizeLinear", [f(2, 3), ones(1)], [f(2, 1), ones(1)], (UINT8,)),
    Pair("scale_not_as_long_as_axis", "DequantizeLinear", [u8(2, 3), ones(1)], [u8(2, 3), a(1.0)]),
    Pair(
        "row_zero_point_of_wrong_length",
        "MatMulInteger",
        [u8(2, 3), u8(3, 4), u8(3)],
        [u8(2, 3), u8(3, 4), u8(1)],
        (INT32,),
    ),
    Pair("ratio_out_of_range", "Dropout", [f(2), a(2.0)], [f(2), a(0.9)]),
    Pair(
        "threshold_out_of_range",
        "NonMaxSuppression",
        [f(1, 2, 4), f(1, 1, 2), i([1]), a([5.0]), a([0.0])],
        [f(1, 2, 4), f(1, 1, 2), i([1]), a([1.0]), a([0.0])],
        (INT64,),
    ),
    Pair(
        "float_modulo_of_integers", "Mod", [a([5]), a([3])], [a([5]), a([3])], attributes={"fmod": 0}, near={"fmod": 1}
    ),
    Pair("order_neither_one_nor_two", "LpNormalization", [f(2, 3)], [f(2, 3)], attributes={"p": 3}, near={"p": 1}),
    Pair("one_sided_of_complex", "DFT", [f(1, 4, 2), None, i(1)], [f(1, 4, 1), None, i(1)], attributes={"onesided": 1}),
]


def judged(pair: Pair, inputs: list[Any], attributes: Mapping[str, Any]) -> Any:
    """The violation in a model that onnx.checker, strict shape inference and the evaluator accept."""
    model, feeds = hidden(pair.op_type, inputs, pair.opset, list(pair.codes), attributes)
    onnx.checker.check_model(model, full_check=True)
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    return violation("onnx", model.SerializeToString(), {**values, **feeds})


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.op_type}-{pair.when}")
def test_a_broken_precondition_is_seen_where_checker_and_evaluator_see_none(pair: Pair) -> None:
    found = judged(pair, pair.broken, pair.attributes)
    assert found is not None
    wanted = [rule.reason for rule in rules() if rule.when == pair.when and pair.op_type in rule.operators]
    assert (found.operator, found.node_name, found.kind) == (pair.op_type, "it", Kind.VIOLATION)
    assert found.reason in wanted


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.op_type}-{pair.when}")
def test_the_nearest_model_that_keeps_the_precondition_is_valid(pair: Pair) -> None:
    assert judged(pair, pair.kept, pair.attributes if pair.near is None else pair.near) is None


# ---------------------------------------------------------------- sequences and declarations


def info(name: str, code: int, shape: list[Any] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, code, shape)


def found_in(nodes: list[Any], inputs: list[Any], outputs: list[Any], feeds: dict[str, Any], opset: int = 24) -> Any:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    return violation("onnx", model.SerializeToString(), {**values, **feeds})


@pytest.mark.parametrize(
    ("position", "when"),
    [
        (i(2), "insert_position_out_of_bounds"),
        (i(-2), "insert_position_out_of_bounds"),
        (i([0]), ""),
        (i(1), ""),
        (i(-1), ""),
    ],
)
def test_inserting_into_a_sequence_beyond_its_ends_is_a_violation(position: np.ndarray, when: str) -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["x"], ["s"]),
        helper.make_node("Reshape", ["flat", "shape"], ["p"]),
        helper.make_node("SequenceInsert", ["s", "x", "p"], ["t"]),
        helper.make_node("SequenceLength", ["t"], ["n"]),
    ]
    inputs = [info("x", FLOAT, [1]), info("flat", INT64, ["a"]), info("shape", INT64, ["b"])]
    feeds = {"x": f(1), "flat": position.ravel(), "shape": i(list(position.shape))}
    found = found_in(nodes, inputs, [info("n", INT64, [])], feeds)
    assert [rule.when for rule in rules() if found and rule.reason == found.reason] == ([when] if when else [])


@pytest.mark.parametrize(("parts", "broken"), [([1, 4], True), ([3, -1], True), ([1, 1], False), ([2, 0], False)])
def test_a_sequence_is_split_into_parts_that_add_up(parts: list[int], broken: bool) -> None:
    nodes = [helper.make_node("SplitToSequence", ["x", "p"], ["t"]), helper.make_node("SequenceLength", ["t"], ["n"])]
    inputs = [info("x", FLOAT, ["q"]), info("p", INT64, ["a"])]
    found = found_in(nodes, inputs, [info("n", INT64, [])], {"x": f(2), "p": i(parts)})
    assert (found is not None) is broken


@pytest.mark.parametrize(("size", "broken"), [(3, True), (2, False), ("n", False)])
def test_an_input_must_have_the_shape_that_the_model_declares(size: Any, broken: bool) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    found = found_in([node], [info("x", FLOAT, [size])], [info("y", FLOAT, [size])], {"x": f(2)})
    assert (found is not None) is broken
    assert found is None or (found.operator, found.node_name) == (DECLARATION, "x")


def test_an_input_of_another_rank_than_declared_is_a_violation() -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    assert found_in([node], [info("x", FLOAT, ["n"])], [info("y", FLOAT, ["n"])], {"x": f(2, 2)})


@pytest.mark.parametrize(
    ("value", "broken"),
    [(f(2), False), (np.zeros(2), True), (i([1, 2]), True), (np.array(["a", "b"], object), True)],
    ids=["as declared", "double", "whole numbers", "text"],
)
def test_an_input_of_another_type_than_declared_is_a_violation(value: np.ndarray, broken: bool) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 24]> g (float[n] x) => (float[n] y) { y = Relu(x) }'
    )
    found = violation("onnx", model.SerializeToString(), {"x": value})
    assert (found is not None) is broken
    assert found is None or (found.operator, found.node_name) == (DECLARATION, "x")


def test_text_is_declared_as_text() -> None:
    text = '<ir_version: 10, opset_import: ["": 24]> g (string[n] x) => (string[n] y) { y = Identity(x) }'
    data = onnx.parser.parse_model(text).SerializeToString()
    assert violation("onnx", data, {"x": np.array(["a"], object)}) is None
    assert violation("onnx", data, {"x": np.array(["a"])}) is None
    assert violation("onnx", data, {"x": f(2)}) is not None


@pytest.mark.parametrize(("second", "broken"), [("n", True), ("m", False)])
def test_one_symbolic_size_that_would_be_two_numbers_is_a_violation(second: str, broken: bool) -> None:
    node = helper.make_node("Add", ["x", "y"], ["z"])
    declared = [info("x", FLOAT, ["n", 3]), info("y", FLOAT, [second, 3])]
    found = found_in([node], declared, [info("z", FLOAT, ["k", 3])], {"x": f(2, 3), "y": f(1, 3)})
    assert (found is not None) is broken


# ---------------------------------------------------------------- where it is looked for


def test_every_precondition_is_tested_here() -> None:
    elsewhere = {
        (DECLARATION, "shape_contradicts_declaration"),
        (DECLARATION, "type_contradicts_declaration"),
        (DECLARATION, "variable_stands_for_two_sizes"),
        ("PRelu", "neither_one_nor_one_per_channel"),
        ("SequenceInsert", "insert_position_out_of_bounds"),
        ("SplitToSequence", "parts_do_not_sum_up"),
        ("RNN", "weights_unlike_hidden_size"),  # tests/fuzz/oracles/test_undefined.py
        ("GRU", "weights_unlike_hidden_size"),
        ("LSTM", "weights_unlike_hidden_size"),
        ("SequenceInsert", "not_one_element"),  # fires only where the evaluator refuses as well
    }
    tested = {(pair.op_type, pair.when) for pair in PAIRS} | elsewhere
    for rule in rules():
        if rule.kind is Kind.VIOLATION and rule.library == "onnx":  # of calls: tests/fuzz/oracles/test_undefined.py
            assert any((operator, rule.when) in tested for operator in rule.operators), rule


def split_of_five(parts: str) -> Any:
    return helper.make_node("Split", ["x", parts], ["a", "b"], axis=0)


SPLIT_INPUTS = [info("x", FLOAT, ["n"]), info("p", INT64, ["m"])]


def test_a_violation_counts_although_it_reaches_no_output() -> None:
    relu = helper.make_node("Relu", ["x"], ["y"])
    feeds = {"x": f(5), "p": i([1, 1])}
    assert found_in([split_of_five("p"), relu], SPLIT_INPUTS, [info("y", FLOAT, ["n"])], feeds) is not None


def test_a_branch_that_may_not_run_is_not_objected_to() -> None:
    good = helper.make_graph([helper.make_node("Relu", ["x"], ["y1"])], "good", [], [info("y1", FLOAT, None)])
    bad_nodes = [split_of_five("p"), helper.make_node("Concat", ["a", "b"], ["y2"], axis=0)]
    bad = helper.make_graph(bad_nodes, "bad", [], [info("y2", FLOAT, None)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=good, else_branch=bad)
    inputs = [*SPLIT_INPUTS, info("c", TensorProto.BOOL, [])]
    feeds = {"x": f(5), "p": i([1, 1]), "c": np.array(True)}
    assert found_in([node], inputs, [info("y", FLOAT, ["n"])], feeds) is None


def test_what_is_not_known_breaks_nothing() -> None:
    graph = helper.make_graph([split_of_five("p")], "g", SPLIT_INPUTS, [info("a", FLOAT, None), info("b", FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10).SerializeToString()
    assert violation("onnx", model, {}) is None
    assert violation("onnx", model, {"p": i([1, 1])}) is None
    assert violation("onnx", model, {"p": i([1, 1]), "x": f(5)}) is not None


def test_an_invalid_model_is_not_taken_for_an_open_value() -> None:
    model, feeds = hidden("Tile", [f(2, 3), i([2])], 24, [FLOAT], {})
    values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    assert screen("onnx", model.SerializeToString(), {**values, **feeds}) is None


def test_float_modulo_is_defined_from_opset_28_on() -> None:
    node = helper.make_node("Mod", ["x", "x"], ["y"], fmod=0)
    declared = [info("x", FLOAT, [2])], [info("y", FLOAT, [2])]
    assert found_in([node], *declared, {"x": ones(2)}, opset=27) is not None
    assert found_in([node], *declared, {"x": ones(2)}, opset=28) is None


@pytest.mark.parametrize(
    ("data", "slope", "broken"),
    [(f(3, 2), f(3), True), (f(2, 3), f(3), False), (f(2, 3), ones(1), False), (f(3), f(3), False)],
)
def test_an_old_slope_has_one_number_or_one_for_each_channel(data: np.ndarray, slope: np.ndarray, broken: bool) -> None:
    """The evaluator broadcasts it along the first axis that is as long."""
    node = helper.make_node("PRelu", ["x", "slope"], ["y"])
    declared = [info("x", FLOAT, data.shape), info("slope", FLOAT, slope.shape)], [info("y", FLOAT, data.shape)]
    model = helper.make_model(helper.make_graph([node], "g", *declared), opset_imports=[helper.make_opsetid("", 6)])
    found = violation("onnx", model.SerializeToString(), {"x": data, "slope": slope})
    assert (found is not None) == broken


def test_a_senseless_attribute_ends_nothing():
    inputs = [f(3, 2), i([3, 3])]
    model, feeds = hidden("ReverseSequence", inputs, 10, [FLOAT], {"batch_axis": 1, "time_axis": 0})
    for attribute in model.graph.node[2].attribute:
        attribute.i = 7
    assert violation("onnx", model.SerializeToString(), {**feeds, "i0": inputs[0], "i1": inputs[1]}) is None
