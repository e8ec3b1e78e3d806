"""What is written by hand reads back as ONNX reads it."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from fuzz.operators import dtypes, encoding
from fuzz.operators.encoding import INFO, INPUT, OUTPUT, TENSOR


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31, -1, -(2**63), 2**63 - 1])
def test_integers_of_any_size_are_read_back(number):
    node = onnx.NodeProto.FromString(encoding.attribute("value", number))
    assert helper.get_attribute_value(node.attribute[0]) == number


@pytest.mark.parametrize("value", [1.5, -0.25, "constant", "", (1, -2, 3), ()])
def test_attributes_have_the_type_and_the_value_of_what_was_given(value):
    attribute = onnx.NodeProto.FromString(encoding.attribute("a", value)).attribute[0]
    found = helper.get_attribute_value(attribute)
    given = list(value) if isinstance(value, tuple) else value.encode() if isinstance(value, str) else value
    assert (attribute.name, found) == ("a", given)


def test_an_attribute_that_is_left_out_takes_no_bytes():
    assert encoding.attribute("axis", None) == b""


def test_a_value_without_an_encoding_is_refused():
    with pytest.raises(TypeError, match="attribute axis: no encoding for list"):
        encoding.attribute("axis", [1])


def test_a_whole_model_passes_the_checker():
    encoding.reach(4)
    node = encoding.node(INPUT[1] + INPUT[2] + OUTPUT[3] + encoding.operator_head("Add"))
    constant = encoding.delimited(5, TENSOR[2] + encoding.tensor_content(1, (2,), np.array([1, 2], "<f4").tobytes()))
    given = encoding.delimited(11, INFO[1] + encoding.value_type(1, (3, 2)))
    result = encoding.delimited(12, INFO[3] + encoding.value_type(1, (3, 2)))
    model = onnx.load_from_string(encoding.model(26, 13, node, constant, given, result))
    onnx.checker.check_model(model, full_check=True)
    assert [each.name for each in model.graph.input] == ["t1"]
    assert model.opset_import[0].version == 26


def test_a_node_longer_than_the_prepared_lengths_is_read_back():
    content = encoding.operator_head("Concat") + encoding.text("note", "x" * 3000)
    graph = onnx.GraphProto.FromString(encoding.node(content))
    assert len(graph.node[0].attribute[0].s) == 3000


def test_the_absent_tensor_has_no_name():
    node = onnx.NodeProto.FromString(INPUT[encoding.ABSENT] + encoding.operator_head("Pad"))
    assert list(node.input) == [""]


def test_a_size_that_is_not_known_stays_open():
    info = onnx.ValueInfoProto.FromString(encoding.value_type(7, (3, None)))
    dims = info.type.tensor_type.shape.dim
    assert [dim.HasField("dim_value") for dim in dims] == [True, False]


@pytest.mark.parametrize("code", [code for code in dtypes.ALL if code != dtypes.STRING])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)])
def test_data_of_every_dtype_is_read_back_within_its_range(code, shape):
    low, high = dtypes.fresh_intervals(code, *dtypes.RANGE[code])[0]
    data = dtypes.raw_slice(code, int(np.prod(shape)), (low, high), 0.37)
    array = numpy_helper.to_array(onnx.TensorProto.FromString(encoding.tensor_content(code, shape, data)))
    assert array.shape == shape
    values = array.astype(np.complex128)
    assert (values.real >= low).all() and (values.real <= high).all()


def test_words_are_read_back():
    tensor = onnx.TensorProto.FromString(encoding.strings_content((2,), (b"a", b"")))
    assert numpy_helper.to_array(tensor).tolist() == ["a", ""]
