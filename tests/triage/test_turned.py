"""Which axis an operator works along: whether that matters, or what the data hold along it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions
from triage.contrasts import contrasts
from triage.submodel import load
from triage.variants import Variant, attributes, kernels, shorter, turned, values

PLANTED = str(Path(__file__).with_name("planted_relations.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def case_of(op_type: str, given: Mapping[str, Any], indices: Any, *, fed: bool = False, **attributes: Any) -> Case:
    """A model of one node that reads the given data and, last or in the middle, indices: constant ones unless `fed`."""
    names = [*list(given)[:1], "i", *list(given)[1:]]
    rank = np.ndim(next(iter(given.values())))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, np.shape(value)) for name, value in given.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank)
    node = helper.make_node(op_type, names, ["y"], **attributes)
    infos += [helper.make_tensor_value_info("i", TensorProto.INT64, np.shape(indices))] if fed else []
    held = [] if fed else [numpy_helper.from_array(np.array(indices), "i")]
    graph = helper.make_graph([node], "g", infos, [out], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    inputs = {**given, "i": np.array(indices)} if fed else dict(given)
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def subject(judge: Judge, case: Case, backend: str) -> str:
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    return titles.subject(case, [load(case).graph.node[0].op_type], conditions(judge, failure))


def test_an_axis_without_which_the_indices_are_others_is_no_condition(judge: Judge) -> None:
    """Without axis=1 the index -3 is out of range, but of data of three rows, where any compiler may be right."""
    case = case_of("GatherElements", {"x": np.float32([[1, 2, 3]])}, [[1, -3]], fed=True, axis=1)
    assert subject(judge, case, PLANTED) == "GatherElements with negative indices"


def test_indices_for_a_part_of_the_data_are_a_condition_and_the_first_axis_is_none(judge: Judge) -> None:
    pytest.importorskip("tvm")
    given = {"x": np.zeros((3, 2, 3), np.float32), "u": np.float32([[[1, 2], [3, 4]]])}
    case = case_of("ScatterElements", given, [[[0, 1], [1, 2]]])
    assert subject(judge, case, "tvm") == "ScatterElements with indices smaller than data"


def test_data_are_turned_with_all_that_have_as_many_dimensions() -> None:
    case = case_of("GatherElements", {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, [[1, 0, 1]])
    [only] = turned.variants(case)
    model = load(only.cases[0])
    assert model.graph.node[0].attribute[0].i == 1
    assert only.cases[0].inputs["x"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert numpy_helper.to_array(model.graph.initializer[0]).tolist() == [[1], [0], [1]]


def test_data_are_cut_to_the_indices_but_along_the_axis() -> None:
    case = case_of("GatherElements", {"x": np.arange(12, dtype=np.float32).reshape(3, 4)}, [[1, 0]])
    [only] = shorter.variants(case)
    assert only.cases[0].inputs["x"].tolist() == [[0, 1], [4, 5], [8, 9]]
    assert not list(shorter.variants(only.cases[0]))


def test_an_axis_that_is_not_the_first_is_not_turned() -> None:
    assert not list(turned.variants(case_of("GatherElements", {"x": np.ones((2, 2), np.float32)}, [[1, 0]], axis=1)))
    assert not list(turned.variants(case_of("GatherElements", {"x": np.ones(2, np.float32)}, [1, 0])))


def test_what_an_axis_seems_to_need_is_tried_on_the_data_turned_to_the_default() -> None:
    case = case_of("GatherElements", {"x": np.float32([[1, 2, 3]])}, [[1, -3]], axis=1)
    axis = next(one for one in attributes.variants(case) if one.text == "axis=1")
    told = {one.said: one.case for one in contrasts(case, axis)}
    back = told["the data turned to the default axis, 0,"]
    assert back.inputs["x"].tolist() == [[1], [2], [3]]
    assert numpy_helper.to_array(load(back).graph.initializer[0]).tolist() == [[1], [-3]]


def test_the_largest_integer_is_no_index() -> None:
    case = case_of("GatherElements", {"x": np.float32([1, 2, 3])}, [1, -3])
    negative = next(one for one in values.variants(case) if one.text == "negative indices")
    assert [one.said for one in contrasts(case, negative)][:1] == ["zeros in `i`"]


@pytest.mark.parametrize("maker", [kernels.variants, shorter.variants, turned.variants])
def test_a_model_without_nodes_has_no_axis_and_no_kernel(maker: Callable[[Case], Iterator[Variant]]) -> None:
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    model = helper.make_model(helper.make_graph([], "g", [info], [info]))
    case = Case("onnx", model.SerializeToString(), {"x": np.ones(2, np.float32)}, Origin("test"))
    assert not list(maker(case))


@pytest.mark.parametrize("axis", [2, 5])
def test_an_axis_behind_the_last_is_not_the_first(axis: int) -> None:
    """Flatten may have one right behind the last; any other is broken on purpose."""
    case = case_of("Flatten", {"x": np.ones((2, 3), np.float32)}, [0], axis=axis)
    assert not list(turned.variants(case))
    gathered = case_of("GatherElements", {"x": np.ones((2, 3), np.float32)}, [[0]], axis=axis)
    assert not list(turned.variants(gathered)) and not list(shorter.variants(gathered))


def test_indices_that_take_whole_slices_are_not_held_against_their_data() -> None:
    case = case_of("Gather", {"x": np.ones((3, 4), np.float32)}, [[0, 1], [1, 0]])
    model = load(case)
    model.graph.output[0].type.tensor_type.shape.dim.add()
    assert not list(shorter.variants(replace(case, model=model.SerializeToString())))
