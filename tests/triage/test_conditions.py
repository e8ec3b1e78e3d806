"""Conditions of real bugs: what makes them go away is named, what happens to pass by coincidence is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import contrasts
from triage.conditions import Condition, conditions
from triage.variants import arguments, attributes, dtypes, inputs, values


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
    needed = [one.text for one in conditions(judge, failure_of(judge, case, "tvm")) if one.needed]
    assert needed == ["detect_positive=0", "infinite X"]


def test_no_condition_is_claimed_when_there_is_no_time(judge: Judge) -> None:
    case = case_of("ReduceMin", {"data": np.zeros((0,), np.float32)}, [1])
    verdict = judge.examine(case, catalogue.target("reference"))
    failure = Failure(case, verdict.target, verdict.outcome, None, "crash", "hang", "")  # type: ignore[arg-type]
    assert conditions(judge, failure, seconds=0.0) == ()


# ---------------------------------------------------------------- the neighbours themselves


def test_required_attributes_and_defaults_have_no_neighbour() -> None:
    case = case_of(
        "AveragePool", {"x": np.ones((1, 1, 3), np.float32)}, [1, 1, 1], kernel_shape=[3], ceil_mode=0, pads=[0, 0]
    )
    assert [one.text for one in attributes.variants(case)] == ["pads=[0, 0]"]


def test_numbers_of_a_kind_are_replaced_and_the_others_stay() -> None:
    case = case_of("Relu", {"x": float32(np.nan, -2, 5)}, [3])
    found = {one.text: [dict(each.inputs)["x"] for each in one.cases] for one in values.variants(case)}
    assert set(found) == {"NaN X", "negative X"}
    assert all(np.isfinite(each[0]) and list(each[1:]) == [-2, 5] for each in found["NaN X"])
    assert [each[1] for each in found["negative X"]] == [2, 3]


def test_an_input_becomes_a_constant_and_a_constant_an_input() -> None:
    case = case_of("Reshape", {"data": float32(1, 2), "shape": np.array([2, 1])}, [2, 1])
    [frozen] = inputs.variants(case)
    assert frozen.text == "non-constant shape" and list(frozen.cases[0].inputs) == ["data"]
    [fed] = inputs.variants(frozen.cases[0])
    assert fed.text == "constant shape" and list(fed.cases[0].inputs) == ["data", "shape"]


def test_an_unusual_type_becomes_an_ordinary_one_everywhere() -> None:
    [plain] = dtypes.variants(case_of("Relu", {"x": np.array([1, 2], np.float16)}, [2]))
    assert plain.text == "float16" and dict(plain.cases[0].inputs)["x"].dtype == np.float32  # type: ignore[union-attr]
    graph = onnx.load_model_from_string(plain.cases[0].model).graph
    assert graph.input[0].type.tensor_type.elem_type == graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT


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
    assert set(found) == {"alpha=3", "argument 2 = 2", "negative values"}
    assert not any(b"-1.0" in each.model for each in found["negative values"].cases)


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


def contrasts_of(case: Case, text: str) -> dict[str, contrasts.Contrast]:
    makers = (attributes.variants, values.variants) if case.kind == "onnx" else (arguments.variants,)
    [variant] = [one for make in makers for one in make(case) if one.text == text]
    return {one.said: one for one in contrasts.contrasts(case, variant)}


def test_what_takes_the_place_of_special_numbers_is_everything_that_they_are_not() -> None:
    case = case_of("Relu", {"x": float32(np.nan, -2, 5)}, [3])
    found = contrasts_of(case, "NaN X")
    assert "NaN in `x`" not in found and len(found) == 5
    filled = {said: list(np.asarray(one.case.inputs["x"])) for said, one in found.items()}
    assert filled["infinity in `x`"] == [np.inf, -2, 5] and filled["zeros in `x`"] == [0, -2, 5]


def test_an_integer_attribute_is_tried_with_other_integers_and_a_flag_is_not() -> None:
    case = case_of("ArgMax", {"data": float32([1, 2], [3, 4])}, [2, 1], axis=1, select_last_index=1)
    assert {said: one.wider for said, one in contrasts_of(case, "axis=1").items()} == {"`axis=2`": "axis other than 0"}
    assert contrasts_of(case, "select_last_index=1") == {}


def test_a_word_is_tried_with_the_other_words_of_the_specification() -> None:
    given = {"X": np.ones((1, 1, 2, 2), np.float32), "roi": float32(), "scales": float32(1, 1, 2, 2)}
    found = contrasts_of(case_of("Resize", given, [1, 1, 4, 4], mode="cubic"), "mode=cubic")
    assert {said: one.wider for said, one in found.items()} == {"`mode=linear`": "mode other than nearest"}


def test_tensors_of_instances_have_contrasts_too() -> None:
    text = b'{"api": "torch.abs", "args": [{"dtype": "float32", "values": [-1.0, 2.0]}]}'
    found = contrasts_of(Case("instance", text, {}, Origin("test")), "negative values")
    assert "negative numbers in `x0`" not in found and "minus infinity in `x0`" not in found
    assert b"Infinity" in found["infinity in `x0`"].case.model or b"inf" in found["infinity in `x0`"].case.model
