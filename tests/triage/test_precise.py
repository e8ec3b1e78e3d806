"""Conditions are as narrow as what fails: which infinity, which of two types, which sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import Condition, conditions
from triage.numbers_alike import numbers_alike
from triage.precise import superseded
from triage.variants import arguments, dtypes, fed_sequences, sizes, values

PLANTED = str(Path(__file__).with_name("planted_numbers.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(
    op_type: str,
    given: dict[str, Any],
    constants: dict[str, Any] | None = None,
    kind: int = TensorProto.FLOAT,
    rank: int = 1,
    names: Sequence[str] = (),
    **attributes: Any,
) -> Case:
    """A model of one node that reads `names`, else all tensors; its output has unknown sizes."""
    held = {name: np.asarray(value) for name, value in (constants or {}).items()}
    fed = {name: np.asarray(value) for name, value in given.items()}
    node = helper.make_node(op_type, list(names) or [*fed, *held], ["out"], **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in fed.items()
    ]
    out = helper.make_tensor_value_info("out", kind, [None] * rank)
    graph = helper.make_graph([node], "g", infos, [out], [numpy_helper.from_array(v, k) for k, v in held.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return Case("onnx", model.SerializeToString(), fed, Origin("test", op_type))


def needed(judge: Judge, case: Case) -> dict[str, str]:
    """What the failure needs, and what was seen of each."""
    failure = judge.examine(case, catalogue.target(PLANTED)).failure
    assert failure is not None
    return {one.text: one.sentence for one in conditions(judge, failure) if one.needed}


def failure_of(judge: Judge, case: Case) -> Failure:
    failure = judge.examine(case, catalogue.target(PLANTED)).failure
    assert failure is not None
    return failure


def test_that_an_attribute_names_another_type_than_the_input_has_is_one_condition(judge: Judge) -> None:
    case = case_of("EyeLike", {"x": np.ones((2, 3), np.int64)}, rank=2, dtype=TensorProto.FLOAT)
    assert needed(judge, case) == {
        "dtype other than that of input": "With `dtype` and `x` of one type, int64 or float32, the model passes."
    }


def test_of_two_types_the_one_alone_is_told_that_fails_beside_its_own(judge: Judge) -> None:
    constants = {"depth": np.float32(3), "values": np.int64([1, 2])}
    case = case_of("OneHot", {"indices": np.int64([1, 2])}, constants, TensorProto.INT64, rank=2)
    assert list(needed(judge, case)) == ["float32 depth"]


def test_all_that_is_of_the_type_of_the_data_is_retyped_where_it_may_be(judge: Judge) -> None:
    case = case_of("Pow", {"x": np.int64([1, 2]), "y": np.int64([3, 2])}, kind=TensorProto.INT64)
    [told] = [one for one in conditions(judge, failure_of(judge, case)) if one.kind == "dtype"]
    assert told.also == ("int32",)
    assert told.sentence.startswith("In float32 instead of int64 the same model passes")


def test_what_draws_numbers_is_tried_with_a_seed_and_need_only_run(judge: Judge) -> None:
    assert list(needed(judge, case_of("Bernoulli", {"x": np.float32([1, 0])}))) == ["seed left out"]


def test_a_tie_is_told_in_steps_of_the_scale(judge: Judge) -> None:
    constants = {"scale": np.float32(2), "zero": np.uint8(0)}
    case = case_of("QuantizeLinear", {"x": np.float32([1, 2, 5])}, constants, TensorProto.UINT8)
    found = needed(judge, case)
    assert found["halfway x"] == "With no number half-way between two multiples of 2 in `x` the same model passes."


def test_of_two_infinities_the_one_alone_is_told_that_matters(judge: Judge) -> None:
    case = case_of("ReduceMax", {"x": np.float32([-np.inf, -np.inf])}, {"axes": np.int64([0])})
    assert [text for text in needed(judge, case) if "data" in text] == ["all--inf or empty data"]


def test_a_number_that_is_out_of_range_is_large_rather_than_infinite(judge: Judge) -> None:
    for numbers, told in (([1, 500], "input above 448 in size"), ([1, np.inf], "large input")):
        case = case_of("Cast", {"x": np.float32(numbers)}, kind=TensorProto.FLOAT8E4M3FN, to=TensorProto.FLOAT8E4M3FN)
        assert list(needed(judge, case)) == [told, "float8e4m3fn"]


def test_the_test_that_failed_first_takes_no_sizes_away(judge: Judge) -> None:
    """It has a one in its shape, too; that is no number that any tensor has or has not."""
    given = {"data": np.float32([[1], [2], [3]]), "shape": np.int64([1, 2])}
    case = case_of("Expand", given, rank=2)
    found = conditions(judge, failure_of(judge, case), seen=[case])
    assert [one.text for one in found if one.needed] == ["1 in shape"]


def test_a_shape_that_leaves_out_leading_axes_is_told_rather_than_a_rank(judge: Judge) -> None:
    given = {"data": np.ones((2, 3, 1), np.float32), "shape": np.int64([1, 2])}
    case = case_of("Expand", given, rank=3)
    assert sizes.SHORT in needed(judge, case)
    assert superseded(condition("3-D input", "relation"), [condition(sizes.SHORT)])
    assert not superseded(condition("a single input", "relation"), [condition(sizes.SHORT)])


def test_a_shape_that_leaves_out_axes_is_shown_with_the_sizes_of_the_result() -> None:
    """A 1 where the data are longer is another bug of Expand, and a test with both stays red when one is mended."""
    given = {"data": np.ones((1, 3, 1), np.float32), "shape": np.int64([1, 3])}
    changed = sizes.trailing(case_of("Expand", given, rank=3), (1, 3, 3))
    assert changed is not None and np.asarray(changed.inputs["shape"]).tolist() == [3, 3]
    assert sizes.trailing(changed, (1, 3, 3)) is None


def test_what_a_result_is_filled_with_is_tried_in_an_ordinary_type() -> None:
    """Of ConstantOfShape no input has the type of the result."""
    value = helper.make_tensor("value", TensorProto.INT32, [1], [7])
    case = case_of("ConstantOfShape", {"x": np.int64([2])}, kind=TensorProto.INT32, value=value)
    [one] = dtypes.of_value(case)
    assert one.name == "int32" and one.plain is not None and one.plain[0] == "float32"
    other = one.plain[1]
    [result] = ReferenceEvaluator(onnx.load_from_string(other.model)).run(None, dict(other.inputs))
    assert (result.dtype, result.tolist()) == (np.float32, [7, 7])


def test_axes_that_need_only_be_all_of_them_are_told_so(judge: Judge) -> None:
    data = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    constants = {"s": np.float32([0.5, 0.5])}
    case = case_of("Resize", {"x": data}, constants, rank=4, names=["x", "", "s"], axes=[2, 3])
    found = conditions(judge, failure_of(judge, case))
    assert titles.subject(case, ["Resize"], found) == "Resize with axes that leave some out"


@pytest.mark.parametrize("perturb", [None, 85])
def test_many_dimensions_are_told_of_memory_that_nobody_wrote_too(judge: Judge, perturb: int | None) -> None:
    """Few are not: in some sizes it may be right by chance."""
    case = case_of("Neg", {"x": np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)}, rank=4)
    assert list(needed(replace(judge, perturb=perturb), case)) == ["X of more than 3 dimensions"]


def test_several_scalars_of_a_call_get_a_dimension_together() -> None:
    scalar, indices = {"dtype": "float32", "shape": [], "values": [1]}, {"dtype": "int64", "shape": [1], "values": [0]}
    call = {"library": "torch", "api": "torch.index_copy", "args": [{"tensor": 0}, 0, {"tensor": 1}, {"tensor": 2}]}
    text = json.dumps({**call, "kwargs": {}, "tensors": [scalar, indices, scalar]})
    case = Case("instance", text.encode(), {}, Origin("test"))
    [both] = [one for one in arguments.variants(case) if one.text == arguments.SCALARS]
    assert [one["shape"] for one in json.loads(both.cases[0].model)["tensors"]] == [[1], [1], [1]]


def test_numbers_that_are_none_are_left_out_of_a_list_of_a_call() -> None:
    given = {"args": [{"tensor": 0}, [2, 0]], "kwargs": {}, "library": "torch", "api": "torch.split_with_sizes"}
    tensor = {"dtype": "float32", "shape": [2], "values": [1, 2]}
    case = Case("instance", json.dumps({**given, "tensors": [tensor]}).encode(), {}, Origin("test"))
    [one] = [one for one in arguments.variants(case) if one.text.startswith("0 in ")]
    assert one.sentence == "With `argument 2 = [2]` the same call passes."
    assert json.loads(one.cases[0].model)["args"] == [{"tensor": 0}, [2]]


def test_scales_are_told_by_the_sizes_that_they_give(judge: Judge) -> None:
    data = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    case = case_of("Resize", {"x": data}, {"s": np.float32([1, 1, 0.6, 0.6])}, rank=4, names=["x", "", "s"])
    failure = failure_of(judge, case)
    found = conditions(judge, failure)
    assert [one.text for one in found if one.needed] == ["scales that give no whole sizes"]
    assert titles.subject(case, ["Resize"], found) == "Resize with scales that give no whole sizes"


def test_an_attribute_without_which_the_model_is_invalid_is_the_setting_where_nothing_else_is_told(
    judge: Judge,
) -> None:
    constants = {"scale": np.float32([[2, 3], [4, 5]]), "zero": np.ones((2, 2), np.uint8)}
    case = case_of("DequantizeLinear", {"x": np.ones((2, 4), np.uint8)}, constants, rank=2, block_size=2)
    found = conditions(judge, failure_of(judge, case))
    assert titles.subject(case, ["DequantizeLinear"], found) == "DequantizeLinear with block_size"


def test_zero_points_that_are_left_out_are_given_for_every_scale(judge: Judge) -> None:
    scales = {"scale": np.float32([[2, 3], [4, 5]])}
    case = case_of("QuantizeLinear", {"x": np.ones((2, 4), np.float32)}, scales, TensorProto.UINT8, 2, block_size=2)
    found = conditions(judge, failure_of(judge, case))
    title = "QuantizeLinear (float32 to uint8) with y_zero_point left out and block_size"
    assert titles.subject(case, ["QuantizeLinear"], found) == title


def sequence(members: Sequence[int]) -> Case:
    node = helper.make_node("SequenceLength", ["s"], ["out"])
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.INT64, [1]))
    out = helper.make_tensor_value_info("out", TensorProto.INT64, [])
    graph = helper.make_graph([node], "g", [helper.make_value_info("s", kind)], [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return Case("onnx", model.SerializeToString(), {"s": [np.int64([one]) for one in members]}, Origin("test"))


@pytest.mark.parametrize("members", [[], [1, 2]])
def test_a_sequence_that_is_fed_is_tried_as_one_that_the_model_makes(judge: Judge, members: list[int]) -> None:
    assert list(needed(judge, sequence(members))) == [fed_sequences.TEXT]


def test_one_number_in_a_vector_is_tried_as_a_scalar(judge: Judge) -> None:
    case = case_of("Clip", {"x": np.float32([1, 2])}, {"least": np.float32([2])})
    [one] = [one for one in values.variants(case) if one.text.startswith("1-D")]
    assert one.text == "1-D min" and one.sentence == "With a 0-D `least` the same model passes."


def condition(text: str, kind: str = "value", *, holds: bool = True) -> Condition:
    return Condition(kind, text, "", holds)


@pytest.mark.parametrize(
    ("text", "kind", "holds", "others", "gone"),
    [
        ("large x", "value", True, [condition("infinite x")], True),
        ("large x", "value", True, [condition("infinite y")], False),
        ("infinite x", "value", True, [condition("-inf x")], True),
        ("infinite x", "value", True, [condition("-inf x", holds=False)], False),
        ("-inf x", "value", False, [condition("infinite x")], True),
        ("fractional x", "value", True, [condition("halfway x")], True),
        ("int64", "dtype", False, [condition("dtype other than that of input", "types")], True),
        ("dtype", "attribute", True, [condition("dtype other than that of input", "types")], True),
        ("dim=0", "attribute", True, [condition("0-D inputs"), condition("keepdim=True", "attribute")], True),
        ("dim=0", "attribute", True, [condition("0-D inputs")], False),
        ("axes", "mode", False, [condition("axes=[1]", "attribute")], True),
        ("axes", "mode", False, [condition("axis=1", "attribute")], False),
        ("keepdim=True", "attribute", True, [condition("0-D inputs")], False),
        ("k=1", "attribute", True, [condition("dtype other than that of input", "types")], False),
    ],
)
def test_what_another_condition_says_better_is_not_told(
    text: str, kind: str, holds: bool, others: list[Condition], gone: bool
) -> None:
    assert superseded(condition(text, kind, holds=holds), others) is gone


def test_casts_that_give_other_numbers_are_not_told_of_one_another(judge: Judge) -> None:
    """One infinity is not the other, nor NaN."""
    one = failure_of(judge, case_of("ReduceMax", {"x": np.float32([[-np.inf, 2]])}, {"axes": np.int64([0])}, rank=2))
    for numbers, alike in (([-3.4e38, 2], True), ([-np.inf, 2], False), ([np.nan, 2], False), ([-3.4e38, 3], False)):
        outputs = (("out", np.float32([numbers])),)
        other = replace(one, outcome=replace(one.outcome, outputs=outputs))
        assert numbers_alike(one, other) is alike


def test_a_part_without_elements_matters_only_where_others_follow() -> None:
    """TVM wants places at which to split that grow: 2, 0 has none that do not."""
    pytest.importorskip("tvm")
    case = case_of("Split", {"x": np.float32([1, 2])}, {"split": np.int64([0, 2])}, names=["x", "split"], axis=0)
    model = onnx.load_from_string(case.model)
    model.graph.node[0].output.append("rest")
    model.graph.output.append(helper.make_tensor_value_info("rest", TensorProto.FLOAT, [None]))
    case = replace(case, model=model.SerializeToString())
    with Runner(jobs=1) as runner:
        judge = Judge(runner, catalogue.target("reference"))
        failure = judge.examine(case, catalogue.target("tvm")).failure
        assert failure is not None, "the compiler no longer has this bug: find another for the test"
        assert [one.text for one in conditions(judge, failure) if one.needed] == ["zero split before the last"]
