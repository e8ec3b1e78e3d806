"""Models, inputs and instances written as code define what they were written from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from fuzz.wire import Raw, Value
from triage.construct import MOST_LINES, case_code, construction_code, normalise, values_code
from triage.layout import WIDTH, assemble

FLOAT = TensorProto.FLOAT


def executed(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "generated", "exec"), names)
    return names


def rebuilt(model: onnx.ModelProto) -> onnx.ModelProto:
    return normalise(executed(construction_code(model))["model"])


def tensor_info(name: str, shape: list[int | str | None] | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOAT, shape)


def model_of(*nodes: onnx.NodeProto, **graph: Any) -> onnx.ModelProto:
    given = {"inputs": [tensor_info("x", [2])], "outputs": [tensor_info("y", [2])], **graph}
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("my.domain", 1)]
    return helper.make_model(helper.make_graph(list(nodes), "g", **given), opset_imports=opsets, ir_version=10)


def relu() -> onnx.NodeProto:
    return helper.make_node("Relu", ["x"], ["y"])


def assert_same_values(found: Mapping[str, Value], given: Mapping[str, Value]) -> None:
    assert list(found) == list(given)
    for name in given:
        assert_same_value(found[name], given[name])


def assert_same_value(found: Value, given: Value) -> None:
    if isinstance(given, list):
        assert isinstance(found, list) and len(found) == len(given)
        for one, two in zip(found, given, strict=True):
            assert_same_value(one, two)
    elif isinstance(given, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.shape) == (given.dtype, given.shape)
        same = found.tolist() == given.tolist() if given.dtype.kind == "O" else found.tobytes() == given.tobytes()
        assert same and found.flags.writeable
    else:
        assert found is None and given is None


# ---------------------------------------------------------------- models


def test_every_node_test_model_is_rebuilt_by_its_code() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        tests = collect_testcases(None)
    assert len(tests) >= 1800
    wrong = [test.name for test in tests if rebuilt(test.model) != normalise(test.model)]
    assert wrong == []


def test_a_single_node_model_reads_like_hand_written_code() -> None:
    node = helper.make_node("Gather", ["data", "indices"], ["out"], axis=-1)
    inputs = [tensor_info("data", [2, "N"]), helper.make_tensor_value_info("indices", TensorProto.INT64, [])]
    model = model_of(node, inputs=inputs, outputs=[tensor_info("out", [2, None])])
    assert construction_code(model) == (
        "from onnx import TensorProto, helper\n\n"
        'node = helper.make_node("Gather", ["data", "indices"], ["out"], axis=-1)\n'
        "graph = helper.make_graph(\n"
        '    [node], "g",\n'
        "    inputs=[\n"
        '        helper.make_tensor_value_info("data", TensorProto.FLOAT, [2, "N"]),\n'
        '        helper.make_tensor_value_info("indices", TensorProto.INT64, []),\n'
        "    ],\n"
        '    outputs=[helper.make_tensor_value_info("out", TensorProto.FLOAT, [2, None])],\n'
        ")\n"
        "model = helper.make_model(\n"
        '    graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("my.domain", 1)], ir_version=10\n'
        ")\n"
    )


def declared(values: dict[str, Any], shapes: list[list[int | str]], dtype: int = TensorProto.FLOAT) -> str:
    """The code of a case whose graph declares these shapes, checked to define the same model and inputs."""
    infos = [helper.make_tensor_value_info(name, dtype, shape) for name, shape in zip(values, shapes, strict=True)]
    model = model_of(helper.make_node("Sum", list(values), ["out"]), inputs=infos, outputs=[tensor_info("out", [2])])
    code = assemble(case_code(model.SerializeToString(), values))
    names = executed(code)
    assert normalise(names["model"]) == normalise(model)
    assert {name: value.tobytes() for name, value in names["inputs"].items()} == {
        name: value.tobytes() for name, value in values.items()
    }
    return code


def test_inputs_are_declared_by_their_values_where_that_says_the_same() -> None:
    x, y = np.array([1.0, 2.0], np.float32), np.array([3.0, 4.0], np.float32)
    assert "for k, v in inputs.items()" in declared({"a": x, "b": y}, [[2], [2]])
    assert "for k, v in inputs.items()" not in declared({"a": x}, [[2]])
    assert "for k, v in inputs.items()" not in declared({"a": x, "b": y}, [[2], ["N"]])
    assert "for k, v in inputs.items()" not in declared({"a": x, "b": y}, [[2], [1]])
    assert "for k, v in inputs.items()" not in declared({"a": x, "b": y}, [[2], [2]], TensorProto.DOUBLE)


def returning(outputs: list[onnx.ValueInfoProto]) -> str:
    """The code of a BatchNormalization that returns these, checked to define the same model."""
    node = helper.make_node("BatchNormalization", list("xsbmv"), [info.name for info in outputs], training_mode=1)
    inputs = [tensor_info("x", [2, 2]), *(tensor_info(name, [2]) for name in "sbmv")]
    model = model_of(node, inputs=inputs, outputs=outputs)
    assert rebuilt(model) == normalise(model)
    return construction_code(model)


def test_many_outputs_of_one_type_are_declared_in_one_line() -> None:
    infos = [tensor_info("y", [2, 2]), tensor_info("mean", ["N"]), tensor_info("var", [None])]
    assert 'for k, s in zip(node.output, [[2, 2], ["N"], [None]])\n' in returning(infos)
    assert "zip(" not in returning(infos[:2])
    other = helper.make_tensor_value_info("mean", TensorProto.DOUBLE, [2])
    assert "zip(" not in returning([infos[0], other, infos[2]])


def test_many_inputs_of_one_value_are_one_entry() -> None:
    pair = np.array([1, 2], np.float32)
    given = {"x": np.ones((2, 2), np.float32), "s": pair, "b": pair, "m": pair, "v": np.zeros(2, np.float32)}
    code = values_code(given)
    assert '    **dict.fromkeys(["s", "b", "m"], np.array([1.0, 2.0], dtype=np.float32)),\n' in code
    assert_same_values(executed(code)["inputs"], given)
    assert "fromkeys" not in values_code({"s": pair, "b": pair, "m": -pair})


def test_tensors_that_differ_in_their_names_alone_are_one_line() -> None:
    names = ["s", "b", "mean", "var"]
    node = helper.make_node("BatchNormalization", ["x", *names], ["y"])
    ones = [numpy_helper.from_array(np.ones(2, np.float32), name) for name in names]
    model = model_of(node, initializer=ones)
    assert rebuilt(model) == normalise(model)
    assert 'for k in ["s", "b", "mean", "var"]' in construction_code(model)
    for other in (np.ones(2), np.float32([1, 2])):
        mixed = model_of(node, initializer=[*ones[:3], numpy_helper.from_array(other, "var")])
        assert rebuilt(mixed) == normalise(mixed) and " for k in " not in construction_code(mixed)


def test_the_arguments_of_a_long_node_stand_beside_each_other() -> None:
    names = [f"input_{at}" for at in range(5)]
    node = helper.make_node("BatchNormalization", names, ["output", "running_mean", "running_var"], training_mode=1)
    code = construction_code(model_of(node, inputs=[tensor_info(name) for name in names]))
    line = '    "BatchNormalization", ["input_0", "input_1", "input_2", "input_3", "input_4"],\n'
    assert (
        f'node = helper.make_node(\n{line}    ["output", "running_mean", "running_var"], training_mode=1,\n)\n' in code
    )


def test_types_are_named_in_attributes_that_hold_one() -> None:
    model = model_of(helper.make_node("Cast", ["data"], ["out"], to=TensorProto.FLOAT8E4M3FN, saturate=1))
    assert "saturate=1, to=TensorProto.FLOAT8E4M3FN)" in construction_code(model)


@pytest.mark.parametrize("data_type", [number for number in TensorProto.DataType.values() if number])
@pytest.mark.parametrize("raw", [True, False])
def test_an_initializer_of_any_dtype_keeps_its_values_and_its_field(data_type: int, raw: bool) -> None:
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    if data_type == TensorProto.STRING:
        array = np.array(["a", "ü\n\"'", ""], dtype=object)
    else:
        array = np.array([0, 1, 1], dtype=np.float32).astype(dtype)
    typed = helper.make_tensor("c", data_type, [3], array if data_type != TensorProto.STRING else list(array))
    tensor = numpy_helper.from_array(array, "c") if raw else typed
    model = model_of(relu(), initializer=[tensor])
    code = construction_code(model)
    assert rebuilt(model) == normalise(model)
    assert "FromString" not in code and "load_model_from_string" not in code


WEIRD = ['"', "'", "\n", "\\", "a'\"b", "ü€ 名", "{x}", "x\u202ey", "end", "", "'''", "<!-- x -->"]


@pytest.mark.parametrize("name", WEIRD)
def test_a_weird_name_survives(name: str) -> None:
    node = helper.make_node("Relu", [name], ["y"], name=name, domain=name)
    model = model_of(node, inputs=[tensor_info(name, [name or None])])
    assert rebuilt(model) == normalise(model)
    assert "<!--" not in construction_code(model)


@pytest.mark.parametrize("key", ["name", "inputs", "class", "no identifier", "ﬁne", "__x", "op_type"])
def test_an_attribute_name_that_is_no_keyword_argument_survives(key: str) -> None:
    node = relu()
    node.attribute.append(helper.make_attribute(key, 3))
    assert rebuilt(model_of(node)) == normalise(model_of(node))


@pytest.mark.parametrize(
    "value",
    [0.1, -0.0, float("inf"), float("nan"), 1e-45, 3, [1.0, 2.0], b"\xff\x00", "ü", ["a", b"\xff"], [1, -(2**63)]],
)
def test_an_attribute_keeps_its_value_and_type(value: Any) -> None:
    model = model_of(helper.make_node("Op", ["x"], ["y"], domain="my.domain", alpha=value))
    assert rebuilt(model).SerializeToString() == normalise(model).SerializeToString()


def test_an_empty_list_attribute_keeps_its_type() -> None:
    node = relu()
    node.attribute.append(helper.make_attribute("axes", [], attr_type=AttributeProto.FLOATS))
    assert rebuilt(model_of(node)) == normalise(model_of(node))


def test_a_duplicate_attribute_stays_a_duplicate() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], axis=1)
    node.attribute.append(helper.make_attribute("axis", 2))
    assert rebuilt(model_of(node)) == normalise(model_of(node))


def test_functions_with_attribute_references_survive() -> None:
    inner = helper.make_node("Elu", ["a"], ["b"])
    inner.attribute.append(helper.make_attribute_ref("alpha", AttributeProto.FLOAT, ref_attr_name="slope"))
    function = helper.make_function(
        "my.domain", "F", ["a"], ["b"], [inner], [helper.make_opsetid("", 21)], ["slope"], overload="two"
    )
    function.attribute_proto.append(helper.make_attribute("beta", 0.5))
    model = model_of(helper.make_node("F", ["x"], ["y"], domain="my.domain", overload="two", slope=1.5))
    model.functions.append(function)
    assert rebuilt(model) == normalise(model)
    assert "make_function" in construction_code(model)


def test_every_kind_of_type_survives() -> None:
    tensor = helper.make_tensor_type_proto(FLOAT, [1, None])
    kinds = [
        helper.make_sequence_type_proto(tensor),
        helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)),
        helper.make_map_type_proto(TensorProto.STRING, tensor),
        helper.make_sparse_tensor_type_proto(TensorProto.INT4, None),
        onnx.TypeProto(),
    ]
    infos = [helper.make_value_info(f"v{at}", kind) for at, kind in enumerate(kinds)]
    model = model_of(relu(), inputs=[*infos, helper.make_empty_tensor_value_info("bare"), tensor_info("x")])
    assert rebuilt(model) == normalise(model)
    assert "load_model_from_string" not in construction_code(model)


def test_sparse_initializers_and_subgraphs_survive() -> None:
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([1.0], np.float32), "s"), numpy_helper.from_array(np.array([2])), [4]
    )
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["z"])], "b", [], [tensor_info("z")])
    outer = helper.make_graph([helper.make_node("If", ["c"], ["w"], then_branch=body, else_branch=body)], "o", [], [])
    node = helper.make_node("If", ["c"], ["y"], then_branch=outer, else_branch=body)
    model = model_of(node, sparse_initializer=[sparse])
    assert rebuilt(model) == normalise(model)


def test_what_the_helpers_cannot_say_is_packed_and_kept() -> None:
    model = model_of(relu())
    model.graph.quantization_annotation.add().tensor_name = "x"
    untyped = model_of(relu())
    untyped.graph.node[0].attribute.add().name = "of no type"
    for one in (model, untyped):
        assert "load_model_from_string" in construction_code(one)
        assert rebuilt(one) == normalise(one)


@pytest.mark.parametrize("damage", ["raw_data", "dims", "data_type", "string"])
def test_a_damaged_tensor_stays_damaged_in_the_same_way(damage: str) -> None:
    tensor = numpy_helper.from_array(np.arange(4, dtype=np.float32), "c")
    if damage == "raw_data":
        tensor.raw_data = b"abc"
    elif damage == "dims":
        tensor.dims[0] = -7
    elif damage == "data_type":
        tensor.data_type = 99
    else:
        tensor = helper.make_tensor("c", TensorProto.STRING, [1], ["a"])
        tensor.string_data[0] = b"nul at the end\x00"
    model = model_of(relu(), initializer=[tensor])
    assert rebuilt(model) == normalise(model)


def test_a_large_initializer_is_short_and_exact() -> None:
    rng = np.random.default_rng(0)
    arrays = [np.zeros((64, 64), np.float32), np.arange(500).reshape(20, 25), rng.standard_normal(200)]
    model = model_of(relu(), initializer=[numpy_helper.from_array(array, f"c{at}") for at, array in enumerate(arrays)])
    code = construction_code(model)
    assert rebuilt(model) == normalise(model)
    assert "np.full((64, 64), 0.0" in code and "np.arange(500" in code and "base64" in code


def test_a_long_model_is_packed_below_a_sketch_of_its_nodes() -> None:
    names = ["x", *(f"t\n{at}" for at in range(150)), "y"]
    model = model_of(*(helper.make_node("Relu", [one], [two]) for one, two in pairwise(names)))
    code = construction_code(model)
    assert rebuilt(model) == normalise(model)
    assert code.count("\n") < MOST_LINES and "#   t?0 = Relu(x)" in code and "more nodes" in code


def test_lines_are_short() -> None:
    names = [f"a_rather_long_name_{at}" for at in range(20)]
    model = model_of(helper.make_node("Concat", names, ["y"], axis=0), inputs=[tensor_info(name) for name in names])
    assert max(map(len, construction_code(model).splitlines())) <= WIDTH


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    "value",
    [
        np.array([0.1, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, 3.4028235e38], np.float32),
        np.array([0.1, 5e-324, 1 / 3], np.float64),
        np.array([1e-7, 65504, 0.1], np.float16),
        np.array([1 + 2j, complex(-0.0, np.nan), complex(np.inf, -0.0)], np.complex64),
        np.array([True, False]),
        np.array([-(2**63), 2**63 - 1]),
        np.array([2**64 - 1], np.uint64),
        np.array(3.5, np.float32),
        np.zeros((0, 3), np.int8),
        np.zeros((), np.bool_),
        np.array([["a", "ü\n"], ["", '"']], dtype=object),
        np.arange(0, 48, dtype=np.int32).reshape(2, 3, 8),
        np.arange(10, 40, 3).astype(np.float64),
        np.arange(40, 10, -2),
        np.full((3, 7), -0.0, np.float32),
        np.array([0x7FC00001, 0x7F800001], np.uint32).view(np.float32),  # payloads that no literal has
        np.resize(np.arange(1, 10, dtype=np.float32), (1, 12, 3)),
        np.resize(np.array([0, -0.0, 1], np.float32), (2, 12, 2)),
        np.resize(np.array([0, 1, 1, 3, 0.5], np.float16), (12, 4)),
        np.resize(np.array([0, np.nan], np.float32), (12, 4)),
        np.where(np.arange(99) == 98, -np.inf, -0.0),
        np.where(np.arange(99) == 0, 2**63 - 1, 3),
        np.where(np.arange(99) == 1, np.nan, 1).astype(np.float16),
        np.random.default_rng(1).standard_normal((5, 9, 3)).astype(np.float32),
        np.random.default_rng(1).standard_normal((2, 4)).astype(ml_dtypes.bfloat16),
        np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn),
        np.arange(6).astype(ml_dtypes.int4).reshape(2, 3),
        [np.array([1.5], np.float32), np.zeros((0,), np.float32)],
        [],
        [None, [np.array([1])]],
        None,
    ],
)
def test_a_value_is_rebuilt_bit_for_bit(value: Value) -> None:
    given = {'odd "name"\n': value}
    assert_same_values(executed(values_code(given))["inputs"], given)


def test_a_raw_tensor_is_written_with_ml_dtypes() -> None:
    raw = Raw("bfloat16", (2,), np.array([1.0, 2.5], ml_dtypes.bfloat16).tobytes())
    code = values_code({"x": raw})
    assert "import ml_dtypes" in code
    assert_same_value(executed(code)["inputs"]["x"], np.array([1.0, 2.5], ml_dtypes.bfloat16))


def test_short_numbers_are_written_shortly() -> None:
    code = values_code({"x": np.array([0.1, 2], np.float32)})
    assert 'inputs = {"x": np.array([0.1, 2.0], dtype=np.float32)}' in code


def test_many_rows_of_numbers_are_written_without_a_line_for_each() -> None:
    rows = np.array([0, 1, 1, 0, 0, 0, 2, 0, 1, 1, 3, 4, 0], np.float32)
    code = values_code({"W": np.resize(rows, 24).reshape(1, 12, 2)})
    assert code.count("\n") < 12, code
    assert "[0, 1, 1, 0, 0, 0, 2, 0, 1, 1" in code and ".reshape((1, 12, 2))" in code


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (
            np.resize(np.array([0, 0, 0, 0, 0, 1, 1, 1, 1], np.float32), (1, 12, 3)),
            "np.resize(np.array([0, 0, 0, 0, 0, 1, 1, 1, 1], dtype=np.float32), (1, 12, 3))",
        ),
        (np.resize(np.array([True, False]), (9, 9)), "np.resize(np.array([True, False], dtype=np.bool_), (9, 9))"),
        (
            np.where(np.arange(100) == 17, np.inf, 0).astype(np.float32).reshape(10, 10),
            "np.where(np.arange(100) == 17, np.inf, 0.0).astype(np.float32).reshape((10, 10))",
        ),
        (
            np.random.default_rng(0).standard_normal((5, 20)).round(3).astype(np.float32),
            "np.random.default_rng(0).standard_normal((5, 20)).round(3).astype(np.float32)",
        ),
        (
            np.random.default_rng(0).uniform(0, 1, (5, 20)).round(3),
            "np.random.default_rng(0).uniform(0, 1, (5, 20)).round(3).astype(np.float64)",
        ),
    ],
)
def test_many_numbers_with_a_short_way_to_make_them_are_made_so(value: np.ndarray[Any, Any], written: str) -> None:
    code = values_code({"W": value})
    assert f'inputs = {{"W": {written}}}' in code
    assert_same_values(executed(code)["inputs"], {"W": value})


def test_numbers_that_come_again_and_again_are_counted_once() -> None:
    code = values_code({"R": np.resize(np.arange(1, 10, dtype=np.float32), (1, 12, 3))})
    assert 'inputs = {"R": np.resize(np.arange(1, 10, dtype=np.float32), (1, 12, 3))}' in code


def test_rows_of_rows_that_take_many_lines_are_one_row_with_a_shape() -> None:
    """Expected results of recurrent operators took nine lines of a script."""
    numbers = np.array([0.73333, 0.76111645, 0.7384927, 0.76120585], np.float32).repeat(3).reshape(1, 2, 2, 3)
    code = values_code({"x": numbers})
    assert ".reshape((1, 2, 2, 3))" in code and len(code.splitlines()) <= 8
    np.testing.assert_array_equal(executed(code)["inputs"]["x"], numbers)


def test_few_rows_stay_rows() -> None:
    code = values_code({"x": np.array([[[1, 2], [3, 4]], [[5, 7], [6, 8]]], np.float32)})
    assert "[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 7.0], [6.0, 8.0]]]" in code


def test_no_inputs_are_an_empty_dict() -> None:
    assert values_code({}) == "inputs = {}\n"
