"""What is free beside a computed tensor of another shape is made to fit it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from fuzz.case import Case, Origin
from tests.triage.test_parts import op_types
from tests.triage.test_submodel import run
from triage.fitting import fitted
from triage.parts import parts
from triage.submodel import add_initializer, load, replace_items, tensors

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'


def case_of(text: str, **inputs: np.ndarray) -> Case:
    return Case("onnx", parser.parse_model(HEAD + text).SerializeToString(), inputs, Origin("test"))


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


#: Models whose second node does not take what the first gives, with the inputs beside x.
MISFITS = {
    "MatMul": "g (float[2,3,4] x, float[12,5] w) => (float[2,3,5] y) { a = Relu(x) y = MatMul(a, w) }",
    "MatMul from the left": "g (float[4,6] x, float[2,9] w) => (float[2,6] y) { a = Relu(x) y = MatMul(w, a) }",
    "Gemm": "g (float[2,3] x, float[5,7] w) => (float[2,5] y) { a = Relu(x) y = Gemm<transB = 1>(a, w) }",
    "Conv": "g (float[1,3,4,4] x, float[2,8,2,2] w) => (float[1,2,3,3] y) { a = Relu(x) y = Conv(a, w) }",
    "Conv of fewer axes": "g (float[1,3,4] x, float[2,8,2,2] w) => (float[1,2,4] y) { a = Relu(x) y = Conv(a, w) }",
    "grouped Conv": "g (float[1,6,4] x, float[4,8,2] w) => (float[1,4,3] y) { a = Relu(x) y = Conv<group=1>(a, w) }",
    "ConvTranspose": "g (float[1,3,4] x, float[8,2,2] w) => (float[1,2,5] y) { a = Relu(x) y = ConvTranspose(a, w) }",
    "Add": "g (float[2,3] x, float[5] w) => (float[2,3] y) { a = Relu(x) y = Add(a, w) }",
    "Where": "g (float[2,3] x, bool[7] c, float[5] w) => (float[2,3] y) { a = Relu(x) y = Where(c, a, w) }",
    "BatchNormalization": """g (float[2,3] x, float[8] s, float[8] b, float[8] m, float[8] v) => (float[2,3] y)
        { a = Relu(x) y = BatchNormalization(a, s, b, m, v) }""",
    "LayerNormalization": """g (float[2,3] x, float[8] s) => (float[2,3] y)
        { a = Relu(x) y = LayerNormalization(a, s) }""",
    "Reshape": "g (float[2,3] x) => (float[6] y) <int64[2] w = {2, 4}> { a = Relu(x) y = Reshape(a, w) }",
    "Tile": "g (float[2,3] x) => (float[2,3] y) <int64[3] w = {1, 2, 1}> { a = Relu(x) y = Tile(a, w) }",
    "Pad": "g (float[2,3] x) => (float[2,3] y) <int64[2] w = {0, 1}> { a = Relu(x) y = Pad(a, w) }",
    "Transpose": "g (float[2,3] x) => (float[3,2] y) { a = Relu(x) y = Transpose<perm = [0,2,1]>(a) }",
    "Softmax": "g (float[2,3] x) => (float[2,3] y) { a = Relu(x) y = Softmax<axis = 2>(a) }",
    "Squeeze": "g (float[2,1,3] x) => (float[2,3] y) <int64[1] w = {2}> { a = Sin(x) b = Relu(a) y = Squeeze(b, w) }",
    "MaxPool": "g (float[1,2,3] x) => (float[1,2,3] y) { a = Relu(x) y = MaxPool<kernel_shape = [2,2]>(a) }",
    "Concat": "g (float[2,3] x, float[2,5] w) => (float[4,3] y) { a = Relu(x) y = Concat<axis = 0>(a, w) }",
}


def filled(text: str) -> Case:
    """The case of a text in which x is an input and what else is declared as one a constant of ones."""
    model = load(case_of(text))
    infos = {info.name: info for info in model.graph.input}
    arrays = {}
    for name, info in infos.items():
        kind = info.type.tensor_type
        sizes = [dim.dim_value for dim in kind.shape.dim]
        arrays[name] = np.ones(sizes, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    replace_items(model.graph.input, [infos["x"]])
    for name in arrays.keys() - {"x"}:
        add_initializer(model, name, arrays[name])
    return Case("onnx", model.SerializeToString(), {"x": arrays["x"]}, Origin("test"))


@pytest.mark.parametrize("name", MISFITS)
def test_a_node_takes_the_tensor_of_another_shape_that_it_is_given(name: str) -> None:
    case = filled(MISFITS[name])
    found = fitted(case)
    assert found is not None and found.id != case.id
    assert op_types(found) == op_types(case) and run(found)[0].size
    np.testing.assert_array_equal(found.inputs["x"], case.inputs["x"])


def test_what_fits_stays_as_it_is_to_the_byte() -> None:
    case = filled("g (float[2,3] x, float[3,5] w) => (float[2,5] y) { a = Relu(x) y = MatMul(a, w) }")
    assert fitted(case) is case


def test_two_computed_tensors_that_do_not_fit_are_given_up() -> None:
    case = case_of(
        "g (float[2,3] x, float[5] z) => (float[2,3] y) { a = Relu(x) b = Relu(z) y = Add(a, b) }",
        x=ones(2, 3),
        z=ones(5),
    )
    assert fitted(case) is None


def test_a_constant_that_fits_another_reader_stays_for_that_one() -> None:
    case = filled(
        """g (float[2,3] x, float[4,5] w, float[2,4] u) => (float[2,5] y, float[2,5] z)
        { a = Relu(x) y = MatMul(a, w) z = MatMul(u, w) }"""
    )
    found = fitted(case)
    assert found is not None
    shapes = {name: array.shape for name, array in tensors(found, load(found)).items()}
    assert shapes == {"x": (2, 3), "w": (4, 5), "u": (2, 4), "w_of_y": (3, 5)}


def test_an_input_is_made_to_fit_as_a_constant_is_and_stays_an_input() -> None:
    case = case_of(
        "g (float[2,3] x, float[4,5] w) => (float[2,5] y) { a = Relu(x) y = MatMul(a, w) }", x=ones(2, 3), w=ones(4, 5)
    )
    found = fitted(case)
    assert found is not None
    assert {name: array.shape for name, array in tensors(found, load(found)).items()} == {"x": (2, 3), "w": (3, 5)}
    assert found.inputs.keys() == {"x", "w"} and not load(found).graph.initializer


def test_what_is_not_known_is_taken_to_fit() -> None:
    text = """<ir_version: 8, opset_import: ["": 17, "own": 1]>
        g (float[2,3] x, float[4,5] w) => (float[2,5] y) { a = own.Odd(x) y = MatMul(a, w) }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": ones(2, 3)}, Origin("test"))
    assert fitted(case) is case


def test_the_path_from_one_node_to_another_goes_though_each_of_its_nodes_changes_the_shape() -> None:
    """A Conv above a MatMul with a pooling and a Flatten between: seven nodes were left of such a model."""
    text = """g (float[1,2,4,4] x, float[5,2,1,1] w, float[5,3] v) => (float[1,3] y)
        { a = Conv(x, w) b = GlobalAveragePool(a) c = Flatten(b) y = MatMul(c, v) }"""
    case = filled(text)
    values = {**case.inputs, "a": ones(1, 5, 4, 4), "b": ones(1, 5, 1, 1), "c": ones(1, 5), "y": ones(1, 3)}
    led = parts(case, {0, 3}, values)[0]
    assert op_types(led) == ["Conv", "MatMul"] and load(led).graph.node[1].input[0] == "a"
    assert run(led)[0].shape == (1, 5, 4, 3)


def test_of_two_nodes_that_could_take_a_dropped_ones_place_the_one_that_nobody_else_reads_does() -> None:
    text = "g (float[2] x) => (float[2] y) { a = Sin(x) b = Cos(a) c = Add(a, b) y = Neg(c) }"
    case = case_of(text, x=ones(2))
    values = {name: ones(2) for name in "xabcy"}
    led = parts(case, {0, 1, 3}, values)[0]
    assert [list(node.input) for node in load(led).graph.node] == [["x"], ["a"], ["b"]]


def test_a_slice_of_what_a_window_left_less_than_nothing_of_is_given_up_and_ends_no_process() -> None:
    case = case_of(
        """g (float[1,1,2] x, float[1,1,4] w) => (float[1,1,1] y)
        <int64[1] s = {0}, int64[1] e = {8}, int64[1] t = {2}> { a = Conv(x, w) y = Slice(a, s, e, t) }""",
        x=ones(1, 1, 2),
        w=ones(1, 1, 4),
    )
    found = fitted(case)
    assert found is None or run(found)
