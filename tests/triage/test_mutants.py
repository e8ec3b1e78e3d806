"""Other witnesses differ in what a reduced model has lost: fractions, signs, sizes that are not one and two."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, parser

from fuzz.case import Case, Origin
from triage.mutants import mutants, rearranged, sizes
from triage.submodel import load, tensors


def resize() -> Case:
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    scales = onnx.numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, None, None]) for name in ("x", "y")]
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", infos[:1], infos[1:], [scales]))
    return Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))


def given(case: Case, name: str) -> np.ndarray[Any, Any]:
    return tensors(case, load(case))[name]


def test_parameters_get_fractions_where_they_are_neither_0_nor_1() -> None:
    found = [given(one.case, "scales").tolist() for one in mutants(resize()) if one.change.startswith("`scales = ")]
    assert [1.0, 1.0, 1.5, 1.5] in found and all(one[:2] == [1.0, 1.0] for one in found)


def test_fractions_come_with_sizes_that_they_tell_on_first() -> None:
    first = next(mutants(resize()))
    assert given(first.case, "x").shape == (1, 1, 5, 5) and "`scales = " in first.said and "`x` of shape" in first.said


def test_where_no_size_grows_fractions_come_alone() -> None:
    node = helper.make_node("Div", ["x", "s"], ["y"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    scale = onnx.numpy_helper.from_array(np.array(3, np.float32), "s")
    model = helper.make_model(helper.make_graph([node], "g", infos[:1], infos[1:], [scale]))
    found = list(mutants(Case("onnx", model.SerializeToString(), {"x": np.float32([1, 2])}, Origin("test"))))
    assert "`s = 0.6`" in {one.said for one in found} and not [one for one in found if one.said.endswith(" and ")]


def test_data_get_signs_fractions_and_halves() -> None:
    numbers = [given(one.case, "x") for one in mutants(resize()) if one.name == "x"]
    assert all((array < 0).any() for array in numbers)
    assert any(np.all(array % 1 == 0.5) for array in numbers)


def test_shared_sizes_grow_together_and_single_axes_alone() -> None:
    shapes = [given(one.case, "x").shape for one in sizes(resize())]
    assert (1, 1, 3, 3) in shapes and (1, 1, 2, 3) in shapes
    assert (1, 1, 4, 4) in [given(one.case, "x").shape for one in sizes(resize(), joint_to=(4,))]


def scatter() -> Case:
    node = helper.make_node("ScatterElements", ["data", "indices", "updates"], ["y"], axis=-1)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("data", "y")]
    held = [
        onnx.numpy_helper.from_array(np.zeros((2, 2), np.int64), "indices"),
        onnx.numpy_helper.from_array(np.ones((2, 2), np.float32), "updates"),
    ]
    model = helper.make_model(helper.make_graph([node], "g", infos[:1], infos[1:], held))
    return Case("onnx", model.SerializeToString(), {"data": np.zeros((2, 3), np.float32)}, Origin("test"))


def test_all_that_is_resized_is_named_constants_too() -> None:
    """ "With `data` of shape (3, 3) it passes" would be false: with the indices as they were it fails."""
    told = [one.said for one in sizes(scatter())]
    assert "`data`, `indices` and `updates` of shape (3, 3)" in told and "`data` of shape (2, 4)" in told
    assert "`data` of shape (5, 3) and `indices` and `updates` of shape (5, 5)" in told


def test_a_change_is_the_same_in_a_case_that_lacks_an_input() -> None:
    without = onnx.load_from_string(scatter().model)
    del without.graph.initializer[1]
    bare = Case("onnx", without.SerializeToString(), dict(scatter().inputs), Origin("test"))
    shared = [one.change for one in sizes(bare)]
    assert len(set(shared)) == len(shared) and set(shared) < {one.change for one in sizes(scatter())}


def test_counted_numbers_are_counted_on() -> None:
    larger = next(one.case for one in sizes(resize()) if given(one.case, "x").shape == (1, 1, 3, 3))
    assert given(larger, "x").ravel().tolist() == list(range(1, 10))


def test_integers_that_may_be_axes_keep_their_number() -> None:
    x, axes = np.zeros((2, 2), np.float32), np.array([0, 1])
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])]
    infos += [helper.make_tensor_value_info("axes", TensorProto.INT64, [2])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])]
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", infos, outs))
    case = Case("onnx", model.SerializeToString(), {"x": x, "axes": axes}, Origin("test"))
    assert all(given(one.case, "axes").shape == (2,) for one in sizes(case))


def test_tensors_of_an_instance_get_other_numbers() -> None:
    text = b'{"api": "torch.abs", "args": [{"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}]}'
    found = list(mutants(Case("instance", text, {}, Origin("test"))))
    assert [one.name for one in found] == ["x0", "x0"] and b"-3.75" in found[0].case.model


def test_the_numbers_of_a_shape_stay_near_their_own() -> None:
    found = [given(one.case, "scales").tolist() for one in rearranged(resize(), "scales")]
    assert found == [[2, 2, 2, 2], [2, 2, 1, 1], [2, 2, 3, 3], [0, 0, 1, 1], [3, 3, 4, 4]]
    assert not list(rearranged(resize(), "no such tensor"))


def test_whole_numbers_of_a_small_tensor_leave_half_of_the_axes_alone() -> None:
    """OpenVINO repeats two axes rightly and four wrongly, which the same number for all of them never shows."""
    text = '<ir_version: 7, opset_import: ["": 13]> f (float[1,1,1,2] x, int64[4] n) => (float z) { z = Tile (x, n) }'
    inputs = {"x": np.ones((1, 1, 1, 2), np.float32), "n": np.full(4, 2, np.int64)}
    case = Case("onnx", parser.parse_model(text).SerializeToString(), inputs, Origin("test"))
    found = [given(one.case, "n").tolist() for one in rearranged(case, "n")]
    assert found == [[1, 1, 2, 2], [3, 3, 3, 3], [1, 1, 1, 1], [4, 4, 4, 4]]


def test_numbers_of_a_small_tensor_are_told_as_they_are() -> None:
    """A tensor of 2 and -2 fails, one of -5 and 2 passes: both have positive and negative numbers."""
    tensor = b'{"dtype": "int64", "shape": [2], "values": [2, -2]}'
    call = Case("instance", b'{"library": "torch", "api": "torch.abs", "args": [%s]}' % tensor, {}, Origin("test"))
    assert [one.said for one in mutants(call)] == ["`x0 = [-5, 2]`"]
    large = b'{"dtype": "int64", "shape": [3, 3], "seed": 1}'
    call = Case("instance", b'{"library": "torch", "api": "torch.abs", "args": [%s]}' % large, {}, Origin("test"))
    assert [one.said for one in mutants(call)] == ["positive and negative numbers in `x0`"]
