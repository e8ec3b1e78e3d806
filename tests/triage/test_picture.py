"""A model's picture: every operator is on it once, edges lead downwards, and a model's names are only text."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import onnx
import pytest
from onnx import TensorProto, helper

from fuzz.generators.models import Parameters, isra
from triage import picture

INFO = helper.make_tensor_value_info


def model(nodes: list[onnx.NodeProto], **more: object) -> onnx.ModelProto:
    ends = [INFO(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    return helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], **more))


def texts(drawn: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]


def test_operators_inputs_constants_outputs_and_attributes_are_drawn() -> None:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    nodes = [helper.make_node("Mul", ["x", "w"], ["m"]), helper.make_node("Softmax", ["m"], ["y"], axis=-1)]
    told = texts(picture.svg(model(nodes, initializer=[weight])))
    assert {"x", "w", "y", "Mul", "Softmax", "axis=-1", "float32 2"} <= set(told)


def test_every_edge_leads_downwards_and_no_box_covers_another() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Add", ["b", "x"], ["c"]),
        helper.make_node("Sum", ["a", "b", "c"], ["y"]),
    ]
    found = picture.picture(model(nodes))
    assert found is not None and len(found.lines) == 8
    for line in found.lines:
        heights = [float(part.split(",")[1]) for part in line.path.replace("M", " ").replace("C", " ").split()]
        assert heights == sorted(heights)
    for at, one in enumerate(found.boxes):
        for other in found.boxes[at + 1 :]:
            apart = (
                abs(one.x - other.x) * 2 >= one.width + other.width,
                abs(one.y - other.y) * 2 >= one.height + other.height,
            )
            assert any(apart), (one, other)


def test_what_an_inner_graph_reads_is_joined_to_it() -> None:
    inner = helper.make_graph([helper.make_node("Neg", ["a"], ["n"])], "i", [], [INFO("n", TensorProto.FLOAT, [2])])
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
    ]
    flag = helper.make_tensor("c", TensorProto.BOOL, [], [True])
    found = picture.picture(model(nodes, initializer=[flag]))
    assert found is not None and len(found.lines) == 4  # x -> Relu -> If, c -> If, If -> y


def test_names_cannot_become_markup() -> None:
    drawn = picture.svg(model([helper.make_node('<script>"&', ["x"], ["y"], domain="<b>", word="<i>")]))
    assert "<script" not in drawn and "<b>" not in drawn and "<i>" not in drawn
    assert '<b>::<script>"&' in texts(drawn)


def test_what_is_no_graph_without_circles_or_too_large_is_not_drawn() -> None:
    circle = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    assert picture.svg(model(circle)) == ""
    long = [helper.make_node("Neg", [f"t{at}"], [f"t{at + 1}"]) for at in range(200)]
    assert picture.svg(model(long)) == "" and picture.svg(onnx.ModelProto()) == ""


@pytest.mark.parametrize("seed", range(3))
def test_generated_models_are_drawn_whole(seed: int) -> None:
    for index in range(10):
        made = onnx.load_from_string(isra.generate(Parameters(5, 20), seed, index).model)
        found = picture.picture(made)
        assert found is not None
        operators = [box.text for box in found.boxes if box.kind == "operator"]
        assert sorted(operators) == sorted(node.op_type for node in made.graph.node)
        assert found.width > 0 and ET.fromstring(picture.svg(made)) is not None
