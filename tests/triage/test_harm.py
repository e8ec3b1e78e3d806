"""A wrong type is shown with values that it spoils, where there are any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.effect import effect
from triage.harm import harmful

NARROW = catalogue.target(str(Path(__file__).with_name("planted_types.py")))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def failure(judge: Judge, op_type: str, value: np.ndarray[Any, Any]) -> Failure:
    kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    infos = [helper.make_tensor_value_info(name, kind, value.shape) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = judge.examine(Case("onnx", model.SerializeToString(), {"x": value}, Origin("test")), NARROW).failure
    assert found is not None and found.symptom == "wrong:dtype"
    return found


def test_a_number_that_the_wrong_type_cannot_hold_is_found(judge: Judge) -> None:
    small = failure(judge, "Neg", np.array([1, 2]))
    found = harmful(judge, small)
    assert found is not None and found.reference is not None
    [(_, want)], [(_, got)] = found.reference.outputs, found.outcome.outputs
    assert effect(want, got, {}) == "returns int32 2147483647 instead of int64 -2147483649"
    assert harmful(judge, found) is None, "it does harm already"


def test_a_type_that_holds_all_numbers_there_are_does_none(judge: Judge) -> None:
    assert harmful(judge, failure(judge, "Not", np.array([True, False]))) is None


def test_an_axis_is_tried_where_a_list_of_axes_is_empty(judge: Judge) -> None:
    """Over no axis nothing is reduced, and no number is the largest."""
    pytest.importorskip("tvm")
    text = b'{"library": "torch", "api": "torch.any", "args": [{"dtype": "float32", "shape": [], "values": [1]}], '
    case = Case("instance", text + b'"kwargs": {"dim": {"tuple": []}}}', {}, Origin("test"))
    found = judge.examine(case, catalogue.target("tvm")).failure
    assert found is not None and found.symptom == "wrong:dtype", "find another bug of this kind for the test"
    shown = harmful(judge, found)
    assert shown is not None and shown.reference is not None
    [(_, want)], [(_, got)] = shown.reference.outputs, shown.outcome.outputs
    assert effect(want, got, {}) == "returns float32 0 instead of bool True"


@pytest.mark.parametrize(
    "tensor",
    [b'{"dtype": "int64", "shape": [2], "values": [-8, 6]}', b'{"dtype": "int64", "shape": [], "values": [1]}'],
)
def test_a_truth_that_is_told_by_the_largest_number_is_shown_where_that_is_zero(judge: Judge, tensor: bytes) -> None:
    """TVM's any is a maximum: 6 stands for true as well as it can, and 0 for the truth of -1 and 0 does not."""
    pytest.importorskip("tvm")
    text = b'{"library": "torch", "api": "torch.any", "args": [%s], "kwargs": {"keepdim": false}}' % tensor
    small = judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("tvm")).failure
    assert small is not None and small.symptom == "wrong:dtype", "TVM no longer has this bug: find another for the test"
    found = harmful(judge, small)
    assert found is not None and found.reference is not None
    [(_, want)], [(_, got)] = found.reference.outputs, found.outcome.outputs
    assert effect(want, got, {}) == "returns int64 0 instead of bool True"


def test_another_case_that_fails_alike_is_shown_where_this_one_cannot_be_filled(judge: Judge) -> None:
    """Tensors of more than 64 numbers are left alone; TVM's any is a maximum in each of them."""
    pytest.importorskip("tvm")
    call = '{"library": "torch", "api": "torch.Tensor.any", "args": [%s], "kwargs": {"dim": {"tuple": [0]}}}'
    cases = [
        Case("instance", (call % json.dumps(tensor)).encode(), {}, Origin("test"))
        for tensor in (
            {"dtype": "float32", "shape": [65], "values": [1.0] * 65},
            {"dtype": "float32", "shape": [3], "values": [1.0, 1.0, 1.0]},
        )
    ]
    large = judge.examine(cases[0], catalogue.target("tvm")).failure
    assert large is not None and large.symptom == "wrong:dtype", "TVM no longer has this bug: find another for the test"
    assert harmful(judge, large) is None
    found = harmful(judge, large, [large.case, cases[1]])
    assert found is not None and found.reference is not None
    [(_, want)], [(_, got)] = found.reference.outputs, found.outcome.outputs
    assert effect(want, got, {}) == "returns float32 0 instead of bool True"


def test_an_integer_division_is_shown_where_it_leaves_a_rest(judge: Judge) -> None:
    pytest.importorskip("tvm")
    ones = b'{"dtype": "int64", "shape": [2], "values": [1, 1]}'
    text = b'{"library": "torch", "api": "torch.div", "args": [%s, %s], "kwargs": {}}' % (ones, ones)
    found = judge.examine(Case("instance", text, {}, Origin("test")), catalogue.target("tvm")).failure
    assert found is not None and found.symptom == "wrong:dtype", "TVM no longer has this bug: find another for the test"
    worse = harmful(judge, found)
    assert worse is not None and worse.reference is not None
    [(_, want)], [(_, got)] = worse.reference.outputs, worse.outcome.outputs
    assert not np.array_equal(np.asarray(want), np.asarray(got))
