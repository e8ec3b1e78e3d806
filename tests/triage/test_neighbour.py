"""The passing neighbour of a failing case, and the words for what is different."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import parser

from fuzz.case import Case, Origin
from fuzz.operators.graph import walk
from tests.triage.test_reduce import op_types, record, valid
from triage.difference import differences
from triage.reduce import reduce
from triage.submodel import load, rename, tensors, with_model

HEAD = '<ir_version: 10, opset_import: ["": 21]>\n'


def case_of(text: str, **inputs: np.ndarray) -> Case:
    return Case("onnx", parser.parse_model(HEAD + text).SerializeToString(), inputs, Origin("test"))


def softmax(axis: int | None = 0, shape: tuple[int, ...] = (2, 3), node: str = "Softmax") -> Case:
    sizes = ",".join(map(str, shape))
    attribute = f"<axis = {axis}>" if axis is not None else ""
    text = f"g (float[{sizes}] x) => (float[{sizes}] y) {{ y = {node} {attribute} (x) }}"
    return case_of(text, x=np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape))


def attribute(case: Case, name: str) -> int | None:
    values = [a.i for node in load(case).graph.node for a in node.attribute if a.name == name]
    return values[0] if values else None


# ---------------------------------------------------------------- differences


def test_each_difference_is_one_phrase() -> None:
    assert differences(softmax(0), softmax(1)) == ["axis of Softmax: 0 -> 1"]
    assert differences(softmax(0), softmax(None)) == ["axis of Softmax: 0 -> left out"]
    assert "shape of x: [2, 3] -> [3]" in differences(softmax(0), softmax(0, (3,)))
    assert differences(softmax(0), softmax(0, node="LogSoftmax")) == ["without Softmax", "with LogSoftmax"]
    assert differences(softmax(0), softmax(0)) == []


def test_a_node_more_is_no_single_difference_beside_other_values_or_another_output() -> None:
    """An unconnected node that some cut had left, whose input was simple, was told as what makes a model pass."""
    one = case_of("g (float[2] x) => (float[2] y) { y = Relu (x) }", x=np.float32([1, np.inf]))
    text = "g (float[2] x, float[2] z) => (float[2] y, float[2] w) { y = Relu (x) w = Abs (z) }"
    with_abs = case_of(text, x=np.float32([1, np.inf]), z=np.float32([1, 2]))
    assert differences(one, with_abs) == ["with Abs"]
    assert len(differences(one, case_of(text, x=np.float32([1, 2]), z=np.float32([1, 2])))) == 2
    dead = case_of("g (float[2] x) => (float[2] y) { y = Relu (x) e = Exp (x) }", x=np.float32([1, 2]))
    alone = case_of("g (float[2] x) => (float[2] e) { e = Exp (x) }", x=np.float32([1, 2]))
    assert differences(dead, alone) == ["without Relu", "e is an output"]


def test_other_values_and_other_dtypes_are_told() -> None:
    case = softmax()
    ones = Case("onnx", case.model, {"x": np.ones((2, 3), np.float32)}, case.origin)
    assert differences(case, ones) == [
        "values of x: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] -> [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"
    ]
    double = Case("onnx", case.model, {"x": np.ones((2, 3))}, case.origin)
    assert differences(case, double) == ["dtype of x: float32 -> float64"]


def test_optional_inputs_that_are_left_out_are_told_apart() -> None:
    """What one of them is needed for says nothing of the others."""
    given = "g (float[1,1,2] x, float[1,1] low, float[1,1] high) => (float[1,1,2] y)"
    whole = case_of(f"{given} {{ y = Clip(x, low, high) }}")
    assert differences(whole, case_of(f"{given} {{ y = Clip(x, , high) }}"))[0] == (
        "inputs of Clip: 3 -> 2 (without number 2)"
    )
    assert differences(whole, case_of(f"{given} {{ y = Clip(x, low) }}"))[0] == (
        "inputs of Clip: 3 -> 2 (without number 3)"
    )


def test_an_input_that_became_a_constant_is_told() -> None:
    given = case_of("g (float[2] x, float[2] k) => (float[2] y) { y = Add(x, k) }", x=np.ones(2), k=np.ones(2))
    text = "g (float[2] x) => (float[2] y) <float[2] k = {1.0, 1.0}> { y = Add(x, k) }"
    held = case_of(text, x=np.ones(2, np.float32))
    given = Case("onnx", given.model, {n: np.ones(2, np.float32) for n in "xk"}, given.origin)
    assert differences(given, held) == ["k: an input -> a constant"]
    assert differences(given, held, named=False) == ["0 1: an input -> a constant"]


def test_another_shape_with_other_values_is_two_differences() -> None:
    case = softmax(shape=(2, 3))
    repeated = softmax(shape=(3, 3))
    repeated = Case(
        "onnx", repeated.model, {"x": np.array([[1, 2, 3], [4, 5, 6], [1, 2, 3]], np.float32)}, repeated.origin
    )
    said = "shape of x: [2, 3] -> [3, 3]"
    assert [phrase for phrase in differences(case, repeated) if "output" not in phrase] == [said]
    other = Case("onnx", repeated.model, {"x": np.full((3, 3), np.inf, np.float32)}, repeated.origin)
    assert differences(case, other)[0] == said and differences(case, other)[1].startswith("values of x: ")


def test_names_make_no_difference() -> None:
    model = load(softmax())
    rename(model, {"x": "data", "y": "result"})
    assert differences(softmax(), with_model(softmax(), model, {"data": softmax().inputs["x"]})) == []


def test_differences_of_operator_instances_are_told() -> None:
    def instance(text: bytes) -> Case:
        return Case("instance", text, {}, Origin("test"))

    one = instance(
        b'{"api": "torch.relu", "args": [{"tensor": 0}, 2], "tensors": [{"dtype": "float32", "shape": [2]}]}'
    )
    other = instance(b'{"api": "torch.relu", "args": [{"tensor": 0}], "tensors": [{"dtype": "float16", "shape": [2]}]}')
    assert differences(one, other) == ["argument 1: 2 -> left out", "dtype of tensor 0: float32 -> float16"]


# ---------------------------------------------------------------- neighbours

Needs = Callable[[Case], bool]


def needs_axis_zero(case: Case) -> bool:
    return op_types(case) == ["Softmax"] and attribute(case, "axis") == 0


def needs_constant_shape(case: Case) -> bool:
    graph = load(case).graph
    return op_types(case) == ["Reshape"] and any(t.name == graph.node[0].input[1] for t in graph.initializer)


def needs_negative_number(case: Case) -> bool:
    [array] = tensors(case, load(case)).values()
    return op_types(case) == ["Relu"] and bool(np.min(array) < 0)


RESHAPE = "g (float[2,3] x) => (float[3,2] y) <int64[2] s = {3, 2}> { y = Reshape(x, s) }"
RELU = "g (float[3] x) => (float[3] y) { y = Relu(x) }"


@pytest.mark.parametrize(
    ("case", "needs", "difference"),
    [
        (softmax(0), needs_axis_zero, "axis of Softmax: 0 -> left out"),
        (case_of(RESHAPE, x=np.ones((2, 3), np.float32)), needs_constant_shape, "s: a constant -> an input"),
        (
            case_of(RELU, x=np.array([-4, 2.5, 7], np.float32)),
            needs_negative_number,
            "values of x: [-4.0, 2.0, 7.0] -> [1.0, ",
        ),
    ],
)
def test_the_neighbour_is_the_case_with_the_one_change_that_makes_it_pass(
    case: Case, needs: Needs, difference: str
) -> None:
    found = reduce(case, needs, values=record, valid=valid)
    assert found.min_good is not None and found.min_good.difference.startswith(difference)
    assert needs(found.case) and not needs(found.min_good.case) and valid(found.min_good.case)


def test_a_missing_node_is_a_difference_too() -> None:
    def feeds(case: Case) -> bool:
        nodes = load(case).graph.node
        makers = {name: node.op_type for node in nodes for name in node.output}
        return any(node.op_type == "Neg" and makers.get(node.input[0]) == "Exp" for node in nodes)

    text = "g (float[2] x) => (float[2] y) { a = Abs(x) b = Exp(a) c = Neg(b) y = Relu(c) }"
    found = reduce(case_of(text, x=np.ones(2, np.float32)), feeds, values=record, valid=valid, neighbours=2)
    assert op_types(found.case) == ["Exp", "Neg"]
    assert found.min_good is not None and found.min_good.difference == "without Exp"


def test_in_a_body_the_node_that_fails_gives_way_to_an_identity() -> None:
    text = """g (float[2] x) => (float[2] y) <bool c = {1}> {
        y = If(c) <then_branch = t () => (float[2] p) { p = Neg(x) },
                   else_branch = e () => (float[2] q) <float[2] q = {1, 1}> { }> }"""

    def negates(case: Case) -> bool:
        return any(node.op_type == "Neg" for node in walk(load(case).graph))

    case = case_of(text, x=np.array([1, 2], np.float32))
    found = reduce(case, lambda one: op_types(one) == ["If"] and negates(one), values=record, valid=valid, neighbours=2)
    assert found.min_good is not None and not negates(found.min_good.case)
    assert found.min_good.difference == "Identity in the place of Neg"


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2,3] x) => (int64[1,3] y) { a = Neg(x) y = ArgMax(a) }",
        "g (float[2,3] x) => (int64[2] y) { a = Neg(x) y = Shape(a) }",
        "g (float[2,3] x) => (int8[2,3] y) { a = Neg(x) y = Cast<to = 3>(a) }",
        "g (float[2,3] x) => (float[2,1] y) <int64[1] k = {1}> { a = Neg(x) y, at = TopK(a, k) }",
        "g (float[2,3] x) => (float[2,3] y) { a = Neg(x) y, m = Dropout(a) }",
    ],
    ids=["ArgMax", "Shape", "Cast", "TopK", "Dropout"],
)
def test_an_operator_that_gives_another_type_or_several_results_has_a_valid_neighbour(text: str) -> None:
    case = case_of(text, x=np.arange(6, dtype=np.float32).reshape(2, 3))
    operator = op_types(case)[-1]
    found = reduce(case, lambda one: operator in op_types(one), values=record, valid=valid, neighbours=2)
    assert op_types(found.case) == [operator]
    assert found.min_good is not None and op_types(found.min_good.case) == ["Identity"]
    assert found.min_good.difference == f"Identity in the place of {operator}" and valid(found.min_good.case)


def test_the_last_node_that_is_doubted_in_a_body_is_the_neighbour() -> None:
    text = """g (float[2] x) => (float[2] y) <bool c = {1}> {
        y = If(c) <then_branch = t () => (float[2] p) { a = Abs(x) b = Exp(a) d = Neg(b) p = Tanh(d) },
                   else_branch = e () => (float[2] q) <float[2] q = {1, 1}> { }> }"""
    stages = list[str]()

    def feeds(case: Case) -> bool:
        nodes = list(walk(load(case).graph))
        makers = {name: node.op_type for node in nodes for name in node.output}
        inner = any(node.op_type == "Neg" and makers.get(node.input[0]) == "Exp" for node in nodes)
        return op_types(case) == ["If"] and inner

    tell = lambda name, runs: stages.append(name)  # noqa: E731
    case = case_of(text, x=np.array([0.3, 0.7], np.float32))
    found = reduce(case, feeds, values=record, valid=valid, neighbours=2, progress=tell)
    assert [node.op_type for node in walk(load(found.case).graph)] == ["If", "Exp", "Neg"]
    assert found.min_good is not None and found.min_good.difference == "without Exp"
    assert "neighbour" not in stages


CALL = """g (float[2] x) => (float[2] y) { y = local.f<by = 0.5>(x) }
    <opset_import: ["": 21], domain: "local"> f<by>(a) => (b) { b = Elu<alpha: float = @by>(a) }"""


def test_in_a_function_the_node_that_fails_gives_way_to_an_identity() -> None:
    text = HEAD.replace('"": 21', '"": 21, "local": 1') + CALL
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": np.float32([1, 2])}, Origin("test"))

    def needs(one: Case) -> bool:
        functions = load(one).functions
        return bool(functions) and any(node.op_type == "Elu" for node in functions[0].node)

    found = reduce(case, needs, values=record, valid=valid, neighbours=2)
    assert found.min_good is not None and found.min_good.difference == "Identity in the place of Elu"
    assert differences(case, found.min_good.case) == ["without Elu", "with Identity"]


def test_no_neighbour_is_looked_for_without_runs_to_spend() -> None:
    case = case_of(RELU, x=np.array([1, 2, 3], np.float32))
    found = reduce(case, lambda candidate: op_types(candidate) == ["Relu"], values=record, valid=valid, neighbours=0)
    assert found.min_good is None


def test_a_case_that_fails_in_another_way_is_no_passing_neighbour() -> None:
    from triage.trials import Answer

    def interesting(case: Case) -> Answer:
        return Answer.SAME if needs_axis_zero(case) else Answer.OTHER

    assert reduce(softmax(0), interesting, values=record, valid=valid).min_good is None


# ---------------------------------------------------------------- operator instances

POOL: dict[str, Any] = {
    "api": "torch.nn.functional.max_pool1d",
    "args": [{"tensor": 0}, 3],
    "kwargs": {"ceil_mode": True, "stride": 2},
    "tensors": [{"dtype": "float32", "shape": [1, 2, 9], "seed": 1}],
}


def instance(**changes: Any) -> Case:
    return Case("instance", json.dumps({**POOL, **changes}).encode(), {}, Origin("test"))


def passes_with(case: Case, needs: Callable[[dict[str, Any]], bool]) -> str:
    """The difference to the passing neighbour of the smallest instance that fails."""
    asked = lambda candidate: needs(json.loads(candidate.model))  # noqa: E731
    found = reduce(case, asked, values=lambda case: {})
    assert asked(found.case) and found.min_good is not None and not asked(found.min_good.case)
    assert differences(found.case, found.min_good.case) == [found.min_good.difference]
    return found.min_good.difference


def test_an_instance_has_a_passing_neighbour_too() -> None:
    assert passes_with(instance(), lambda one: bool(one.get("kwargs", {}).get("ceil_mode"))).startswith(
        "argument ceil_mode: True -> "
    )
    in_float64 = instance(tensors=[{"dtype": "float64", "shape": [1, 2, 9], "seed": 1}])
    assert passes_with(in_float64, lambda one: [tensor["dtype"] for tensor in one["tensors"]] == ["float64"]) == (
        "dtype of tensor 0: float64 -> float32"
    )
    negative = instance(tensors=[{"dtype": "float32", "shape": [3], "values": [-1.0, 2.0, 3.0]}])
    assert passes_with(
        negative, lambda one: any(min(tensor.get("values", [0])) < 0 for tensor in one["tensors"])
    ).startswith("values of tensor 0: [-1.0")


def test_what_follows_from_a_change_of_an_instance_is_no_change_of_its_own() -> None:
    two = [{"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}, {"dtype": "int64", "shape": [1], "values": [0]}]
    both = instance(args=[{"tensor": 0}], kwargs={"index": {"tensor": 1}}, tensors=two)
    alone = instance(args=[{"tensor": 0}], kwargs={}, tensors=two[:1])
    assert differences(both, alone) == ["argument index: a tensor -> left out"]
    longer = [{"dtype": "float32", "shape": [3], "values": [1.0, 2.0, 1.0]}, two[1]]
    assert differences(both, instance(args=[{"tensor": 0}], kwargs={"index": {"tensor": 1}}, tensors=longer)) == [
        "shape of tensor 0: [2] -> [3]"
    ]
    fewer = instance(args=[], kwargs={"index": {"tensor": 0}}, tensors=two[1:])
    assert differences(both, fewer) == ["argument 0: a tensor -> left out"]


def test_tensors_in_nested_arguments_are_kept_and_told() -> None:
    nested = {"dict": {"a": [{"tensor": 0}], "b": 1}}
    one = instance(args=[nested], kwargs={"unused": 3}, tensors=[{"dtype": "float32", "shape": [2], "seed": 1}])
    assert passes_with(one, lambda document: "dict" in (document["args"] or [{}])[0] and document["tensors"] != [])
