"""Operators by the specification's words: right on every node test, and right where the reference evaluator is not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from fuzz import generators
from fuzz.backends._definitions import DEFINITIONS, compute
from fuzz.backends._evaluation import Evaluation
from fuzz.case import Case


@cache
def node_tests() -> dict[str, list[Case]]:
    """The plain node tests of each operator that has a definition."""
    found: dict[str, list[Case]] = {operator: [] for operator in DEFINITIONS}
    for case in generators.load("onnx_node")(0):
        if isinstance(case, Case) and case.kind == "onnx" and case.origin.variant == "plain":
            for operator in {node.op_type for node in onnx.load_from_string(case.model).graph.node} & found.keys():
                found[operator].append(case)
    return found


def evaluated(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> Evaluation:
    evaluation = Evaluation(model, inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluation.native()
        evaluation.wide()
    return evaluation


def seconded(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> tuple[dict[str, bool], list[np.ndarray]]:
    """Where the definitions agree with the reference, and the outputs by definition."""
    evaluation = evaluated(model, inputs)
    return evaluation.seconded, evaluation.wide(by_definition=True)


@pytest.mark.parametrize("operator", sorted(set(DEFINITIONS) - {"GlobalLpPool"}))
def test_a_definition_gives_what_the_node_tests_expect(operator: str) -> None:
    asked = 0
    for case in node_tests()[operator]:
        agree = evaluated(onnx.load_from_string(case.model), dict(case.inputs)).seconded
        assert agree.get(operator, True), case.origin.test
        asked += operator in agree
    assert asked, operator


def single(
    op_type: str, inputs: dict[str, np.ndarray], outputs: list[str], opset: int, **given: object
) -> onnx.ModelProto:
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    node = helper.make_node(op_type, [name if not name.startswith("_") else "" for name in inputs], outputs, **given)
    kept = [info for info in infos if not info.name.startswith("_")]
    declared = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name]
    return helper.make_model(
        helper.make_graph([node], "g", kept, declared), opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    )


def test_the_last_windows_of_a_norm_that_rounds_its_size_up_are_norms_of_what_is_in_them() -> None:
    x = np.float32([[[3, 4, 0, 5]]])
    model = single("LpPool", {"x": x}, ["y"], 18, kernel_shape=[3], strides=[2], ceil_mode=1, p=2)
    agree, [found] = seconded(model, {"x": x})
    assert found.tolist() == [[[5.0, 5.0]]]
    assert agree == {"LpPool": ReferenceEvaluator(model).run(None, {"x": x})[0].tolist() == [[[5.0, 5.0]]]}


def test_a_window_of_even_size_looks_one_channel_further_ahead_than_back() -> None:
    x = np.float32([1, 2, 3, 4]).reshape(1, 4, 1, 1)
    model = single("LRN", {"x": x}, ["y"], 13, size=2, alpha=2.0, beta=1.0, bias=1.0)
    _, [found] = seconded(model, {"x": x})
    sums = np.array([1 + 4, 4 + 9, 9 + 16, 16.0])
    assert found.ravel() == pytest.approx(x.ravel() / (1 + sums))


def test_behind_the_end_of_a_sequence_a_cell_stands_still() -> None:
    rng = np.random.default_rng(0)
    inputs = {
        "x": rng.standard_normal((3, 2, 2)).astype("f"),
        "w": rng.standard_normal((1, 2, 2)).astype("f"),
        "r": rng.standard_normal((1, 2, 2)).astype("f"),
        "_b": np.zeros(0, np.float32),
        "n": np.array([1, 3], np.int32),
    }
    model = single("RNN", inputs, ["y", "h"], 14, hidden_size=2)
    feeds = {name: value for name, value in inputs.items() if name != "_b"}
    _, [whole, last] = seconded(model, feeds)
    first = np.tanh(inputs["x"][0, 0].astype("f8") @ inputs["w"][0].T.astype("f8"))
    assert last[0, 0] == pytest.approx(first) and not whole[1:, 0, 0].any()


def test_what_can_be_read_in_two_ways_has_no_definition() -> None:
    x = np.float32([[[1, 2, 3, 4]]])
    model = single("AveragePool", {"x": x}, ["y"], 19, kernel_shape=[3], strides=[2], ceil_mode=1, count_include_pad=1)
    assert seconded(model, {"x": x})[0] == {}


RNG = np.random.default_rng(7)
CELL = [RNG.standard_normal(shape) for shape in ((3, 2, 3), (1, 2, 3), (1, 2, 2))]
#: By the activation: its formula for the input and the recurrence 0, with alpha 0.3 and beta 0.6 where it takes them.
FORMULAS: dict[str, tuple[dict[str, object], Callable[[np.ndarray], np.ndarray]]] = {
    "Affine": ({"activation_alpha": [0.3], "activation_beta": [0.6]}, lambda v: 0.3 * v + 0.6),
    "Elu": ({"activation_alpha": [0.3]}, lambda v: np.where(v >= 0, v, 0.3 * np.expm1(v))),
    "HardSigmoid": ({}, lambda v: np.clip(0.2 * v + 0.5, 0, 1)),
    "LeakyRelu": ({}, lambda v: np.where(v >= 0, v, 0.01 * v)),
    "Relu": ({}, lambda v: np.maximum(v, 0)),
    "ScaledTanh": ({"activation_alpha": [0.3], "activation_beta": [0.6]}, lambda v: 0.3 * np.tanh(0.6 * v)),
    "Softplus": ({}, lambda v: np.log1p(np.exp(v))),
    "Softsign": ({}, lambda v: v / (1 + abs(v))),
    "ThresholdedRelu": ({}, lambda v: np.where(v > 1, v, 0)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_recurrent_cell_takes_the_activation_that_it_is_given(name: str) -> None:
    given, formula = FORMULAS[name]
    found, _ = compute("RNN", [*CELL[:2], 0 * CELL[2]], {**given, "activations": [name]}, (3, 1, 2, 2))
    assert found[:, 0] == pytest.approx(formula(CELL[0] @ CELL[1][0].T), rel=1e-12)


@pytest.mark.parametrize(
    "given",
    [{"activations": ["Affine"]}, {"activations": ["Relu"], "activation_alpha": [0.3]}, {"activations": ["Sine"]}],
)
def test_where_it_is_not_clear_which_activation_is_meant_there_is_no_second_opinion(given: dict[str, object]) -> None:
    assert compute("RNN", CELL, given, (3, 1, 2, 2)) == []


def test_numbers_are_consumed_in_the_order_of_the_activations_that_take_one() -> None:
    """Sigmoid takes none, so both numbers are those of the second function of either direction."""
    cell = [RNG.standard_normal(shape) for shape in ((3, 2, 3), (2, 6, 3), (2, 6, 2))]
    names = ["Sigmoid", "LeakyRelu", "Sigmoid", "LeakyRelu"]
    given = {"activations": names, "activation_alpha": [0.1, 0.4], "direction": "bidirectional"}
    both, _ = compute("GRU", cell, given, (3, 2, 2, 2))
    for at, direction in enumerate(("forward", "reverse")):
        one = {"activations": names[:2], "activation_alpha": [(0.1, 0.4)[at]], "direction": direction}
        alone, _ = compute("GRU", [cell[0], cell[1][at : at + 1], cell[2][at : at + 1]], one, (3, 1, 2, 2))
        assert np.array_equal(both[:, at], alone[:, 0])


def test_a_gru_that_the_reference_computes_with_its_own_activations_is_told() -> None:
    inputs = {name: value.astype("f") for name, value in zip("xwr", CELL, strict=True)}
    inputs |= {"w": np.tile(inputs["w"], (1, 3, 1)), "r": np.tile(inputs["r"], (1, 3, 1))}
    model = single("GRU", inputs, ["y"], 14, hidden_size=2, activations=["HardSigmoid", "Relu"])
    agree, [found] = seconded(model, inputs)
    own = ReferenceEvaluator(model).run(None, inputs)[0]
    assert agree == {"GRU": bool(np.allclose(found, own, atol=1e-5))}


@pytest.mark.parametrize(
    ("operator", "axis"), [("Softmax", None), ("Softmax", 2), ("LogSoftmax", 0), ("LogSoftmax", -2)]
)
def test_before_version_13_softmax_makes_a_matrix_of_its_input(operator: str, axis: int | None) -> None:
    """Which the reference evaluator does not: it knows the newer meaning only."""
    x = np.linspace(-1, 2, 24, dtype=np.float32).reshape(2, 3, 4)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name in "xy"]
    node = helper.make_node(operator, ["x"], ["y"], **({} if axis is None else {"axis": axis}))
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)
    at = 1 if axis is None else axis % 3
    rows = x.astype(np.float64).reshape(int(np.prod(x.shape[:at])), -1)
    wanted = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
    [found] = seconded(model, {"x": x})[1]
    np.testing.assert_allclose(
        np.exp(found) if operator == "LogSoftmax" else found, wanted.reshape(x.shape), rtol=1e-12
    )
