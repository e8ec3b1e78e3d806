"""What holds between inputs is found by neighbours, and said as widely as further cases allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from tests.triage.bugs import bug
from triage import drafting, equality, seen, titles
from triage.conditions import conditions
from triage.contrasts import contrasts
from triage.court.evidence import Judgement, Ruling
from triage.submodel import load
from triage.variants import relations, values
from triage.witness import better

PLANTED = str(Path(__file__).with_name("planted_relations.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(
    op_type: str,
    names: Sequence[str],
    given: dict[str, Any],
    rank: int,
    constants: dict[str, Any] | None = None,
    kind: int = TensorProto.FLOAT,
    **attributes: Any,
) -> Case:
    """A model of one node that reads `names`; its output has unknown sizes."""
    node = helper.make_node(op_type, list(names), ["out"], **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype), np.shape(value))
        for name, value in given.items()
    ]
    out = helper.make_tensor_value_info("out", kind, [None] * rank)
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    graph = helper.make_graph([node], "g", infos, [out], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    return Case("onnx", model.SerializeToString(), dict(given), Origin("test", op_type))


def failure_of(judge: Judge, case: Case) -> Failure:
    failure = judge.examine(case, catalogue.target(PLANTED)).failure
    assert failure is not None
    return failure


def subject(judge: Judge, case: Case, *seen: Case) -> str:
    found = conditions(judge, failure_of(judge, case), seen=seen)
    return titles.subject(case, [load(case).graph.node[0].op_type], found)


INTS, FLOATS = np.array([1, 2, 3]), np.float32([1, 2, 3])
SQUARE = np.float32([[[[1, 2], [3, 4]]]])


def test_inputs_of_two_types_are_the_condition_whichever_has_which(judge: Judge) -> None:
    case = case_of("Pow", ["x", "y"], {"x": INTS, "y": FLOATS}, 1, kind=TensorProto.INT64)
    assert subject(judge, case) == "Pow with inputs of different types"


def test_numbers_with_fractions_are_the_condition_and_not_the_type_that_has_none(judge: Judge) -> None:
    """ONNX Runtime does not cut off the fractions of OneHot's indices: in whole numbers there are none."""
    depth, pair = np.array(2), np.array([0, 2])
    case = case_of("OneHot", ["i", "d", "v"], {"i": np.float32([0.1])}, 2, {"d": depth, "v": pair}, TensorProto.INT64)
    failure = judge.examine(case, catalogue.target("onnxruntime")).failure
    assert failure is not None
    assert titles.subject(case, ["OneHot"], conditions(judge, failure)) == "OneHot with fractional indices"


def test_of_a_refused_model_two_dimensions_may_be_too_many_and_of_a_wrong_result_they_say_nothing(judge: Judge) -> None:
    case = case_of("Unique", ["X"], {"X": np.float32([[1, 2], [3, 4]])}, 1)
    assert subject(judge, case) == "Unique with X of more than 1 dimension"
    assert not [one for one in relations.variants(case) if one.kind == relations.KIND]
    assert [one.text for one in relations.of_few_dimensions(case)] == ["2-D X"]


@pytest.mark.parametrize("shape", [(2, 0), (1, 2, 2, 0)])
def test_a_tensor_without_elements_along_its_last_axis_has_no_neighbour_without_that(shape: tuple[int, ...]) -> None:
    case = case_of("ReduceMax", ["x"], {"x": np.zeros(shape, np.float32)}, len(shape))
    assert not [one for one in relations.variants(case) if one.kind == relations.KIND]
    assert not list(relations.of_few_dimensions(case))


def test_what_fails_whatever_the_dimensions_does_not_refute_an_attribute_that_fails_with_many_only(
    judge: Judge,
) -> None:
    """Without its axis the case passes, but not with a size of three: that is the other fault."""
    data = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
    case = case_of("Softmax", ["x"], {"x": data}, 4, axis=1)
    assert subject(judge, case) == "Softmax with axis=1"
    [axis] = [one for one in conditions(judge, failure_of(judge, case)) if one.text == "axis=1"]
    assert axis.needed and not axis.refuted


def test_inputs_that_cannot_have_one_type_have_no_such_neighbour() -> None:
    gather = case_of("Gather", ["x", "i"], {"x": FLOATS, "i": INTS[:2]}, 1)
    cast = case_of("CastLike", ["x", "y"], {"x": FLOATS, "y": INTS}, 1, kind=TensorProto.INT64)
    assert not list(relations.variants(cast))
    assert not [one for one in relations.variants(gather) if one.kind == relations.TYPES]


def test_a_limit_on_the_number_of_dimensions_is_told_as_one(judge: Judge) -> None:
    data = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
    case = case_of("Tile", ["x", "r"], {"x": data}, 4, {"r": np.array([2, 1, 1, 2])})
    assert subject(judge, case) == "Tile with input of more than 3 dimensions"
    [fewer] = [one for one in relations.variants(case) if one.text == "4-D input"]
    model = load(fewer.cases[0])
    assert numpy_helper.to_array(model.graph.initializer[0]).tolist() == [2, 1, 1]


def test_a_change_of_the_first_axis_is_the_condition_where_one_of_the_last_is_right(judge: Judge) -> None:
    """Reducing leaves a batch that is scaled and says nothing of it."""
    data = np.arange(1, 7, dtype=np.float32).reshape(2, 1, 3)
    case = case_of("Resize", ["x", "", "s"], {"x": data}, 3, {"s": np.float32([2, 1, 1])})
    assert subject(judge, case) == "Resize with scales that change axis 0"
    [turned] = [one for one in relations.variants(case) if one.text == "scales that change axis 0"]
    assert numpy_helper.to_array(load(turned.cases[0]).graph.initializer[0]).tolist() == [1, 1, 2]
    sizes = case_of("Resize", ["x", "", "", "s"], {"x": data}, 3, {"s": np.array([4, 1, 3])})
    [turned] = [one for one in relations.variants(sizes) if one.text == "sizes that change axis 0"]
    assert numpy_helper.to_array(load(turned.cases[0]).graph.initializer[0]).tolist() == [2, 1, 6]
    both = case_of("Resize", ["x", "", "", "s"], {"x": data}, 3, {"s": np.array([4, 1, 6])})
    [kept] = [one for one in relations.variants(both) if one.text == "sizes that change axis 0"]
    assert numpy_helper.to_array(load(kept.cases[0]).graph.initializer[0]).tolist() == [2, 1, 6]
    odd = case_of("Resize", ["x", "", "", "s"], {"x": np.ones((2, 49, 3), "f")}, 3, {"s": np.array([4, 1, 5])})
    [kept] = [one for one in relations.variants(odd) if one.text == "sizes that change axis 0"]
    assert numpy_helper.to_array(load(kept.cases[0]).graph.initializer[0]).tolist() == [2, 1, 5]
    last = case_of("Resize", ["x", "", "s"], {"x": data}, 3, {"s": np.float32([1, 1, 2])})
    assert not [one for one in relations.variants(last) if "axis 0" in one.text]


@pytest.mark.parametrize("sizes", [[3, 2, 1], [3, 1, 3], [2, 3, 1]])
def test_a_change_of_one_of_the_first_two_axes_is_the_condition_where_either_is_ignored(
    sizes: list[int], judge: Judge
) -> None:
    """TVM takes the first two axes for batch and channels, which Resize is not to change."""
    pytest.importorskip("tvm")
    case = case_of(
        "Resize", ["X", "", "", "sizes"], {"X": np.ones((2, 2, 1), np.float32)}, 3, {"sizes": np.array(sizes)}
    )
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = conditions(judge, failure)
    assert titles.subject(case, ["Resize"], found) == "Resize with sizes that change axis 0 or 1"


def test_axis_0_is_named_beside_axis_1_only_where_it_was_changed() -> None:
    data = {"X": np.ones((2, 2, 1), np.float32)}
    texts = {
        tuple(sizes): [
            one.text
            for one in relations.variants(
                case_of("Resize", ["X", "", "", "sizes"], data, 3, {"sizes": np.array(sizes)})
            )
            if "change axis" in one.text
        ]
        for sizes in ([2, 3, 1], [3, 3, 1])
    }
    assert texts[2, 3, 1] == ["sizes that change axis 1"]
    assert "sizes that change axis 0 or 1" in texts[3, 3, 1]


def test_a_constant_that_is_empty_is_the_condition(judge: Judge) -> None:
    case = case_of("ConstantOfShape", ["s"], {}, 0, {"s": np.zeros(0, np.int64)})
    assert subject(judge, case) == "ConstantOfShape with empty input"


def test_few_dimensions_are_no_condition() -> None:
    case = case_of("Tile", ["x", "r"], {"x": np.ones((2, 2, 2), np.float32)}, 3, {"r": np.array([1, 1, 2])})
    assert not list(relations.variants(case))


def test_the_only_axis_is_the_first_one_where_more_dimensions_fail_as_well(judge: Judge) -> None:
    case = case_of("RMSNormalization", ["x", "w"], {"x": FLOATS}, 1, {"w": np.ones(3, np.float32)})
    assert subject(judge, case) == "RMSNormalization with axis 0"


def test_axes_are_a_condition_though_the_model_is_invalid_without_them(judge: Judge) -> None:
    given, sizes = {"x": SQUARE}, {"s": np.array([3, 3])}
    case = case_of("Resize", ["x", "", "", "s"], given, 4, sizes, axes=[2, 3])
    assert subject(judge, case) == "Resize with axes"
    found = conditions(judge, failure_of(judge, case))
    [axes] = [one for one in found if one.needed]
    assert axes.sentence.startswith("Without `axes` and with `s` given for all axes the same model passes; with `axes=")


def test_a_list_is_named_without_its_numbers_where_others_fail_as_well(judge: Judge) -> None:
    case = case_of("MaxPool", ["x"], {"x": SQUARE}, 4, kernel_shape=[1, 1], strides=[1, 2])
    assert subject(judge, case) == "MaxPool with strides"


def test_the_last_axes_take_the_place_of_the_first(judge: Judge) -> None:
    """Reducing makes [0, 1] of [2, 3]; but who resizes along the batch?"""
    case = case_of("Resize", ["x", "", "", "s"], {"x": SQUARE}, 4, {"s": np.array([1, 1])}, axes=[0, 1])
    found = better(judge, failure_of(judge, case))
    assert list(load(found.case).graph.node[0].attribute[0].ints) == [2, 3]
    again = better(judge, found)
    assert again.case.id == found.case.id


def test_an_input_that_is_never_looked_at_is_found_though_the_model_does_without_it(judge: Judge) -> None:
    data = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 4, 1)
    case = case_of("DFT", ["x"], {"x": data}, 4)
    found = conditions(judge, failure_of(judge, case))
    assert titles.subject(case, ["DFT"], found) == "DFT computes as if axis were 1 instead of -2"
    [like] = [one for one in found if one.kind == "likeness"]
    assert like.sentence == (
        "The wrong result is what `axis` = 1 should give, on other inputs as well, "
        "and it stays with `axis` given as -2, its default: the input is not looked at."
    )


# ---------------------------------------------------------------- limits and what is equal to them


def test_a_value_that_is_equal_to_a_limit_is_the_condition(judge: Judge) -> None:
    case = case_of("ThresholdedRelu", ["x"], {"x": np.float32([1, 2, 3])}, 1, alpha=2.0)
    assert subject(judge, case) == "ThresholdedRelu with a value equal to alpha"


def greater(values: Sequence[float], limit: float) -> Case:
    given = {"x": np.float32(values)}
    return case_of("Greater", ["x", "limit"], given, 1, {"limit": np.float32([limit])}, kind=TensorProto.BOOL)


def test_the_test_that_failed_first_shows_the_limit_where_reducing_has_made_it_zero(judge: Judge) -> None:
    """Of a limit of zero nobody can say whether it is the zero that matters."""
    zero, first = greater([0, -0.5], 0), greater([2, 1], 2)
    assert "zero B" in subject(judge, zero)
    assert subject(judge, zero, first) == "Greater with a value equal to B"


def test_other_numbers_are_no_condition_beside_a_limit(judge: Judge) -> None:
    """No number but the limit is equal to it: whatever else is put there passes."""
    found = conditions(judge, failure_of(judge, greater([2, 0], 2)))
    assert [one.text for one in found if one.needed and one.kind == "value"] == ["a value equal to B"]


def test_the_test_that_shows_a_limit_takes_the_place_of_the_reduced_case(judge: Judge) -> None:
    zero, first = greater([0, -0.5], 0), greater([2, 1], 2)
    found = equality.witness(judge, failure_of(judge, zero), [zero, first])
    assert found is not None and found.case.id == first.id
    assert equality.witness(judge, found, [zero, first]) is None  # it shows one already
    assert equality.witness(judge, failure_of(judge, zero), [greater([2] * 99, 2)]) is None  # too much to read
    other = failure_of(judge, greater([3, -0.5], 3))
    assert equality.witness(judge, other, [first]) is None  # it has no zero, so what fails there is something else


def test_what_the_court_says_is_said_of_the_case_that_is_shown(judge: Judge) -> None:
    """TVM took boxes that only touch for others than those of the test, and the draft said so of the test."""
    zero, first = greater([0, -0.5], 0), greater([2, 1], 2)
    judged = replace(bug("tvm"), judgement=Judgement(Ruling.COMPILER_BUG, "heard on another case"))
    shown, judgement = drafting._told_best(judge, judged, failure_of(judge, zero), [zero, first])
    assert shown.case.id == first.id and judgement is not None
    assert judgement.verdict is Ruling.COMPILER_BUG and judgement.reason != "heard on another case"
    aside = replace(judged, judgement=Judgement(Ruling.NOISE, "…"))
    shown, judgement = drafting._told_best(judge, aside, failure_of(judge, zero), [zero, first])
    assert shown.case.id == zero.id and judgement == aside.judgement, "it is no bug of this kind"


def test_a_number_that_only_scales_is_no_limit(judge: Judge) -> None:
    planted = str(Path(__file__).with_name("planted_attributes.py"))
    case = case_of("LeakyRelu", ["x"], {"x": np.float32([-1, -2, 3])}, 1, alpha=0.25)
    failure = judge.examine(case, catalogue.target(planted)).failure
    assert failure is not None
    assert not [one for one in conditions(judge, failure) if one.text.startswith("a value equal")]


# ---------------------------------------------------------------- what the tests that failed first do without


def test_what_a_failing_test_does_without_is_no_condition(judge: Judge) -> None:
    case = greater([0, -0.5], 0)
    without = conditions(judge, failure_of(judge, case), seen=[greater([2, 1], 2)])
    assert not any(one.needed and one.text == "zero A" for one in without)
    other = case_of("Less", ["x", "limit"], {"x": np.float32([2, 1])}, 1, {"limit": np.float32([2])})
    *unasked, told = conditions(judge, failure_of(judge, case), seen=[other])  # another operator says nothing of this
    assert [one.text for one in unasked] == [one.text for one in conditions(judge, failure_of(judge, case))]
    assert told.sentence == "Tests of Less fail as well."


def test_no_numbers_at_all_stand_beside_the_numbers_that_fail_as_well(judge: Judge) -> None:
    pytest.importorskip("openvino")
    case = case_of("ReduceMax", ["x"], {"x": np.float32([-np.inf, -np.inf])}, 1)
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    assert titles.subject(case, ["ReduceMax"], conditions(judge, failure)).endswith(" with all -inf or empty data")


def test_fractions_in_indices_are_a_condition_and_in_data_they_are_none() -> None:
    held = {"depth": np.array(2), "v": np.float32([1, 2])}
    case = case_of("OneHot", ["i", "depth", "v"], {"i": np.float32([0.25, 0.5])}, 2, held)
    assert [one.text for one in values.variants(case) if "fractional" in one.text] == ["fractional indices"]
    relu = case_of("Relu", ["x"], {"x": np.float32([0.25])}, 1)
    assert not [one for one in values.variants(relu) if one.text.startswith("fractional")]


def test_what_is_empty_is_not_said_to_be_empty_twice() -> None:
    """Along which axis there is nothing does not matter."""
    case = case_of("ReduceProd", ["data"], {"data": np.zeros((2, 0), np.float32)}, 2)
    [empty] = [variant for variant in values.variants(case) if variant.text == "empty data"]
    assert not [one for one in contrasts(case, empty) if "empty" in one.wider]


def test_two_types_are_no_condition_where_both_in_a_third_fail_as_well(judge: Judge) -> None:
    """TVM gives what OneHot's values are as 64 bits, whatever the indices are."""
    pytest.importorskip("tvm")
    given = {"indices": np.array([1, 2])}
    constants = {"depth": np.array(3), "values": np.float32([0, 1])}
    case = case_of("OneHot", ["indices", "depth", "values"], given, 2, constants)
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = conditions(judge, failure)
    assert titles.subject(case, ["OneHot"], found) == "OneHot"
    assert any(one.sentence.endswith("but with both of int32 it fails as well.") for one in found)


def test_a_tensor_that_is_read_in_two_places_does_not_lack_what_it_is_called_by_the_other() -> None:
    scalar = {"a": np.array(1, np.uint8), "b": np.array(1, np.uint8)}
    case = case_of("BitShift", ["a", "b"], scalar, 0, direction="LEFT", kind=TensorProto.UINT8)
    same = case_of("BitShift", ["a", "a"], {"a": scalar["a"]}, 0, direction="LEFT", kind=TensorProto.UINT8)
    longer = case_of("BitShift", ["a", "b"], {**scalar, "b": np.ones(1, np.uint8)}, 1, direction="LEFT")
    [of_y] = [one for one in values.variants(case) if one.text == "scalar Y"]
    assert not seen.lacks(same, of_y) and seen.lacks(longer, of_y)


def test_a_type_that_an_attribute_names_is_left_out_of_a_title_where_others_fail_as_well(judge: Judge) -> None:
    pytest.importorskip("tvm")
    given = {"input": np.float32([[1, 2, 3]])}
    case = case_of("EyeLike", ["input"], given, 2, kind=TensorProto.INT64, dtype=TensorProto.INT64)
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    assert (
        titles.subject(case, ["EyeLike"], conditions(judge, failure)) == "EyeLike with dtype other than that of input"
    )


def test_a_scalar_is_the_condition_where_there_is_a_number_for_each_of_its_dimensions(judge: Judge) -> None:
    """OpenVINO does not take the empty repeats of a Tile of a scalar."""
    pytest.importorskip("openvino")
    case = case_of(
        "Tile", ["input", "repeats"], {"input": np.array(1, np.float32)}, 0, {"repeats": np.zeros(0, np.int64)}
    )
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = conditions(judge, failure)
    assert titles.subject(case, ["Tile"], found) == "Tile with scalar input"


def test_defaults_none_of_which_is_enough_alone_are_left_out_together(judge: Judge) -> None:
    case = case_of("AveragePool", ["x"], {"x": np.float32([[[1, 2, 3, 4]]])}, 3, kernel_shape=[2])
    assert subject(judge, case) == "AveragePool with pads and strides left out"


def test_a_size_that_an_input_tells_is_left_out_where_the_model_fails_otherwise_with_it(judge: Judge) -> None:
    weights = {"w": np.float32([[[1], [2]]]), "r": np.float32([[[1, 2], [3, 4]]])}
    case = case_of("RNN", ["x", "w", "r"], {"x": np.float32([[[1], [2]]])}, 4, weights)
    found = conditions(judge, failure_of(judge, case))
    assert titles.subject(case, ["RNN"], found) == "RNN with hidden_size left out"
    [told] = [one.sentence for one in found if one.needed]
    assert told == "With its default, `hidden_size=2`, spelled out on `x` of shape (1, 1, 1) the model passes."
