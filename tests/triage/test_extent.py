"""What a wrong result would be right for, and which other operators share it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions
from triage.localize import localize
from triage.siblings import siblings, unary
from triage.signing import Signer
from triage.submodel import load, tensors

PLANTED = str(Path(__file__).with_name("planted_attributes.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(
    op_type: str, given: dict[str, np.ndarray[Any, Any]], shape: list[int], result: int = 0, **attributes: Any
) -> Case:
    node = helper.make_node(op_type, list(given), ["y"], **attributes)
    kinds = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in given.items()}
    infos = [helper.make_tensor_value_info(name, kinds[name], value.shape) for name, value in given.items()]
    outs = [helper.make_tensor_value_info("y", result or next(iter(kinds.values())), shape)]
    graph = helper.make_graph([node], "g", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return Case("onnx", model.SerializeToString(), dict(given), Origin("test"))


def failure_of(judge: Judge, case: Case, backend: str) -> Failure:
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return failure


def names(case: Case) -> list[str]:
    return [name for name, _ in siblings(case)]


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


# ---------------------------------------------------------------- families


def test_families_are_what_the_specification_describes_alike() -> None:
    axes = {"data": floats(2, 3), "axes": np.array([1])}
    assert len(names(case_of("ReduceProd", axes, [2, 1]))) == 9
    assert names(case_of("ArgMax", {"data": floats(2, 3)}, [1, 3])) == ["ArgMin"]
    assert names(case_of("AveragePool", {"X": floats(1, 1, 4)}, [1, 1, 3], kernel_shape=[2])) == ["LpPool", "MaxPool"]
    assert {"Hardmax", "LogSoftmax"} <= set(names(case_of("Softmax", {"x": floats(2, 3)}, [2, 3], axis=0)))
    assert names(case_of("Resize", {"x": floats(1, 1, 2, 2)}, [1, 1, 2, 2])) == []


def test_an_attribute_that_the_other_operator_does_not_have_leaves_it_out() -> None:
    pool = case_of("AveragePool", {"X": floats(1, 1, 4)}, [1, 1, 3], kernel_shape=[2], count_include_pad=1)
    assert names(pool) == []


def test_recurrent_cells_have_as_many_gates_as_the_specification_says() -> None:
    given = {"X": floats(2, 1, 2), "W": floats(1, 8, 2), "R": floats(1, 8, 2)}
    found = dict(siblings(case_of("LSTM", given, [2, 1, 1, 2], hidden_size=2)))
    assert list(found) == ["GRU", "RNN"]
    shapes = {name: tensors(case, load(case))["W"].shape for name, case in found.items()}
    assert shapes == {"GRU": (1, 6, 2), "RNN": (1, 2, 2)}


def test_operators_of_one_tensor_are_one_family_where_its_type_is_the_matter() -> None:
    cast = case_of("Cast", {"x": np.array([1.0])}, [1], TensorProto.FLOAT, to=TensorProto.FLOAT)
    found = dict(unary(cast, "float64"))
    assert {"Abs", "Identity", "Neg"} <= set(found) and "Cast" not in found and "Add" not in found
    assert not list(unary(cast, "float8e5m2")), "numpy cannot count in it"
    graph = load(found["Abs"]).graph
    assert graph.output[0].type.tensor_type.elem_type == TensorProto.DOUBLE and not graph.node[0].attribute


# ---------------------------------------------------------------- what compilers do


def test_operators_that_ignore_the_same_option_are_named(judge: Judge) -> None:
    case = case_of("Softmax", {"x": floats(2, 3)}, [2, 3], axis=0)
    found = conditions(judge, failure_of(judge, case, PLANTED))
    assert "In its place Hardmax and LogSoftmax fail in the same way." in [one.sentence for one in found]
    assert titles.subject(case, ["Softmax"], found) == "Softmax (also Hardmax and LogSoftmax) ignores axis=0"


def test_another_operator_that_is_right_where_the_reference_is_wrong_does_not_fail_as_well(judge: Judge) -> None:
    """OpenVINO's ReduceLogSumExp of -inf alone is -inf, as it should be, and the reference's is NaN."""
    pytest.importorskip("openvino")
    case = case_of("ReduceMax", {"data": np.full(2, -np.inf, np.float32)}, [1])
    found = conditions(judge, failure_of(judge, case, "openvino"))
    assert not any("ReduceLogSumExp" in one.sentence for one in found)
    assert "also" not in titles.subject(case, ["ReduceMax"], found)


def test_a_value_that_was_taken_for_another_is_told(judge: Judge) -> None:
    case = case_of("LeakyRelu", {"x": np.float32([-1, -2, 3])}, [3], alpha=0.25)
    found = conditions(judge, failure_of(judge, case, PLANTED))
    [like] = [one for one in found if one.kind == "likeness"]
    assert like.text == "alpha were 1 - alpha"
    assert like.sentence.endswith("with `alpha=0.75` and `alpha=0.6` as well.")
    assert titles.subject(case, ["LeakyRelu"], found) == "LeakyRelu computes as if alpha were 1 - alpha"


def test_a_value_that_fits_by_chance_is_not_told(judge: Judge) -> None:
    """Three times 0.25 is 0.75, and so is 1 - 0.25; of smaller numbers only the second would be wrong."""
    case = case_of("Elu", {"x": np.float32([-1, 2])}, [2], alpha=0.25)
    assert not [one for one in conditions(judge, failure_of(judge, case, PLANTED)) if one.kind == "likeness"]


def test_zeros_are_not_told_as_another_value_that_would_give_zeros(judge: Judge) -> None:
    case = case_of("Selu", {"x": np.float32([-1, 2, 3])}, [3], gamma=2.0)
    assert not [one for one in conditions(judge, failure_of(judge, case, PLANTED)) if one.kind == "likeness"]


def test_a_compiler_that_has_trouble_with_a_type_has_it_with_more_than_one_operator(judge: Judge) -> None:
    pytest.importorskip("openvino")
    case = case_of("Cast", {"x": np.array([1, np.inf])}, [2], TensorProto.FLOAT, to=TensorProto.FLOAT)
    found = conditions(judge, failure_of(judge, case, "openvino"))
    [reach] = [one for one in found if one.kind == "siblings"]
    assert reach.sentence.startswith("In its place Abs, ") and "fail in the same way" in reach.sentence
    assert titles.subject(case, ["Cast"], found).startswith("Cast (float64 to float32; also Abs and ")


def test_sizes_that_happen_to_hide_a_wrong_shape_are_told(judge: Judge) -> None:
    """With one step a batch of two sequences has the shape of a sequence of two: nobody sees that layout is ignored."""
    pytest.importorskip("openvino")
    given = {"X": floats(2, 1, 2), "W": floats(1, 8, 2), "R": floats(1, 8, 2)}
    case = case_of("LSTM", given, [2, 1, 1, 2], hidden_size=2, layout=1)
    found = conditions(judge, failure_of(judge, case, "openvino"))
    [shape] = [one for one in found if one.kind == "shape"]
    assert "even the shape is wrong" in shape.sentence
    assert titles.subject(case, ["LSTM"], found) == "LSTM (also GRU and RNN) ignores layout=1"
    [reach] = [one for one in found if one.kind == "siblings"]
    assert reach.sentence == "In its place GRU fails in the same way. With other data RNN fails in the same way."


def test_operators_whose_tests_die_at_the_same_place_are_in_the_title(judge: Judge) -> None:
    """MNN's converter dies of a sum of one tensor, and of every other operator that it makes of the same kind."""
    pytest.importorskip("MNN")
    sum_, *others = [case_of(name, {"x": floats(3)}, [3]) for name in ("Sum", "Max", "Min", "Sum")]
    failure = failure_of(judge, sum_, "mnn")
    found = conditions(judge, failure, seen=others)
    assert [one.sentence for one in found if one.kind == "siblings"] == [
        "In its place Max and Min fail in the same way."
    ]
    assert titles.subject(sum_, ["Sum"], found) == "Sum (also Max and Min) with a single input"
    [said] = [one for one in localize(judge, failure, Signer(judge.runner).sign(failure)).evidence if "dies" in one]
    assert said == "the process dies in MNN::CreateBinaryOp"


def test_a_default_that_a_compiler_must_be_told_is_in_the_title(judge: Judge) -> None:
    """MNN divides by the strides of a pool, which are zero where the model has none; so do those of other pools."""
    pytest.importorskip("MNN")
    given = {"x": floats(1, 1, 2)}
    pool, other = (case_of(name, given, [1, 1, 2], kernel_shape=[1]) for name in ("MaxPool", "AveragePool"))
    found = conditions(judge, failure_of(judge, pool, "mnn"), seen=[other])
    assert titles.subject(pool, ["MaxPool"], found) == "MaxPool (also AveragePool and LpPool) with strides left out"
    assert "With its default, `strides=[1]`, spelled out the same model passes." in [one.sentence for one in found]


# ---------------------------------------------------------------- calls


def call(text: str) -> Case:
    return Case("instance", text.encode(), {}, Origin("test"))


def reach_of(judge: Judge, case: Case) -> str:
    found = conditions(judge, failure_of(judge, case, "tvm"))
    return next((one.sentence for one in found if one.kind == "siblings"), "")


def test_what_a_call_ignores_is_asked_of_its_family_and_must_be_the_reason_there_too(judge: Judge) -> None:
    given = '{"dtype": "float32", "values": [1, 2]}'
    case = call(f'{{"api": "torch.sub", "args": [{given}, {given}], "kwargs": {{"alpha": 3}}}}')
    assert reach_of(judge, case) == "In its place add and rsub fail in the same way."


def test_a_wrong_type_is_asked_of_the_same_function_in_other_dimensions(judge: Judge) -> None:
    given = '{"dtype": "float32", "shape": [1, 2, 2], "values": [1, 2, 3, 4]}'
    case = call(f'{{"api": "torch.nn.functional.max_pool2d_with_indices", "args": [{given}, [1, 1]]}}')
    assert reach_of(judge, case).startswith("In its place max_pool1d_with_indices and max_pool3d_with_indices fail")


def test_operators_that_die_with_the_same_condition_are_told_and_others_are_not(judge: Judge) -> None:
    case = case_of("ReduceMax", {"data": np.zeros((2, 0), np.float32), "axes": np.array([1])}, [2, 1])
    failure = failure_of(judge, case, str(Path(__file__).with_name("planted_deaths.py")))
    found = conditions(judge, failure)
    assert titles.subject(case, ["ReduceMax"], found) == "ReduceMax (also ReduceMin) with empty data"


def test_operators_that_fail_on_the_type_that_a_cast_gives_are_told_with_it_and_stand_in_no_title(judge: Judge) -> None:
    """OpenVINO holds doubles in float32 and infinity in its largest number, whoever hands it to a double."""
    pytest.importorskip("openvino")
    case = case_of("Cast", {"x": np.float32([1, np.inf])}, [2], TensorProto.DOUBLE, to=TensorProto.DOUBLE)
    found = conditions(judge, failure_of(judge, case, "openvino"))
    [also] = [one for one in found if one.kind == "siblings"]
    assert also.text == "" and also.sentence.startswith("On data of float64 Abs")
    assert "also" not in titles.subject(case, ["Cast"], found)
