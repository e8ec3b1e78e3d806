"""A condition is tried from inside as well: of real bugs, some cases that have it pass, and only telling ones count."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import Condition, conditions
from triage.inquiry import Inquiry
from triage.mutants import moved_on, windows
from triage.sufficiency import passing
from triage.variants import attributes, inputs, values

MAKERS = (attributes.variants, values.variants, inputs.variants)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(
    op_type: str,
    fed: dict[str, np.ndarray[Any, Any]],
    constants: dict[str, np.ndarray[Any, Any]],
    shape: list[int],
    **attributes_: Any,
) -> Case:
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    node = helper.make_node(op_type, [*fed, *([""] if op_type == "Resize" else []), *constants], ["y"], **attributes_)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in fed.items()
    ]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    graph = helper.make_graph([node], "g", infos, outs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    return Case("onnx", model.SerializeToString(), fed, Origin("test"))


def found_in(judge: Judge, case: Case, backend: str) -> tuple[Condition, ...]:
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return conditions(judge, failure)


def expand(*shape: int) -> Case:
    x = np.arange(1, 4, dtype=np.float32).reshape(1, 3, 1)
    return case_of("Expand", {"x": x, "shape": np.array(shape)}, {}, [3, 3, 3])


def test_a_shape_that_says_less_than_the_result_has_is_told_by_its_numbers(judge: Judge) -> None:
    """TVM takes the shape for that of the result: what is 1 there and not in the data is lost."""
    pytest.importorskip("tvm")
    found = found_in(judge, expand(3, 1, 3), "tvm")
    ones, fed = [one for one in found if one.needed]
    assert ones.sentence == "With the sizes of the result in `shape`, [3, 3, 3], the same model passes."
    assert not ones.partly and not fed.partly
    title = "Expand with 1 in shape and non-constant shape"
    assert titles.subject(expand(3, 1, 3), ["Expand"], found) == title


def test_scales_that_divide_the_sizes_pass_though_they_are_fractions(judge: Judge) -> None:
    """TVM takes the quotient of the sizes for the scale: 3 / 2 is the scale 1.5, and 1 / 2 is not 0.6."""
    pytest.importorskip("tvm")
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    scales = np.array([1, 1, 0.6, 0.6], np.float32)
    case = case_of("Resize", {"x": x}, {"scales": scales}, [1, 1, 1, 1], mode="linear")
    found = found_in(judge, case, "tvm")
    [needed] = [one for one in found if one.needed]
    assert needed.sentence == "With `x` of shape (1, 1, 5, 5), whose scaled sizes are whole, the model passes."
    assert titles.subject(case, ["Resize"], found) == "Resize with scales that give no whole sizes"


def test_a_failure_of_all_cases_with_the_condition_stays_as_it_is(judge: Judge) -> None:
    pytest.importorskip("tvm")
    case = case_of("Reshape", {"x": np.array([1, 2], np.float32), "shape": np.array([2, 1])}, {}, [2, 1])
    found = found_in(judge, case, "tvm")
    assert [(one.text, one.partly) for one in found if one.needed] == [("non-constant shape", False)]


def asked(judge: Judge, case: Case, text: str, most_runs: int = 30) -> str:
    """The first witness of a compiler without bugs: all pass, so it is the first that tells."""
    verdict = judge.examine(case, judge.reference)
    failure = Failure(case, judge.reference, verdict.outcome, None, "inconsistency", "wrong:values", "")  # type: ignore[arg-type]
    failure = dataclasses.replace(failure, reference=verdict.outcome)
    [variant] = [one for make in MAKERS for one in make(case) if one.text == text]
    return passing(Inquiry(judge, failure, most_runs), variant, [variant], MAKERS)


def pool(**attributes_: Any) -> Case:
    x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    return case_of("MaxPool", {"x": x}, {}, [1, 1, 2, 2], kernel_shape=[3, 3], strides=[2, 2], **attributes_)


def test_only_a_result_that_hangs_on_the_option_proves_anything(judge: Judge) -> None:
    assert asked(judge, pool(ceil_mode=1), "ceil_mode=1")
    assert asked(judge, pool(storage_order=1), "storage_order=1") == "", "it changes the second output only"


def test_constants_and_copies_of_an_input_prove_nothing(judge: Judge) -> None:
    x = np.arange(1, 4, dtype=np.float32).reshape(1, 3)
    twice = case_of("Tile", {"x": x, "repeats": np.array([1, 2])}, {}, [1, 6])
    assert asked(judge, twice, "non-constant repeats") not in ("", "`repeats = [1, 1]`")
    ones = case_of("Expand", {"x": np.ones((1, 3), np.float32), "shape": np.array([2, 3])}, {}, [2, 3])
    assert asked(judge, ones, "non-constant shape") == ""


def test_nothing_is_found_when_no_run_is_left(judge: Judge) -> None:
    assert asked(judge, expand(3, 1, 3), "non-constant shape", most_runs=0) == ""


def test_a_sum_that_is_right_because_its_terms_cancel_out_proves_nothing(judge: Judge) -> None:
    """OpenVINO divides the cut-off window by another number: of 1.5 and -1.5 that is zero as well."""
    pytest.importorskip("openvino")
    tensor = b'{"dtype": "float32", "values": [[1.0, 2.0, 3.0]]}'
    call = b'{"ceil_mode": true, "padding": {"tuple": [2]}, "stride": {"tuple": [3]}}'
    text = b'{"api": "torch.avg_pool1d", "args": [%s, {"tuple": [6]}], "kwargs": %s}' % (tensor, call)
    found = found_in(judge, Case("instance", text, {}, Origin("test")), "openvino")
    assert any(one.needed for one in found)
    assert not any(one.partly for one in found)


def test_numbers_are_moved_on_in_data_alone() -> None:
    case = case_of("Tile", {"x": np.float32([[1, 2, 3]]), "repeats": np.array([1, 2])}, {}, [1, 6])
    moved = moved_on(case, "x")
    assert moved is not None and np.asarray(moved.inputs["x"]).tolist() == [[3, 1, 2]]
    assert moved_on(case, "repeats") is None
    text = b'{"api": "torch.relu", "args": [{"dtype": "float32", "values": [1.0, 2.0, 3.0]}]}'
    other = moved_on(Case("instance", text, {}, Origin("test")), "x0")
    assert other is not None and b"[3.0,1.0,2.0]" in other.model


@pytest.mark.parametrize("weights", [(2, 3), (0, 0)], ids=["numbers", "zeros, which prove enough of a shape"])
def test_a_wrong_shape_is_tried_with_other_sizes_before_other_numbers(judge: Judge, weights: tuple[int, int]) -> None:
    """OpenVINO is wrong about the padding of a kernel of one pixel, and of no other, and not of all images."""
    pytest.importorskip("openvino")
    scales = {name: np.array(1, np.float32) for name in ("x_scale", "w_scale", "y_scale")}
    zeros = {name: np.array(0, np.int8) for name in ("x_zero", "w_zero", "y_zero")}
    w = np.array(weights, np.int8).reshape(1, 2, 1, 1)
    order = ("x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero")
    held = [numpy_helper.from_array(value, name) for name, value in {**scales, **zeros, "w": w}.items()]
    node = helper.make_node("QLinearConv", order, ["y"], strides=[1, 2], pads=[0, 0, 0, 1])
    infos = [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 2, 2, 1])]
    outs = [helper.make_tensor_value_info("y", TensorProto.INT8, [1, 1, 2, 1])]
    graph = helper.make_graph([node], "g", infos, outs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=5)
    fed = {"x": np.array([[[[1], [2]], [[3], [4]]]], np.int8)}
    case = Case("onnx", model.SerializeToString(), fed, Origin("test"))
    found = found_in(judge, case, "openvino")
    assert all(one.partly for one in found if one.needed)
    assert (
        titles.subject(case, ["QLinearConv"], found)
        == "QLinearConv (kernel of 1x1) with pads and strides on some inputs"
    )


def test_a_pool_is_tried_with_windows_of_more_than_one_element(judge: Judge) -> None:
    """OpenVINO rounds up where the last window would begin behind the data, which a window of one does at once."""
    pytest.importorskip("openvino")
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    attributes = {"ceil_mode": 1, "kernel_shape": [1, 1], "strides": [1, 2]}
    older = case_of("MaxPool", {"x": x}, {}, [1, 1, 2, 1], **attributes)
    model = onnx.load_from_string(older.model)
    model.opset_import[0].version = 22  # since when no window begins behind the data
    case = dataclasses.replace(older, model=model.SerializeToString())
    found = found_in(judge, case, "openvino")
    told = "MaxPool with ceil_mode=1 and strides larger than kernel_shape"
    assert titles.subject(case, ["MaxPool"], found) == told, "larger windows pass, since they leave nothing out"
    assert "`kernel_shape=[2, 2]` and `x` of shape (1, 1, 3, 3)" in [one.said for one in windows(case)]
