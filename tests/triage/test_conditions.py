"""Conditions of real bugs: what makes them go away is named, what happens to pass by coincidence is not."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from fuzz import catalogue, instance
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status, Verdict
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import conditions as conditions_
from triage import contrasts, titles
from triage.conditions import Condition, conditions
from triage.inquiry import COSTLY_RUN, FUSE, Inquiry
from triage.passes import _instances
from triage.severity import severity
from triage.variants import arguments, attributes, call_types, dtypes, inputs, kernels, values

PLANTED = Path(__file__).with_name("planted_attributes.py")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(op_type: str, given: dict[str, np.ndarray[Any, Any]], shape: list[int], **attributes_: Any) -> Case:
    node = helper.make_node(op_type, list(given), ["y"], **attributes_)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in given.items()
    ]
    kind = helper.np_dtype_to_tensor_dtype(next(iter(given.values())).dtype)
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", kind, shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return Case("onnx", model.SerializeToString(), dict(given), Origin("test"))


def failure_of(judge: Judge, case: Case, backend: str) -> Failure:
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return failure


def float32(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def test_the_attribute_that_a_compiler_ignores_is_a_condition_and_its_zeros_are_none(judge: Judge) -> None:
    pytest.importorskip("openvino")
    given = {"X": float32([[1]], [[1]]), "W": np.ones((1, 4, 1), np.float32), "R": np.zeros((1, 4, 1), np.float32)}
    case = case_of("LSTM", given, [2, 1, 1, 1], hidden_size=1, layout=1)
    found = conditions(judge, failure_of(judge, case, "openvino"))
    needed = [one for one in found if one.needed]
    assert needed == [
        Condition("attribute", "layout=1", "Without `layout` (default 0) the same model passes.", True, True)
    ]
    assert any(
        one.text == "zero R" and one.sentence == "With no zero in `R` the same model fails as well." for one in found
    )


def test_a_condition_that_other_special_values_do_without_is_none(judge: Judge) -> None:
    """The least of no numbers is infinity here as of a thousand infinities: OpenVINO begins with the largest float."""
    pytest.importorskip("openvino")
    case = case_of("ReduceMin", {"data": np.zeros((0,), np.float32)}, [1])
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert not any(one.needed for one in found)
    [empty] = [one for one in found if one.refuted]
    assert empty.text == "empty data" and empty.sentence == (
        "With a non-empty `data` the same model passes, but with infinity in `data` it fails as well."
    )


def test_what_nobody_wrote_is_not_refuted_by_what_is_wrong_for_another_reason(judge: Judge) -> None:
    """TVM's ReduceMin of no numbers returns what is in memory; of infinities it returns the largest float."""
    pytest.importorskip("tvm")
    case = case_of("ReduceMin", {"data": np.zeros((0,), np.float32)}, [1])
    filled = dataclasses.replace(judge, perturb=170)
    failure = filled.examine(case, catalogue.target("tvm")).failure
    assert failure is not None
    assert [one.text for one in conditions(filled, failure) if one.needed] == ["empty data"]


def test_a_relative_whose_fill_is_within_the_tolerance_is_told_as_well(judge: Judge) -> None:
    """TVM's ReduceSum of no numbers gives the bytes that memory was filled with, -3e-13, which passes for a zero."""
    pytest.importorskip("tvm")
    case = case_of("ReduceProd", {"data": np.zeros((0,), np.float32)}, [1])
    filled = dataclasses.replace(judge, perturb=85)
    failure = filled.examine(case, catalogue.target("tvm")).failure
    assert failure is not None
    [reach] = [one for one in conditions(filled, failure) if one.kind == "siblings"]
    assert "ReduceMax" in reach.sentence and "ReduceSum" in reach.sentence


def test_a_condition_that_holds_against_other_values_stays(judge: Judge) -> None:
    pytest.importorskip("tvm")
    given = {"x": float32(np.inf, 1)}
    node = helper.make_node("IsInf", ["x"], ["y"], detect_positive=0)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    outs = [helper.make_tensor_value_info("y", TensorProto.BOOL, [2])]
    model = helper.make_model(
        helper.make_graph([node], "g", infos, outs), opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    )
    case = Case("onnx", model.SerializeToString(), dict(given), Origin("test"))
    needed = [one.text for one in conditions(judge, failure_of(judge, case, "tvm"), most_runs=24) if one.needed]
    assert needed == ["detect_positive=0", "+inf X"]


def test_no_condition_is_claimed_when_there_is_no_time_and_that_is_said(judge: Judge) -> None:
    case = case_of("ReduceMin", {"data": np.zeros((0,), np.float32)}, [1])
    verdict = judge.examine(case, catalogue.target("reference"))
    failure = Failure(case, verdict.target, verdict.outcome, None, "crash", "hang", "")  # type: ignore[arg-type]
    [cut] = conditions(judge, failure, clock=itertools.count(0, 2 * FUSE).__next__)
    assert not cut.needed and cut.sentence.startswith("Not all was asked")
    assert titles.subject(case, ["ReduceMin"], [cut]) == "ReduceMin"


def test_a_busy_machine_finds_the_same_conditions(judge: Judge) -> None:
    """A question takes it more than a second, and it asks as many."""
    failure = failure_of(judge, arg_max(1, 1), str(PLANTED))
    quick = conditions(judge, failure)
    assert [one.text for one in quick if one.needed] == ["select_last_index=1"]
    assert conditions(judge, failure, clock=itertools.count(0, 1.5).__next__) == quick


def test_what_ends_at_a_limit_costs_as_many_questions_as_it_takes_time() -> None:
    hanging = catalogue.target(str(PLANTED.with_name("planted.py")), {"steady": "no"})
    with Runner(jobs=1, limits=Limits(seconds=1.0)) as runner:
        judge = Judge(runner, catalogue.target("reference"))
        failure = failure_of(judge, case_of("Ceil", {"x": float32(0.5)}, [1]), hanging.backend)
        inquiry = Inquiry(judge, dataclasses.replace(failure, target=hanging), COSTLY_RUN + 1)
        inquiry.verdict(case_of("Tan", {"x": float32(1)}, [1]))
        assert not inquiry.over()
        inquiry.verdict(case_of("Neg", {"x": float32(1)}, [1]))
        assert inquiry.over() and not inquiry.cut


# ---------------------------------------------------------------- the neighbours themselves


def test_required_attributes_and_defaults_have_no_neighbour() -> None:
    case = case_of(
        "AveragePool", {"x": np.ones((1, 1, 3), np.float32)}, [1, 1, 1], kernel_shape=[3], ceil_mode=0, pads=[0, 0]
    )
    assert [one.text for one in attributes.variants(case)] == ["pads=[0, 0]"]


def test_a_cast_among_several_nodes_is_tried_with_common_types() -> None:
    text = "g (float[2] x) => (bool[2] y) { a = Abs (x) y = Cast <to = 9> (a) }"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}')
    case = Case("onnx", model.SerializeToString(), {"x": np.ones(2, np.float32)}, Origin("test"))
    [only] = attributes.variants(case)
    assert (only.kind, only.text) == ("attribute", "to=bool")
    made = [onnx.load_from_string(one.model).graph.output[0].type.tensor_type.elem_type for one in only.cases]
    assert made == [TensorProto.FLOAT, TensorProto.INT32]
    wider = {one.wider for one in contrasts.contrasts(case, only) if one.wider}
    assert wider == {"to=bool"}  # that something is named says nothing: it must be


def test_numbers_of_a_kind_are_replaced_and_the_others_stay() -> None:
    case = case_of("Relu", {"x": float32(np.nan, -2, 5)}, [3])
    found = {one.text: [dict(each.inputs)["x"] for each in one.cases] for one in values.variants(case)}
    assert set(found) == {"NaN X", "negative X"}
    assert all(np.isfinite(each[0]) and list(each[1:]) == [-2, 5] for each in found["NaN X"])
    assert [each[1] for each in found["negative X"]] == [2, 3]


def test_numbers_that_matter_where_there_are_no_others_are_told_to_be_all_there_are(judge: Judge) -> None:
    """OpenVINO's ReduceMin begins with the largest number of the type, which an infinity is not less than."""
    pytest.importorskip("openvino")
    case = case_of("ReduceMin", {"data": float32([np.inf, np.inf])}, [1, 1])
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert [one.text for one in found if one.needed and one.kind == "value"] == ["all-+inf or empty data"]
    assert titles.subject(case, ("ReduceMin",), found).startswith("ReduceMin with all +inf or empty data")


def test_strides_are_told_by_the_kernel_that_they_exceed(judge: Judge) -> None:
    """OpenVINO 2026.4 counts a last window that begins behind the data."""
    pytest.importorskip("openvino")
    data = {"x": float32([[[1, 2], [3, 4]]])}
    case = case_of("MaxPool", data, [1, 1, 2, 1], ceil_mode=1, kernel_shape=[1, 1], strides=[1, 2])
    found = [one.text for one in conditions(judge, failure_of(judge, case, "openvino")) if one.needed]
    assert found == ["ceil_mode=1", "strides larger than kernel_shape"]
    dilated = case_of("MaxPool", {"x": float32([[1] * 9])}, [1, 1, 2], kernel_shape=[2], strides=[3], dilations=[3])
    assert not list(kernels.wider(dilated)), "its windows overlap"


def test_numbers_that_fill_one_window_of_several_are_not_told_to_be_all_there_are(judge: Judge) -> None:
    pytest.importorskip("onnxruntime")
    case = case_of("MaxPool", {"X": float32([[-np.inf] * 4])}, [1, 1, 2], kernel_shape=[2], strides=[2])
    found = [one.text for one in conditions(judge, failure_of(judge, case, "onnxruntime")) if one.needed]
    assert found and not any(text.startswith(values.ALL) for text in found)


def test_numbers_have_others_beside_them_where_there_are_none() -> None:
    found = {text: [one.tolist() for one in numbers] for text, _, numbers in values.uniform_numbers(float32(-1, -2))}
    assert found == {"all-negative": [[1.0, -2.0], [-1.0, 3.0], [1.0, -2.0], [-1.0, 3.0]]}
    for given in (float32(np.nan, 1), float32(np.nan), float32(1, 2)):
        assert not list(values.uniform_numbers(given))


def test_no_truth_values_become_some() -> None:
    case = case_of("ReduceMax", {"data": np.zeros((2, 0), np.bool_)}, [2])
    [empty] = [one for one in values.variants(case) if one.text == "empty data"]
    assert {np.asarray(one.inputs["data"]).shape for one in empty.cases} == {(2, 2)}


def test_an_input_becomes_a_constant_and_a_constant_an_input() -> None:
    case = case_of("Reshape", {"data": float32(1, 2), "shape": np.array([2, 1])}, [2, 1])
    [frozen] = inputs.variants(case)
    assert frozen.text == "non-constant shape" and list(frozen.cases[0].inputs) == ["data"]
    [fed] = inputs.variants(frozen.cases[0])
    assert fed.text == "constant shape" and list(fed.cases[0].inputs) == ["data", "shape"]


def test_the_first_constant_becomes_an_input_where_there_are_constants_alone() -> None:
    case = case_of("Reshape", {"data": float32(1, 2), "shape": np.array([2, 1])}, [2, 1])
    model = onnx.load_from_string(case.model)
    del model.graph.input[:]
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in case.inputs.items())
    frozen = Case("onnx", model.SerializeToString(), {}, Origin("t"))
    assert [one.text for one in inputs.variants(frozen)] == ["constant data", "constant shape"]


def test_each_of_many_constants_is_fed_before_constants_alone_are_blamed() -> None:
    given = {f"data_{at}": float32(at) for at in range(5)}
    case = inputs.frozen(case_of("Sum", given, [1]), list(given))
    [alone] = [one for one in inputs.variants(case) if one.text == inputs.ALONE]
    assert [list(one.inputs) for one in alone.cases] == [[name] for name in given]


def test_a_value_that_only_a_body_reads_is_told_to_come_from_outside() -> None:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "outer"], ["sum"]), helper.make_node("Identity", ["e"], ["each"])],
        "body",
        [info("s", TensorProto.FLOAT, [1]), info("e", TensorProto.FLOAT, [1])],
        [info("sum", TensorProto.FLOAT, [1]), info("each", TensorProto.FLOAT, [1])],
    )
    node = helper.make_node("Scan", ["start", "x"], ["y", "all"], body=body, num_scan_inputs=1)
    fed = {"start": float32(1), "x": np.ones((2, 1), np.float32), "outer": float32(2)}
    graph = helper.make_graph(
        [node],
        "g",
        [info(name, TensorProto.FLOAT, value.shape) for name, value in fed.items()],
        [info("y", TensorProto.FLOAT, [1])],
    )
    case = Case("onnx", helper.make_model(graph).SerializeToString(), dict(fed), Origin("t"))
    assert "non-constant value from outside the body" in [one.text for one in inputs.variants(case)]


def test_one_of_a_list_of_inputs_is_told_by_its_number_and_as_from_outside_where_a_body_reads_it_too() -> None:
    """Its own name says nothing to anybody: "Scan with non-constant t2"."""
    told = {
        read: [one.text for one in inputs.variants(scan_of(read)) if one.text.startswith("non-constant")]
        for read in ("e", "x")
    }
    assert told == {"e": ["non-constant input 2"], "x": ["non-constant value from outside the body"]}


def scan_of(read: str) -> Case:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["s"], ["same"]), helper.make_node("ReduceSum", [read], ["each"], keepdims=0)],
        "body",
        [info("s", TensorProto.FLOAT, [1]), info("e", TensorProto.FLOAT, [1])],
        [info("same", TensorProto.FLOAT, [1]), info("each", TensorProto.FLOAT, [])],
    )
    node = helper.make_node("Scan", ["start", "x"], ["y", "all"], body=body, num_scan_inputs=1)
    fed = {"start": float32(1), "x": np.ones((2, 1), np.float32)}
    given = [info(name, TensorProto.FLOAT, value.shape) for name, value in fed.items()]
    graph = helper.make_graph([node], "g", given, [info("y", TensorProto.FLOAT, [1])])
    return Case("onnx", helper.make_model(graph).SerializeToString(), dict(fed), Origin("t"))


def test_beside_a_constant_it_is_told_which_numbers_matter() -> None:
    """A constant that is folded wrongly is folded rightly where its numbers are others."""
    numbers = Condition("value", "negative input", "…", needed=True)
    constant = Condition("input", "constant input", "…", needed=True)
    option = Condition("attribute", "axis=1", "…", needed=True)
    assert list(conditions_._telling([numbers, constant])) == [numbers, constant]
    assert list(conditions_._telling([numbers, option])) == [option]


def test_an_unusual_type_becomes_an_ordinary_one_everywhere() -> None:
    [found] = dtypes.alternatives(case_of("Relu", {"x": np.array([1, 2], np.float16)}, [2]))
    assert found.name == "float16" and found.plain is not None and found.plain[0] == "float32"
    plain = found.plain[1]
    assert dict(plain.inputs)["x"].dtype == np.float32  # type: ignore[union-attr]
    graph = onnx.load_model_from_string(plain.model).graph
    assert graph.input[0].type.tensor_type.elem_type == graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert [name for name, _ in found.kin] == ["bfloat16", "float64"]


@pytest.mark.parametrize(("kind", "other"), [("uint4", "int4"), ("int4", "uint4")])
def test_integers_of_four_bits_are_tried_in_the_other_type_though_numpy_knows_no_cast(kind: str, other: str) -> None:
    values_ = np.array([1, 2], getattr(ml_dtypes, kind))
    node = helper.make_node("Transpose", ["x"], ["y"])
    wanted = helper.np_dtype_to_tensor_dtype(values_.dtype)
    infos = [helper.make_tensor_value_info(name, wanted, [2]) for name in "xy"]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    [found] = dtypes.alternatives(Case("onnx", model.SerializeToString(), {"x": values_}, Origin("test")))
    [(name, changed)] = found.kin
    assert name == other and np.asarray(changed.inputs["x"]).dtype.name == other
    assert np.asarray(changed.inputs["x"]).tolist() == [1, 2]


def test_a_model_of_constants_alone_is_no_neighbour_since_it_is_folded() -> None:
    case = case_of("Pow", {"X": float32(1, 2), "Y": float32(3, 4)}, [2])
    [frozen] = inputs.variants(case)
    assert frozen.text == "non-constant Y" and list(frozen.cases[0].inputs) == ["X"]
    last = inputs.frozen(case, ["X"])
    assert [one.text for one in inputs.variants(last)] == []


def quantized() -> Case:
    scale = {"y_scale": np.array(1, np.float32), "y_zero_point": np.array(1, np.int8)}
    case = case_of("QuantizeLinear", {"x": float32(1, 2), **scale}, [2])
    model = onnx.load_from_string(case.model)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT8
    return dataclasses.replace(case, model=model.SerializeToString())


def test_inputs_of_which_each_alone_may_be_no_constant_are_a_condition_together(judge: Judge) -> None:
    failure = failure_of(judge, quantized(), str(PLANTED.with_name("planted_options.py")))
    found = conditions(judge, failure)
    assert [one.text for one in found if one.needed] == ["non-constant y_scale or y_zero_point"]
    said = titles.subject(failure.case, ["QuantizeLinear"], found)
    assert said == "QuantizeLinear with non-constant y_scale or y_zero_point"


def test_of_inputs_one_of_which_must_be_a_constant_the_others_are_not_named() -> None:
    together = Condition("input", "non-constant y_scale or y_zero_point", "…", needed=True)
    alone = Condition("input", "non-constant y_scale", "…", needed=True)
    other = Condition("input", "optional input y_zero_point", "…", needed=True)
    assert list(conditions_._telling([together, alone])) == [alone]
    assert list(conditions_._telling([together, other])) == [together, other]


def test_an_exception_with_other_words_is_another_failure_and_widens_nothing(judge: Judge) -> None:
    """TVM refuses a scalar and an empty tensor with the same class, for two reasons."""
    pytest.importorskip("tvm")
    case = case_of("PRelu", {"X": np.array(1, np.float32), "slope": np.array(1, np.float32)}, [])
    needed = [one.text for one in conditions(judge, failure_of(judge, case, "tvm")) if one.needed]
    assert needed == ["scalar X"]


def test_what_fails_in_another_way_on_some_numbers_is_told_beside_what_fails_on_none(judge: Judge) -> None:
    pytest.importorskip("tvm")
    tensor = b'{"dtype": "float32", "shape": [0, 1, 2, 2], "values": []}'
    text = b'{"api": "torch.nn.functional.unfold", "args": [%s, {"tuple": [2, 1]}]}' % tensor
    case = Case("instance", text, {}, Origin("test"))
    [empty] = [one for one in conditions(judge, failure_of(judge, case, "tvm")) if one.text == "empty input"]
    assert not empty.needed
    assert empty.sentence.startswith("With a non-empty `x0` (input) the same call fails in another way: PermuteDims")


def test_that_numbers_are_negative_is_not_refuted_by_one_of_more_bits_than_the_compiler_keeps(judge: Judge) -> None:
    planted = catalogue.target(str(Path(__file__).with_name("planted_calls.py")))
    tensors = b'{"dtype": "int64", "shape": [1], "values": [-8]}, {"dtype": "int64", "shape": [1], "values": [3]}'
    text = b'{"api": "torch.remainder", "args": [{"tensor": 0}, {"tensor": 1}], "tensors": [%s]}' % tensors
    failure = judge.examine(Case("instance", text, {}, Origin("test")), planted).failure
    assert failure is not None
    assert "negative integers" in [one.text for one in conditions(judge, failure) if one.needed]


def test_a_number_that_a_constant_holds_is_tried_as_a_tensor() -> None:
    node = helper.make_node("Constant", [], ["y"], value_ints=[1, 2])
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.INT64, [2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    found = attributes.variants(Case("onnx", model.SerializeToString(), {}, Origin("test")))
    [tensor] = [one for one in found if one.text == "value_ints"]
    [held] = onnx.load_from_string(tensor.cases[0].model).graph.node[0].attribute
    assert held.name == "value" and numpy_helper.to_array(held.t).tolist() == [1, 2]


def test_a_number_of_a_constant_is_told_as_such_where_other_numbers_in_attributes_fail_as_well(judge: Judge) -> None:
    pytest.importorskip("tvm")
    node = helper.make_node("Constant", [], ["y"], value_float=1.0)
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "tvm"))
    assert titles.subject(case, ["Constant"], found) == "Constant with a number instead of a tensor"
    assert [one.sentence for one in found if one.needed] == [
        "With the tensor `value` instead of `value_float` the same model passes; "
        "with `value_ints = [1, 2]` it fails as well."
    ]


def test_without_its_type_an_output_is_declared_in_the_one_that_it_gets_then() -> None:
    node = helper.make_node("EyeLike", ["x"], ["y"], dtype=TensorProto.BOOL)
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2]),
        helper.make_tensor_value_info("y", TensorProto.BOOL, [1, 2]),
    ]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), {"x": float32([1, 2])}, Origin("test"))
    [without] = attributes.variants(case)
    assert without.text == "dtype=bool"
    assert onnx.load_from_string(without.cases[0].model).graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT


def test_large_models_have_no_conditions(judge: Judge, tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", [f"t{at}"], [f"t{at + 1}"]) for at in range(4)]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("t0", "t4")]
    model = helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:]))
    case = Case("onnx", model.SerializeToString(), {"t0": float32(-1)}, Origin("test"))
    failure = Failure(case, judge.reference, None, None, "crash", "hang", "")  # type: ignore[arg-type]
    assert conditions(judge, dataclasses.replace(failure)) == ()


def test_arguments_and_numbers_of_an_instance_have_neighbours() -> None:
    text = b'{"api": "torch.add", "args": [{"dtype": "float32", "values": [-1.0]}, 2], "kwargs": {"alpha": 3}}'
    found = {one.text: one for one in arguments.variants(Case("instance", text, {}, Origin("test")))}
    assert set(found) == {"alpha=3", "other=2", "negative values", "1-D input"}
    [rows] = instance.parse(found["1-D input"].cases[0].model).tensors
    assert rows.shape == (2, 1) and rows.values == (-1.0, -1.0)
    assert not any(b"-1.0" in each.model for each in found["negative values"].cases)


def test_an_argument_by_position_is_named_and_left_to_its_default_alone() -> None:
    tensor = b'{"dtype": "float32", "shape": [1, 1, 4, 4]}'
    text = b'{"api": "torch.nn.functional.avg_pool2d", "args": [%s, 2, 3, 1, true, true, -2]}' % tensor
    found = {one.text: one for one in arguments.variants(Case("instance", text, {}, Origin("test")))}
    named = [one.text for one in found.values() if one.kind == "attribute"]
    assert named == ["divisor_override=-2", "ceil_mode=True", "padding=1", "stride=3"]
    without = instance.parse(found["ceil_mode=True"].cases[0].model)
    assert without.args[1:] == (2, 3, 1, False, True, -2)
    assert len(instance.parse(found["divisor_override=-2"].cases[0].model).args) == 6


def test_an_empty_tensor_of_an_instance_is_filled_and_so_are_the_sizes_among_its_arguments() -> None:
    tensor = b'{"dtype": "bool", "shape": [1, 0, 0]}'
    text = b'{"api": "torch.broadcast_to", "args": [%s, {"tuple": [5, 0, 0]}]}' % tensor
    filled = [one for one in arguments.variants(Case("instance", text, {}, Origin("test"))) if one.kind == "value"]
    assert [one.text for one in filled] == ["empty input", "empty input"]
    tensors, both = (instance.parse(one.cases[0].model) for one in filled)
    assert tensors.tensors[0].shape == both.tensors[0].shape == (1, 2, 2)
    assert (tensors.args[1], both.args[1]) == ({"tuple": [5, 0, 0]}, {"tuple": [5, 2, 2]})


def test_indices_that_were_none_are_filled_with_zeros_too_which_are_in_range_everywhere() -> None:
    tensors = b'{"dtype": "float32", "values": 1.0}, {"dtype": "int64", "shape": [0], "values": []}'
    text = b'{"api": "torch.take", "args": [%s]}' % tensors
    filled = [one for one in arguments.variants(Case("instance", text, {}, Origin("test"))) if "empty" in one.text]
    values = [instance.parse(one.cases[0].model).tensors[1].values for one in filled]
    assert values[:2] == [(0, 1), (0, 0)]
    assert {one.text for one in filled} == {"empty index"}
    assert filled[0].sentence == "With a non-empty `x1` (index) the same call passes."


@pytest.mark.parametrize(("empty", "one"), [("[]", [1]), ('{"tuple": []}', {"tuple": [1]})])
def test_a_list_of_sizes_that_was_empty_gets_a_number(empty: str, one: Any) -> None:
    text = b'{"api": "torch.broadcast_to", "args": [{"dtype": "float32", "values": 1.0}, %s]}' % empty.encode()
    found = [each for each in arguments.variants(Case("instance", text, {}, Origin("test"))) if each.kind == "value"]
    longer, *_ = [each for each in found if each.text == "empty shape"]
    assert instance.parse(longer.cases[0].model).args[1] == one
    assert longer.sentence in ("With `shape=[1]` the same call passes.", "With `shape=(1,)` the same call passes.")


def test_of_several_empty_tensors_none_is_named() -> None:
    text = b'{"api": "torch.add", "args": [{"dtype": "float32", "shape": [0]}, {"dtype": "float32", "shape": [0]}]}'
    filled = [one for one in arguments.variants(Case("instance", text, {}, Origin("test"))) if "empty" in one.text]
    assert {one.text for one in filled} == {"empty tensors"}


def test_an_unusual_type_of_an_instance_becomes_an_ordinary_one() -> None:
    tensors = b'{"dtype": "bool", "values": [true, false]}, {"dtype": "int64", "values": [1, 2]}'
    text = b'{"api": "torch.add", "args": [%s]}' % tensors
    found = {one.text: one for one in call_types.variants(Case("instance", text, {}, Origin("test")))}
    assert set(found) == {"bool", "int64"}
    plain = instance.parse(found["bool"].cases[0].model).tensors
    assert [one.dtype for one in plain] == ["float32", "int64"] and plain[0].values == (1.0, 0.0)


def test_a_wrong_type_needs_the_type_without_which_the_result_is_wrong_in_another_way(judge: Judge) -> None:
    """TVM returns what it was given in the place of the batch's mean, in whatever type, and float32 beside that."""
    pytest.importorskip("tvm")
    tensors = [b'{"dtype": "float16", "shape": [3, 1], "values": [1, 2, 3]}']
    tensors += [b'{"dtype": "float16", "shape": [1], "values": [1]}'] * 4
    text = b'{"api": "torch.native_batch_norm", "args": [%s, true, 0.0, 0.0]}' % b", ".join(tensors)
    found = conditions(judge, failure_of(judge, Case("instance", text, {}, Origin("test")), "tvm"))
    [typed] = [one for one in found if one.kind == "dtype"]
    assert typed.needed
    assert typed.sentence.startswith("In float32 instead of float16 the same call is wrong in another way: 1 of 1 ")


def test_a_mask_among_the_arguments_becomes_positions() -> None:
    tensors = (
        b'{"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}, [{"dtype": "bool", "shape": [2], "values": [1, 0]}]'
    )
    call = Case("instance", b'{"api": "torch.index_put", "args": [%s]}' % tensors, {}, Origin("test"))
    found = [one for one in call_types.variants(call) if one.kind == "dtype" and one.text == "bool"]
    assert instance.parse(found[-1].cases[0].model).tensors[1].dtype == "int64"


def test_numbers_that_another_type_of_the_kin_does_not_hold_become_small() -> None:
    tensor = b'{"dtype": "int64", "shape": [2], "values": [2147483649, 5]}'
    call = Case("instance", b'{"api": "torch.neg", "args": [%s]}' % tensor, {}, Origin("test"))
    found = {name: instance.parse(case.model).tensors[0].values for name, case in call_types.kin(call, "int64")}
    kept = (2147483649, 5)
    assert found == {"int32": (1, 2), "uint8": (1, 2), "int8": (1, 2), "float64": kept, "float16": (1, 2)}


def test_a_truth_is_no_axis_whatever_the_described_overload_has_in_its_place() -> None:
    tensor = b'{"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}'
    found = arguments.variants(Case("instance", b'{"api": "torch.std", "args": [%s, true]}' % tensor, {}, Origin("t")))
    assert [one.text for one in found if one.kind == "attribute"] == ["argument 2 = True"]


def test_numbers_that_are_asked_for_their_truth_become_truths() -> None:
    tensor = b'{"dtype": "float32", "shape": [2], "values": [-1.0, 0.0]}'
    call = Case("instance", b'{"api": "torch.any", "args": [%s]}' % tensor, {}, Origin("test"))
    [one] = [each for each in call_types.variants(call) if each.kind == "dtype"]
    assert one.text == "float32" and one.sentence == "In bool instead of float32 the same call passes."
    [truths] = instance.parse(one.cases[0].model).tensors
    assert truths.dtype == "bool" and truths.values == (True, False)
    assert [name for name, _ in call_types.kin(call, "float32")] == ["int64", "uint8"]


def test_a_scalar_of_an_instance_gets_a_dimension() -> None:
    text = b'{"api": "torch.argwhere", "args": [{"dtype": "float32", "shape": [], "values": [1.0]}]}'
    [found] = [one for one in arguments.variants(Case("instance", text, {}, Origin("test"))) if "0-D" in one.text]
    assert (found.kind, found.text) == ("value", "0-D input")
    assert instance.parse(found.cases[0].model).tensors[0].shape == (1,)


def test_beside_an_option_that_matters_ordinary_numbers_are_no_condition(judge: Judge) -> None:
    """With larger states everything saturates, peepholes or not: that hides the bug and explains nothing."""
    given = {
        "X": float32([[1]]),
        "W": np.zeros((1, 4, 1), np.float32),
        "R": np.full((1, 4, 1), 9, np.float32),
        "B": np.zeros((1, 8), np.float32),
        "sequence_lens": np.int32([1]),
        "initial_h": np.zeros((1, 1, 1), np.float32),
        "initial_c": np.ones((1, 1, 1), np.float32),
        "P": float32([1, 2, 3]),
    }
    case = case_of("LSTM", given, [1, 1, 1, 1], hidden_size=1)
    found = conditions(judge, failure_of(judge, case, "openvino"))
    needed = [one for one in found if one.needed]
    assert "optional input P" in [one.text for one in needed] and not [one for one in needed if one.kind == "value"]
    assert not [one for one in found if one.refuted], "nor is it worth a sentence that they are none"


def test_what_changes_nothing_when_it_is_left_out_is_ignored(judge: Judge) -> None:
    given = {"X": float32([[1]], [[2]]), "W": np.ones((1, 4, 1), np.float32), "R": np.ones((1, 4, 1), np.float32)}
    found = conditions(
        judge, failure_of(judge, case_of("LSTM", given, [2, 1, 1, 1], hidden_size=1, layout=1), "openvino")
    )
    assert [one.text for one in found if one.ignored] == ["layout=1"]


def test_an_option_is_ignored_also_where_other_sizes_show_another_bug(judge: Judge) -> None:
    """OpenVINO writes half of the result when a cubic Resize changes channels; of one number nothing can be told."""
    pytest.importorskip("openvino")
    held = {"sizes": np.array([1, 1, 3, 3], np.int64)}
    node = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="cubic", antialias=1)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 4])]
    infos.append(helper.make_tensor_value_info("sizes", TensorProto.INT64, [4]))
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 3, 3])]
    model = helper.make_model(
        helper.make_graph([node], "g", infos, outs), opset_imports=[helper.make_opsetid("", 19)], ir_version=9
    )
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 1, 4)
    case = Case("onnx", model.SerializeToString(), {"x": x, **held}, Origin("test"))
    found = conditions(judge, failure_of(judge, inputs.frozen(case, held), "openvino"))
    assert [one.text for one in found if one.ignored] == ["antialias=1"]
    assert not [one for one in found if "4-D" in one.text and one.needed]


def test_an_option_is_not_ignored_because_one_shape_is_that_without_it(judge: Judge) -> None:
    """OpenVINO pads a convolution of 1x1 kernels twice if it has strides: one column becomes two, as without."""
    pytest.importorskip("openvino")
    one, zero = np.array(1, np.float32), np.array(1, np.int8)
    held: dict[str, np.ndarray[Any, Any]] = {
        "x_scale": one,
        "x_zero_point": np.array(3, np.int8),
        "w": np.array([[[[0]], [[0]], [[0]]], [[[0]], [[1]], [[0]]]], np.int8),
        "w_scale": one,
        "w_zero_point": zero,
        "y_scale": one,
        "y_zero_point": zero,
    }
    x = np.array([0, 0, 0, 1, 0, 1, 1, 1, 0], np.int8).reshape(1, 3, 3, 1)
    case = case_of("QLinearConv", {"x": x, **held}, [1, 2, 3, 1], pads=[0, 0, 0, 1], strides=[1, 2])
    needed = {one.text: one for one in conditions(judge, failure_of(judge, inputs.frozen(case, held), "openvino"))}
    assert needed["strides"].needed and needed["pads"].needed
    assert not needed["strides"].ignored


def contrasts_of(case: Case, text: str) -> dict[str, contrasts.Contrast]:
    makers = (attributes.variants, values.variants) if case.kind == "onnx" else (arguments.variants,)
    [variant] = [one for make in makers for one in make(case) if one.text == text]
    return {one.said: one for one in contrasts.contrasts(case, variant)}


def test_what_takes_the_place_of_special_numbers_is_everything_that_they_are_not() -> None:
    case = case_of("Relu", {"x": float32(np.nan, -2, 5)}, [3])
    found = contrasts_of(case, "NaN X")
    assert "NaN in `x`" not in found and "an empty `x`" in found
    found = {said: one for said, one in found.items() if said.endswith("in `x`")}
    assert len(found) == 5
    filled = {said: list(np.asarray(one.case.inputs["x"])) for said, one in found.items()}
    assert filled["infinity in `x`"] == [np.inf, -2, 5] and filled["zeros in `x`"] == [0, -2, 5]


def test_an_integer_attribute_is_tried_with_other_integers_and_a_flag_is_not() -> None:
    case = case_of("ArgMax", {"data": float32([1, 2], [3, 4])}, [2, 1], axis=1, select_last_index=1)
    wider = {said: one.wider for said, one in contrasts_of(case, "axis=1").items() if one.wider}
    assert wider == {"`axis=2`": "axis other than 0"}
    assert not any(one.wider for one in contrasts_of(case, "select_last_index=1").values())


def test_a_word_is_tried_with_the_other_words_of_the_specification() -> None:
    given = {"X": np.ones((1, 1, 2, 2), np.float32), "roi": float32(), "scales": float32(1, 1, 2, 2)}
    found = contrasts_of(case_of("Resize", given, [1, 1, 4, 4], mode="cubic"), "mode=cubic")
    wider = {said: one.wider for said, one in found.items() if one.wider}
    assert wider == {"`mode=linear`": "mode other than nearest"}
    assert list(found)[-1] == "`mode=linear`", "what would refute the condition is asked before what would widen it"


def test_a_number_that_a_call_gives_is_tried_with_other_numbers_and_a_flag_is_not() -> None:
    tensor = b'{"dtype": "float32", "shape": [1, 1, 4, 4]}'
    text = b'{"api": "torch.nn.functional.avg_pool2d", "args": [%s, {"tuple": [2, 1]}, 3, 1, true]}' % tensor
    case = Case("instance", text, {}, Origin("test"))
    wider = {said: one.wider for said, one in contrasts_of(case, "stride=3").items() if one.wider}
    assert wider == {"`stride=4`": "stride", "`stride=2`": "stride", "`stride=6`": "stride"}
    assert not any(one.wider for one in contrasts_of(case, "ceil_mode=True").values())
    text = b'{"api": "torch.flip", "args": [%s], "kwargs": {"dims": {"tuple": [2, 1]}}}' % tensor
    found = contrasts_of(Case("instance", text, {}, Origin("test")), "dims=(2, 1)")
    wider = {said: one.wider for said, one in found.items() if one.wider}
    assert wider["`dims=(1, 2)`"] == wider["`dims=(3, 2)`"] == "dims"


def test_tensors_of_instances_have_contrasts_too() -> None:
    text = b'{"api": "torch.abs", "args": [{"dtype": "float32", "values": [-1.0, 2.0]}]}'
    found = contrasts_of(Case("instance", text, {}, Origin("test")), "negative values")
    assert "negative numbers in `x0`" not in found and "minus infinity in `x0`" not in found
    assert b"Infinity" in found["infinity in `x0`"].case.model or b"inf" in found["infinity in `x0`"].case.model


# ---------------------------------------------------------------- what other witnesses say


def resize(scale: float, mode: str) -> Case:
    """Two by two numbers with a scale that is not the quotient of the sizes: 2 * 0.8 is 1.6, which makes one."""
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode)
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    size = int(2 * scale)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, size, size])]
    scales = onnx.numpy_helper.from_array(float32(1, 1, scale, scale), "scales")
    graph = helper.make_graph([node], "g", infos, outs, [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    return Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))


def test_an_option_that_passes_here_by_chance_is_refuted_by_other_sizes_and_the_cause_is_named(judge: Judge) -> None:
    """TVM takes the quotient of the sizes for the scale: the nearest of two is the same element all the same."""
    pytest.importorskip("tvm")
    found = conditions(judge, failure_of(judge, resize(0.8, "cubic"), "tvm"))
    assert "scales that give no whole sizes" in [one.text for one in found if one.needed]
    [mode] = [one for one in found if one.refuted]
    assert mode.text == "mode=cubic" and "but with `scales = " in mode.sentence


def quantize(dtype: Any, zero_point: int) -> Case:
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["y"])
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    constants = [
        onnx.numpy_helper.from_array(np.array(2, np.float32), "scale"),
        onnx.numpy_helper.from_array(np.array(zero_point, dtype), "zero_point"),
    ]
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", kind, [3])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"x": float32(1, 2, 3)}, Origin("test"))


def test_a_type_is_no_condition_where_its_kin_fail_and_a_zero_point_is_one(judge: Judge) -> None:
    """OpenVINO adds the zero point before it rounds: halves go to the even number of the sum."""
    pytest.importorskip("openvino")
    failure = failure_of(judge, quantize(np.uint16, 1), "openvino")
    found = conditions(judge, failure)
    assert [one.text for one in found if one.needed] == ["odd y_zero_point", "halfway x"]
    [types] = [one for one in found if one.kind == "dtype"]
    assert not types.needed and types.sentence == (
        "With uint8, int8 and int16 in the place of uint16 it fails as well."
    )
    assert (
        titles.subject(failure.case, ["QuantizeLinear"], found) == "QuantizeLinear with odd y_zero_point and halfway x"
    )


def test_a_flag_that_the_model_cannot_be_without_is_the_setting(judge: Judge) -> None:
    pytest.importorskip("openvino")
    x = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2)
    node = helper.make_node("DFT", ["x"], ["y"], inverse=1, onesided=1)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 2])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4, 1])]
    graph = helper.make_graph([node], "g", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    case = Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert [(one.kind, one.text) for one in found if one.kind in ("attribute", "setting")] == [
        ("setting", "inverse=1"),
        ("attribute", "onesided=1"),
    ]
    assert titles.subject(case, ["DFT"], found) == "DFT with onesided=1 and inverse=1"


def test_an_empty_result_of_the_right_type_proves_that_the_type_of_the_data_matters(judge: Judge) -> None:
    """TVM divides integers as integers, whether there are any or none."""
    pytest.importorskip("tvm")
    tensor = {"dtype": "int64", "shape": [0], "values": []}
    call = {"library": "torch", "api": "torch.div", "args": [{"tensor": 0}, {"tensor": 1}], "kwargs": {}}
    case = Case("instance", json.dumps({**call, "tensors": [tensor, tensor]}).encode(), {}, Origin("test"))
    failure = failure_of(judge, case, "tvm")
    assert failure.symptom == "wrong:dtype"
    assert "int64" in [one.text for one in conditions(judge, failure) if one.needed or one.also]
    full = [one.tensors for one in map(_instances.parsed, arguments.full(case))]
    assert [one.values for one in full[2]] == [(1, 1), (1, 1)], "zero divides nothing"


def test_an_empty_result_that_is_right_proves_nothing(judge: Judge) -> None:
    case = case_of("Relu", {"x": np.zeros((0, 2), np.float32)}, [0, 2])
    verdict = judge.examine(case, catalogue.target("reference"))
    failure = Failure(case, judge.reference, verdict.outcome, None, "inconsistency", "wrong:values", "")  # type: ignore[arg-type]
    inquiry = Inquiry(judge, failure, 2)
    assert inquiry.passes(case) is None
    assert inquiry.passes(case_of("Relu", {"x": np.zeros((1, 2), np.float32)}, [1, 2])) is True
    crash = dataclasses.replace(failure, symptom="crash:SIGSEGV")
    assert Inquiry(judge, crash, 1).passes(case) is True, "to live is an answer, whatever comes out"
    assert inquiry.over() and inquiry.passes(case_of("Abs", {"x": float32(1)}, [1])) is None


def arg_max(*values: float) -> Case:
    """The last of the equal largest numbers."""
    node = helper.make_node("ArgMax", ["x"], ["y"], select_last_index=1)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [len(values)])]
    outs = [helper.make_tensor_value_info("y", TensorProto.INT64, [1])]
    graph = helper.make_graph([node], "g", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return Case("onnx", model.SerializeToString(), {"x": float32(*values)}, Origin("test"))


def test_an_option_that_is_looked_at_elsewhere_is_not_ignored(judge: Judge) -> None:
    found = conditions(judge, failure_of(judge, arg_max(1, 1), str(PLANTED)))
    [option] = [one for one in found if one.kind == "attribute"]
    assert option.needed and not option.ignored


def test_a_cast_is_told_with_its_types_where_only_their_kin_were_asked(judge: Judge) -> None:
    """TVM makes another number of the NaN of every float8, and float32 holds a NaN that float16 would, too."""
    pytest.importorskip("tvm")
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT16)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT8E5M2, [2])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [2])]
    graph = helper.make_graph([node], "g", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    x = float32(0.5, np.nan).astype(helper.tensor_dtype_to_np_dtype(TensorProto.FLOAT8E5M2))
    case = Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "tvm"))
    words = "Cast (float8e5m2 to float16) with zero, subnormal and NaN input"
    assert titles.subject(case, ["Cast"], found) == words
    kin = "float8e4m3fn, float8e4m3fnuz and float8e5m2fnuz"
    assert f"With {kin} in the place of float8e5m2 the result is wrong in other numbers." in [
        one.sentence for one in found
    ]


def test_a_type_without_an_ordinary_one_is_named_beside_its_kin_that_fail(judge: Judge) -> None:
    pytest.importorskip("openvino")
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["y"])
    constants = [
        onnx.numpy_helper.from_array(np.array(2, np.float32), "scale"),
        helper.make_tensor("zero_point", TensorProto.FLOAT8E5M2, [], [0]),
    ]
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT8E5M2, [3])]
    graph = helper.make_graph([node], "g", infos, outs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), {"x": float32(1, 2, np.nan)}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "openvino"))
    [types] = [one for one in found if one.kind == "dtype"]
    assert types.also == ("float8e4m3fn",)
    words = "QuantizeLinear (float32 to float8e5m2, also float8e4m3fn) with NaN x"
    assert titles.subject(case, ["QuantizeLinear"], found) == words


def test_a_scalar_is_told_beside_the_argument_that_matters_with_it() -> None:
    """A number may hide what an option does; to have no axis at all does not."""
    told = [Condition("attribute", "dim", "…", True), Condition("value", "0-D input", "…", True)]
    assert list(conditions_._telling(told)) == told
    assert list(conditions_._telling([told[0], Condition("value", "zero values", "…", True)])) == told[:1]
    flag = Condition("attribute", "keepdim=True", "…", True)
    assert list(conditions_._telling([flag, *told])) == [flag, told[1]], "a title has room for two"


def test_what_fails_without_its_negative_numbers_does_not_need_them(judge: Judge) -> None:
    """OpenVINO rounds after it has added the zero point; that zeros pass, which are even, says nothing of the sign."""
    pytest.importorskip("openvino")
    x, scale = np.float32([[[5], [11]]]), np.float32([1, 2])
    node = helper.make_node("QuantizeLinear", ["x", "y_scale", "y_zero_point"], ["y"])
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    out = helper.make_tensor_value_info("y", TensorProto.INT8, x.shape)
    held = [numpy_helper.from_array(scale, "y_scale"), numpy_helper.from_array(np.int8([-2, -1]), "y_zero_point")]
    model = helper.make_model(helper.make_graph([node], "g", [info], [out], held), ir_version=13)
    case = Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))
    told = [one.text for one in conditions(judge, failure_of(judge, case, "openvino")) if one.needed]
    assert "odd y_zero_point" in told and "negative y_zero_point" not in told


def test_an_object_among_the_arguments_of_a_layer_is_told_as_a_person_would_write_it() -> None:
    made = b'{"object": {"api": "keras.initializers.Constant", "kwargs": {"value": 0.5}}}'
    tensor = b'{"tensor": 0}], "tensors": [{"dtype": "float32", "shape": [1, 2], "values": [1, 2]}'
    init = b'{"kwargs": {"units": 1, "bias_initializer": %s}}' % made
    text = b'{"library": "keras", "api": "keras.layers.Dense", "args": [%s], "init": %s}' % (tensor, init)
    found = [one.text for one in arguments.of_layers(Case("keras", text, {}, Origin("test")))]
    assert "bias_initializer=keras.initializers.Constant(value=0.5)" in found


def test_sizes_that_are_left_open_are_a_condition(judge: Judge) -> None:
    """TVM's Resize takes sizes of a shape for numbers, which a batch of any size is not."""
    pytest.importorskip("tvm")
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Resize", ["x", "", "", "s"], ["y"])]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1, 1, 2])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)
    opset = helper.make_opsetid("", 19)
    model = helper.make_model(helper.make_graph(nodes, "g", [info], [out]), opset_imports=[opset], ir_version=9)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([[[[1, 2]]]])}, Origin("test"))
    failure = failure_of(judge, case, "tvm")
    found = conditions(judge, failure)
    assert "With the sizes of `x` declared as numbers the same model passes." in [one.sentence for one in found]
    told = titles.happening(case, failure.outcome, None, failure.symptom, titles.subject(case, ["Resize"], found))
    assert told.startswith("Converting Resize with symbolic dimensions fails with AttributeError: ")


def failing_layer(judge: Judge) -> Failure:
    """OpenVINO's Relu gives zero for what is no number; Dense without it does not."""
    pytest.importorskip("openvino")
    tensor = b'{"dtype": "float32", "shape": [2, 2], "values": ["nan", "nan", "nan", "nan"]}'
    text = b'{"library": "keras", "api": "keras.layers.Dense", "args": [%s], "init": {"kwargs": %s}}'
    case = Case("keras", text % (tensor, b'{"units": 1, "activation": "relu"}'), {}, Origin("test"))
    return failure_of(judge, case, "openvino")


def test_an_argument_of_a_layer_is_a_condition_and_so_are_its_values(judge: Judge) -> None:
    """Infinities make a NaN as well, so the title speaks of both."""
    failure = failing_layer(judge)
    found = conditions(judge, failure)
    assert {one.text for one in found if one.needed} == {'activation="relu"', "NaN or infinite values"}
    told = titles.subject(failure.case, ["keras.layers.Dense"], found)
    assert told == 'keras.layers.Dense with activation="relu" and NaN or infinite values'
    assert any("With no NaN in `input_0` the same call passes" in one.sentence for one in found), found
    assert severity(failure.symptom, found)[0] == "medium"


def test_what_fails_with_nan_and_with_infinity_is_said_of_both(judge: Judge) -> None:
    """TVM folds a product with zero to zero."""
    pytest.importorskip("tvm")
    tensor = b'{"dtype": "float32", "shape": [1], "values": ["nan"]}'
    text = b'{"library": "torch", "api": "torch.mul", "args": [%s, 0.0]}'
    case = Case("instance", text % tensor, {}, Origin("test"))
    [told] = [one for one in conditions(judge, failure_of(judge, case, "tvm")) if one.needed and one.kind == "value"]
    assert told.text == "NaN or infinite values"
    assert told.sentence == "With no NaN in `x0` the same call passes; with infinity in `x0` it fails as well."


def test_a_type_is_no_condition_where_another_fails_at_its_own_limits(judge: Judge) -> None:
    """TVM's largest starts from the least number of the type: nothing is larger than a 0 in uint8."""
    pytest.importorskip("tvm")
    node = helper.make_node("ArgMax", ["x"], ["y"])
    infos = [helper.make_tensor_value_info("x", TensorProto.UINT8, [2])]
    outs = [helper.make_tensor_value_info("y", TensorProto.INT64, [1])]
    graph = helper.make_graph([node], "g", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    case = Case("onnx", model.SerializeToString(), {"x": np.zeros(2, np.uint8)}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "tvm"))
    [told] = [one for one in found if one.kind == "dtype"]
    assert told.refuted and told.sentence == (
        "In int32 instead of uint8 the same model passes, "
        "but with the smallest number of int32 in the place of uint8's it fails as well."
    )
    assert titles.subject(case, ["ArgMax"], found) == "ArgMax"


def test_limits_are_looked_at_where_numbers_are_at_them() -> None:
    fed = {"x": np.array([255, 7, 0], np.uint8)}
    [one] = dtypes.alternatives(case_of("Identity", fed, [3]))
    assert one.limits is not None and one.limits[0] == "smallest number and largest number"
    assert one.limits[1].inputs["x"].tolist() == [2**31 - 1, 7, -(2**31)]  # type: ignore[union-attr]
    [one] = dtypes.alternatives(case_of("Identity", {"x": np.array([7], np.uint8)}, [1]))
    assert one.limits is None
    [one] = dtypes.alternatives(case_of("Identity", {"x": np.array([0], np.float16)}, [1]))
    assert one.limits is None


def test_what_is_ignored_only_as_an_input_is_not_said_to_be_ignored(judge: Judge) -> None:
    """OpenVINO fills with a constant value that is a constant."""
    pytest.importorskip("openvino")
    fed = {"x": float32(1, 2), "constant_value": np.array(1, np.float32)}
    pads = numpy_helper.from_array(np.array([1, 1]), "pads")
    node = helper.make_node("Pad", ["x", "pads", "constant_value"], ["y"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in fed.items()]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])]
    graph = helper.make_graph([node], "g", infos, outs, [pads])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), fed, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert titles.subject(case, ["Pad"], found) == "Pad ignores constant_value as an input beside constant pads"


def test_the_type_of_data_is_named_only_where_an_ordinary_one_passes(judge: Judge) -> None:
    """OpenVINO gives one dimension too many whatever the type; its Where of truth values fails with them alone."""
    pytest.importorskip("openvino")
    given = {"input": np.array(True), "shape": np.zeros((0,), np.int64)}
    case = inputs.frozen(case_of("Expand", given, []), ["shape"])
    found = conditions(judge, failure_of(judge, case, "openvino"))
    [kind] = [one for one in found if one.kind == "dtype"]
    assert (kind.text, kind.needed) == ("bool", False) and kind.sentence.endswith("fails as well.")
    assert "bool" not in titles.subject(case, ["Expand"], found)


def test_all_data_of_one_type_become_another_and_sizes_stay() -> None:
    given = {"x": np.array([2, 3], np.int64), "shape": np.array([2, 2], np.int64)}
    [one] = dtypes.of_data(case_of("Expand", given, [2, 2]))
    assert one.plain is not None
    name, case = one.plain
    assert (one.name, name, [each for each, _ in one.kin]) == ("int64", "float32", ["int32"])
    assert [case.inputs[each].dtype.name for each in given] == ["float32", "int64"]  # type: ignore[union-attr]
    assert onnx.load_from_string(case.model).graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert not list(dtypes.of_data(case_of("Relu", {"x": float32(1)}, [1])))


def test_a_type_of_a_call_is_named_beside_its_kin_that_fail(judge: Judge) -> None:
    """OpenVINO's logsumexp gives integers of integers, whatever they are."""
    pytest.importorskip("openvino")
    tensor = {"dtype": "int64", "shape": [2], "values": [7, 3]}
    call = {"api": "torch.logsumexp", "args": [tensor, 0], "kwargs": {}}
    case = Case("instance", json.dumps(call).encode(), {}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert titles.subject(case, ["torch.logsumexp"], found) == "torch.logsumexp (integers)"


def test_a_model_that_is_wrong_without_any_input_does_not_need_one_constant_or_the_other(judge: Judge) -> None:
    """OpenVINO folds a QLinearConv to zeros."""
    pytest.importorskip("openvino")
    one, two = np.array(1, np.float32), np.array(2, np.uint8)
    names = ("x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point")
    held = (np.zeros((2, 1, 1), np.uint8), one, two, np.uint8([[[1]], [[0]]]), one, two, one, np.array(3, np.uint8))
    case = case_of("QLinearConv", dict(zip(names, held, strict=True)), [2, 2, 1])
    case = inputs.frozen(case, names)
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert titles.subject(case, ["QLinearConv"], found) == "QLinearConv (uint8) with constants alone"


def test_a_type_is_named_with_its_kin_where_the_ordinary_one_fails_in_another_way(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TVM refuses LRN in all but float32, in which the reference is wrong about it."""
    case = case_of("Relu", {"x": np.ones(2, np.float64)}, [2])
    target = catalogue.target("tvm")
    raised = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("TypeError", "two types"))

    def examine(_: Judge, asked: Case, *args: Any, **options: Any) -> Verdict:
        ordinary = asked.inputs["x"].dtype == np.float32  # type: ignore[union-attr]
        symptom = "wrong:values" if ordinary else "exception:TypeError"
        failure = Failure(asked, target, raised, None, "crash", symptom, "")
        return Verdict(asked, target, raised.status, "", raised, failure)

    monkeypatch.setattr(Judge, "examine", examine)
    failure = judge.examine(case, target).failure
    assert failure is not None
    [kind] = [one for one in conditions(judge, failure) if one.kind == "dtype"]
    assert kind.sentence.startswith("In float32 instead of float64 the same model fails in another way; with float16")
    assert titles.subject(case, ["Relu"], [kind]) == "Relu (float64, also float16 and bfloat16)"


def test_a_model_without_nodes_is_asked_about_like_any_other(judge: Judge, tmp_path: Path) -> None:
    """Its input is its output, which a compiler may still get wrong."""
    backend = tmp_path / "wrong.py"
    backend.write_text(
        "PACKAGES = ()\nKINDS = ('onnx',)\nOPTIONS = {}\n\n"
        "def warm():\n    import numpy\n\n"
        "def devices():\n    return ['CPU']\n\n"
        "def execute(job, enter):\n    enter('run')\n"
        "    return [(name, -value - 5) for name, value in dict(job.inputs).items()]\n"
    )
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    model = helper.make_model(helper.make_graph([], "g", [info], [info]), ir_version=9)
    case = Case("onnx", model.SerializeToString(), {"x": np.ones(2, np.float32)}, Origin("test"))
    failure = judge.examine(case, catalogue.target(str(backend))).failure
    assert failure is not None and failure.symptom.startswith("wrong:")
    assert not any(one.needed for one in conditions(judge, failure) if one.kind != "value")


def test_other_shapes_are_a_condition_of_a_call_that_broadcasts_alone(judge: Judge) -> None:
    """`index_fill` takes positions of any shape: with a longer `x0` it gives another result, so that tells nothing."""
    pytest.importorskip("tvm")
    pytest.importorskip("openvino")

    def told(api: str, backend: str, *tensors: tuple[str, list[int], list[Any]], more: list[Any]) -> list[str]:
        described = [{"dtype": kind, "shape": shape, "values": numbers} for kind, shape, numbers in tensors]
        call = {"library": "torch", "api": api, "args": more, "tensors": described}
        case = Case("instance", json.dumps(call).encode(), {}, Origin("test"))
        return [one.text for one in conditions(judge, failure_of(judge, case, backend)) if one.needed]

    positions = [{"tensor": 0}, 0, {"tensor": 1}, 1.0]
    filled = told("torch.index_fill", "openvino", ("float32", [], [1.0]), ("int64", [1], [0]), more=positions)
    assert arguments.SCALAR in filled and arguments.BROADCAST not in filled
    gathered = told("torch.gather", "openvino", ("float32", [], [1.0]), ("int64", [1], [0]), more=positions[:3])
    assert arguments.SCALAR in gathered and arguments.BROADCAST not in gathered, "of one shape there is no scalar"
    both = [{"tensor": 0}, {"tensor": 1}]
    mask = ("bool", [2], [True, False])
    assert arguments.BROADCAST in told("torch.masked_select", "tvm", ("float32", [1], [1.0]), mask, more=both)


def test_what_fails_in_every_type_but_one_is_not_told_of_integers(judge: Judge) -> None:
    """TVM adds the bias to a convolution that it makes float32 whatever it is of."""
    pytest.importorskip("tvm")
    tensors = [{"dtype": "int64", "shape": shape, "values": [3]} for shape in ([1, 1, 1], [1, 1, 1], [1])]
    arguments_ = [{"tensor": at} for at in range(3)]
    call = {"library": "torch", "api": "torch.nn.functional.conv1d", "args": arguments_, "tensors": tensors}
    case = Case("instance", json.dumps(call).encode(), {}, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "tvm"))
    [types] = [one for one in found if one.kind == "dtype" and one.needed]
    assert types.sentence == (
        "In float32 instead of int64 the same call passes; "
        "with int32, uint8, int8, float64 and float16 in the place of int64 it fails as well."
    )
    words = titles.subject(case, ["torch.nn.functional.conv1d"], found)
    assert words == "torch.nn.functional.conv1d (types other than float32; also conv2d and conv3d)"


def test_a_vector_that_happens_to_have_a_number_for_each_dimension_keeps_its_length(judge: Judge) -> None:
    """PRelu's slope has one for each of three channels, whatever the dimensions of X."""
    pytest.importorskip("tvm")
    info = helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, 3, 2])
    slope = numpy_helper.from_array(np.float32([1, 2, 3]), "slope")
    out = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, 3, 2])
    node = helper.make_node("PRelu", ["X", "slope"], ["Y"])
    graph = helper.make_graph([node], "g", [info, helper.make_tensor_value_info("slope", 1, [3])], [out], [slope])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=3)
    fed = {"X": np.arange(1, 7, dtype=np.float32).reshape(1, 3, 2)}
    case = Case("onnx", model.SerializeToString(), fed, Origin("test"))
    found = conditions(judge, failure_of(judge, case, "tvm"))
    assert [one.text for one in found if one.needed] == ["X of more than 2 dimensions"]
