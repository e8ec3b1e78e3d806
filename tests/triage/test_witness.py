"""The witness of a report shows more than that something is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue, instance
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge, values
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions
from triage.submodel import load
from triage.titles import wrong
from triage.witness import better, renumbered

PLANTED = str(Path(__file__).with_name("planted_attributes.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def failure_of(
    judge: Judge,
    backend: str,
    op_type: str,
    given: dict[str, np.ndarray[Any, Any]],
    outputs: Sequence[tuple[str, list[int]]],
    opset: int = 22,
    **attributes: Any,
) -> Failure:
    """The failure of one node; of its outputs those with a name are returned."""
    node = helper.make_node(op_type, list(given), [name for name, _ in outputs], **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in given.items()
    ]
    outs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs if name]
    graph = helper.make_graph([node], "g", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), dict(given), Origin("test"))
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return failure


def test_something_takes_the_place_of_nothing_where_it_fails_in_the_same_way(judge: Judge) -> None:
    """The least of infinities is as wrong as the least of no numbers."""
    pytest.importorskip("openvino")
    failure = failure_of(judge, "openvino", "ReduceMin", {"x": np.zeros(0, np.float32)}, [("y", [1])])
    found = better(judge, failure)
    given = np.asarray(found.case.inputs["x"])
    assert given.size and np.isposinf(given).all() and found.symptom == failure.symptom


def scattered(data: np.ndarray[Any, Any], updates: np.ndarray[Any, Any]) -> Case:
    """ScatterElements along the last axis, with constant updates in fewer rows than the data have."""
    node = helper.make_node("ScatterElements", ["data", "indices", "updates"], ["output"], axis=-1)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, data.shape) for name in ("data", "output")]
    indices = np.broadcast_to(np.arange(updates.shape[-1]), updates.shape)
    constants = [numpy_helper.from_array(indices, "indices"), numpy_helper.from_array(updates, "updates")]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"data": data}, Origin("test"))


def test_data_that_only_seem_to_be_returned_unchanged_get_other_numbers_than_the_rest(judge: Judge) -> None:
    """TVM writes the updates of the first batch, which are the numbers that stand there already."""
    pytest.importorskip("tvm")
    data = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2)
    case = scattered(data, np.arange(1, 9, dtype=np.float32).reshape(2, 2, 2))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    assert wrong(case, failure.outcome, failure.reference) == "returns its input data unchanged"
    found = better(judge, failure)
    assert "unchanged" not in wrong(found.case, found.outcome, found.reference)
    told = numpy_helper.to_array(load(found.case).graph.initializer[1])
    assert not np.isin(told, np.asarray(found.case.inputs["data"])).any()


def test_numbers_that_two_tensors_share_move_on_by_finite_ones() -> None:
    moved = renumbered({"x": np.float32([1, np.inf]), "y": np.float32([1, 2]), "n": np.int64([1])})
    assert moved.keys() == {"y"} and moved["y"].tolist() == [11, 12]


def test_data_that_are_returned_unchanged_whatever_the_numbers_keep_theirs(judge: Judge) -> None:
    given = {"x": np.float32([[1, 2, 3]]), "y": np.float32([[1, 2, 3]])}
    failure = failure_of(judge, PLANTED, "Sub", given, [("z", [1, 3])])
    found = better(judge, failure)
    assert wrong(found.case, found.outcome, found.reference).endswith("unchanged")
    for array in found.case.inputs.values():
        assert np.asarray(array).max() <= 3


def test_results_that_are_wrong_as_well_are_returned(judge: Judge) -> None:
    given = {"x": np.float32([[1, 2]]), "scale": np.float32([1, 2])}
    failure = failure_of(judge, PLANTED, "LayerNormalization", given, [("y", [1, 2]), ("", []), ("inv", [1, 1])])
    found = better(judge, failure)
    assert [info.name for info in load(found.case).graph.output] == ["y", "Mean", "inv"]
    assert wrong(found.case, found.outcome, found.reference).endswith("returns wrong Mean and InvStdDev")


def test_one_wrong_result_is_enough_where_an_option_explains_it(judge: Judge) -> None:
    """An LSTM without its layout is wrong in all three results: the title says why."""
    pytest.importorskip("openvino")
    ones = {"W": np.ones((1, 4, 1), np.float32), "R": np.ones((1, 4, 1), np.float32)}
    given = {"X": np.float32([[[1]], [[2]]]), **ones}
    failure = failure_of(judge, "openvino", "LSTM", given, [("y", [2, 1, 1, 1])], hidden_size=1, layout=1)
    assert better(judge, failure) is failure


def test_numbers_take_the_place_of_zeros_that_prove_little(judge: Judge) -> None:
    """Queries without keys have nothing to attend to: what comes out is anybody's guess, zero or not."""
    pytest.importorskip("openvino")
    given = {"Q": floats(4), "K": floats(2), "V": floats(2)}
    outputs = [("y", [1, 1, 4, 1])]
    failure = failure_of(judge, "openvino", "Attention", given, outputs, opset=25, left_window_size=0)
    found = better(judge, failure)
    assert found.reference is not None and found.case.id != failure.case.id
    [want], [got] = values(found.reference), values(found.outcome)
    assert isinstance(want, np.ndarray) and isinstance(got, np.ndarray)
    assert np.all(want != 0) and np.abs(want - got).max() > 0.1 * np.abs(want).max()


def floats(count: int) -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + count, dtype=np.float32).reshape(1, 1, count, 1)


def test_a_witness_that_shows_all_stays(judge: Judge) -> None:
    failure = failure_of(judge, PLANTED, "LeakyRelu", {"x": np.float32([-1, 2])}, [("y", [2])], alpha=0.25)
    assert better(judge, failure) is failure


def test_what_is_refused_is_shown_with_tensors_that_hold_something(judge: Judge) -> None:
    """A refusal that has nothing to do with emptiness."""
    pytest.importorskip("openvino")
    text = b'{"api": "torch.logsumexp", "args": [{"dtype": "bool", "shape": [0, 3]}, [0]]}'
    failure = judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    [tensor] = instance.parse(better(judge, failure).case.model).tensors
    assert (tensor.dtype, tensor.shape) == ("bool", (2, 3))
    failure = failure_of(judge, PLANTED, "Reciprocal", {"X": np.zeros((0, 3), np.float32)}, [("y", [0, 3])])
    assert np.asarray(better(judge, failure).case.inputs["X"]).shape == (2, 3)


def test_of_several_inputs_only_those_stay_inputs_that_fail_as_such(judge: Judge) -> None:
    """TVM refuses a Pad whose pads are an input, and one whose value is: only the second is a bug of its own."""
    pytest.importorskip("tvm")
    given = {"x": np.float32([[1, 2]]), "pads": np.array([0, 1, 0, 1]), "value": np.array(1, np.float32)}
    found = better(judge, failure_of(judge, "tvm", "Pad", given, [("y", [1, 4])], opset=21))
    assert list(found.case.inputs) == ["x", "value"]
    assert [one.name for one in load(found.case).graph.initializer] == ["pads"]


def test_a_reduced_model_is_shown_with_tensors_of_its_own_and_names_that_mean_something(judge: Judge) -> None:
    pytest.importorskip("tvm")
    node = helper.make_node("PRelu", ["t4", "t4"], ["t6"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, []) for name in ("t4", "t6")]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"t4": np.array(1, np.float32)}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = better(judge, failure)
    assert list(found.case.inputs) == ["X", "slope"] and found.symptom == failure.symptom


def test_a_type_that_does_not_matter_is_float32(judge: Judge) -> None:
    pytest.importorskip("openvino")
    tensors = b'{"dtype": "bfloat16", "shape": [0, 3]}, {"dtype": "bfloat16", "shape": [0, 1]}'
    text = b'{"api": "torch.cosine_similarity", "args": [%s, 0]}' % tensors
    failure = judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    found = better(judge, failure)
    assert {one.dtype for one in instance.parse(found.case.model).tensors} == {"float32"}
    assert found.symptom == failure.symptom


def test_parts_of_no_size_are_shown_on_data_that_have_some(judge: Judge) -> None:
    """TVM wants the ends of parts to grow: it is a zero in split, not that there is no data."""
    pytest.importorskip("tvm")
    node = helper.make_node("Split", ["input", "split"], ["a", "b", "c"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [0]) for name in ("input", "a", "b", "c")]
    held = [numpy_helper.from_array(np.zeros(3, np.int64), "split")]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    case = Case("onnx", model.SerializeToString(), {"input": np.zeros(0, np.float32)}, Origin("test"))
    found = judge.examine(case, catalogue.target("tvm")).failure
    assert found is not None, "the compiler no longer has this bug: find another for the test"
    clear = better(judge, found)
    assert np.asarray(clear.case.inputs["input"]).tolist() == [1, 2]
    told = conditions(judge, clear)
    assert titles.subject(clear.case, ["Split"], told) == "Split with zero split before the last"


def test_random_numbers_that_do_not_matter_give_way_to_those_of_a_person(judge: Judge) -> None:
    """Selu is planted to be zero whatever it is given: a script with 360 packed numbers would say that they matter."""
    drawn = np.random.default_rng(5).standard_normal((12, 30)).astype(np.float32)
    failure = failure_of(judge, PLANTED, "Selu", {"X": drawn}, [("Y", [12, 30])])
    found = better(judge, failure)
    assert np.all(np.asarray(found.case.inputs["X"]) == 1) and found.symptom == failure.symptom


def test_a_scalar_that_holds_the_number_of_another_gets_its_own() -> None:
    scalars = {"a": np.array(1, np.float32), "b": np.array(1, np.float32)}
    assert renumbered(scalars) == {"b": np.float32(11)}


def test_a_wrong_type_is_shown_on_numbers_where_there_were_none(judge: Judge) -> None:
    """What TVM gives for the maximum of nothing is another matter than that it gives no truth values."""
    pytest.importorskip("tvm")
    text = b'{"api": "torch.Tensor.any", "args": [{"dtype": "float32", "shape": [0, 3]}, 0]}'
    failure = judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:dtype"
    found = better(judge, failure)
    assert [0 in one.shape for one in instance.parse(found.case.model).tensors] == [False]
    assert found.symptom == failure.symptom


def test_no_type_is_left_that_does_not_matter(judge: Judge) -> None:
    tensors = (
        '{"dtype": "bool", "shape": [2], "values": [true, true]}, {"dtype": "int64", "shape": [2], "values": [1, 2]}'
    )
    call = '{"library": "torch", "api": "torch.add", "args": [{"tensor": 0}, {"tensor": 1}], "kwargs": {"alpha": 0}'
    case = Case("instance", f'{call}, "tensors": [{tensors}]}}'.encode(), {}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:values"
    found = instance.parse(better(judge, failure).case.model)
    assert {one.dtype for one in found.tensors} == {"float32"}, "subtracting truth values is refused, which hides rsub"


def test_indices_and_integers_that_matter_stay_as_they_are(judge: Judge) -> None:
    tensors = '{"dtype": "int64", "shape": [2], "values": [-7, 7]}, {"dtype": "int64", "shape": [2], "values": [2, 2]}'
    call = '{"library": "torch", "api": "torch.div", "args": [{"tensor": 0}, {"tensor": 1}]'
    text = f'{call}, "kwargs": {{"rounding_mode": "floor"}}, "tensors": [{tensors}]}}'.encode()
    failure = judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("openvino")).failure
    assert failure is not None
    assert {one.dtype for one in instance.parse(better(judge, failure).case.model).tensors} == {"int64"}


def test_a_wrong_shape_is_shown_on_numbers_where_a_size_is_an_argument(judge: Judge) -> None:
    pytest.importorskip("tvm")
    data, weight = '{"dtype": "float32", "shape": [0, 2]}', '{"dtype": "float32", "shape": [2], "values": [1, 2]}'
    args = f"{data}, {weight}, {weight}, 0, 2, 0, 1, 0.0"
    call = f'{{"library": "torch", "api": "torch.native_group_norm", "args": [{args}]}}'
    failure = judge.examine(Case("instance", call.encode(), {}, Origin("test")), catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:shape", "find another bug of this kind for the test"
    found = instance.parse(better(judge, failure).case.model)
    assert found.tensors[0].shape == (2, 2) and found.args[3:6] == (2, 2, 1)


def test_what_raises_over_no_axis_is_shown_over_one(judge: Judge) -> None:
    pytest.importorskip("openvino")
    call = '{"library": "torch", "api": "torch.logsumexp", "args": [{"dtype": "bool", "shape": [0, 3]}, []]}'
    failure = judge.examine(Case("instance", call.encode(), {}, Origin("test")), catalogue.target("openvino")).failure
    assert failure is not None and failure.symptom.startswith("exception"), "find another bug of this kind for the test"
    found = instance.parse(better(judge, failure).case.model)
    assert found.args[1] in ([0], [1]) and 0 not in found.tensors[0].shape


def test_what_raises_is_shown_where_the_right_result_is_not_zero(judge: Judge) -> None:
    pytest.importorskip("openvino")
    vector = '{"dtype": "float32", "shape": [1, 3], "values": [0, 1, 0]}'
    call = f'{{"library": "torch", "api": "torch.cross", "args": [{vector}, {vector}]}}'
    case = Case("instance", call.encode(), {}, Origin("test"))
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None and failure.symptom.startswith("exception"), "find another bug of this kind for the test"
    found = better(judge, failure)
    assert found.reference is not None and np.any(found.reference.outputs[0][1])


def test_a_type_that_numpy_has_takes_the_place_of_one_that_it_lacks(judge: Judge) -> None:
    pytest.importorskip("tvm")
    data = '{"dtype": "bfloat16", "shape": [1, 1, 3], "values": [1, 2, 3]}'
    weight = '{"dtype": "bfloat16", "shape": [1, 1, 2], "values": [1, 2]}'
    call = f'{{"library": "torch", "api": "torch.conv1d", "args": [{data}, {weight}]}}'
    failure = judge.examine(Case("instance", call.encode(), {}, Origin("test")), catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:dtype", "find another bug of this kind for the test"
    found = instance.parse(better(judge, failure).case.model)
    assert {one.dtype for one in found.tensors} == {"float16"}, "float32 passes"


def test_a_wrong_type_of_no_truths_at_all_is_shown_by_whole_numbers(judge: Judge) -> None:
    """TVM divides numbers in their own type; of bool it takes none but those that are not there."""
    pytest.importorskip("tvm")
    empty = b'{"dtype": "bool", "shape": [0]}'
    case = Case("instance", b'{"api": "torch.div", "args": [%s, %s]}' % (empty, empty), {}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:dtype"
    tensors = instance.parse(better(judge, failure).case.model).tensors
    assert all(one.dtype == "int64" and one.shape == (2,) for one in tensors)
