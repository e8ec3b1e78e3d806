"""Models drawn as mermaid flowcharts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from triage.drawing import MOST_BOXES, instance_mermaid, label, mermaid, type_text

#: A line of a drawing: a box, or an edge with or without a label. Nothing else may appear.
QUOTED = r'"[\w ,=×…#;]+"'
BOX = rf"[icno]\d+(?:\[{QUOTED}\]|\(\[{QUOTED}\]\)|\[\({QUOTED}\)\])"
LINE = re.compile(rf"    (?:{BOX}|[icn]\d+ -(?:- {QUOTED} -)?-> [no]\d+)")
HOSTILE = ['"', "]", "|", "`x`", "<script>", "a\nb", "end", "@all", "#35;", "-->", "%%", "", "名" * 99]


def model_of(*nodes: NodeProto, name: str = "x") -> ModelProto:
    info = helper.make_tensor_value_info
    weights = numpy_helper.from_array(np.zeros((2, 3), np.float16), "w")
    graph = helper.make_graph(
        list(nodes), "g", [info(name, TensorProto.FLOAT, [2, "N"])], [info("y", TensorProto.INT64, [])], [weights]
    )
    return helper.make_model(graph)


def test_inputs_initializers_nodes_and_outputs_are_drawn_with_types_on_the_edges() -> None:
    assert mermaid(model_of(helper.make_node("MatMul", ["x", "w"], ["y"]))) == (
        "flowchart TD\n"
        '    i0(["x"])\n'
        '    c0[("w")]\n'
        '    n0["MatMul"]\n'
        '    o0(["y"])\n'
        '    i0 -- "float32 2×N" --> n0\n'
        '    c0 -- "float16 2×3" --> n0\n'
        '    n0 -- "int64 scalar" --> o0'
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_the_drawing(name: str) -> None:
    drawn = mermaid(model_of(helper.make_node(name, [name, "w"], ["y"], domain=name), name=name))
    head, *lines = drawn.split("\n")
    assert head == "flowchart TD" and all(LINE.fullmatch(line) for line in lines)
    assert "@" not in drawn and "<" not in drawn


def test_a_body_that_reads_an_outer_value_has_an_edge_from_it() -> None:
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["z"])], "b", [], [])
    drawn = mermaid(model_of(helper.make_node("If", ["w"], ["y"], then_branch=body, else_branch=body)))
    assert drawn.count("i0 -- ") == 1 and drawn.count("c0 -- ") == 1


def test_a_large_model_is_not_drawn() -> None:
    nodes = [helper.make_node("Relu", ["x"], [f"t{at}"]) for at in range(MOST_BOXES)]
    assert mermaid(model_of(*nodes)) == ""


def test_a_name_defined_nowhere_gives_no_edge() -> None:
    assert "n0" in mermaid(model_of(helper.make_node("Add", ["nowhere", ""], ["t"])))


def test_types_of_every_kind_have_words() -> None:
    tensor = helper.make_tensor_type_proto(TensorProto.DOUBLE, [None, 3])
    assert type_text(tensor) == "float64 ?×3"
    nested = helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor))
    assert type_text(nested) == "optional of sequence of float64 ?×3"
    assert type_text(helper.make_map_type_proto(TensorProto.STRING, tensor)) == "map"
    assert type_text(helper.make_tensor_type_proto(99, None)) == "type 99"


def test_an_instance_is_one_box() -> None:
    drawn = instance_mermaid(b'{"api": "torch.\\"x"}')
    assert drawn.count("[") == 3 and "#34;" in drawn


def test_an_empty_name_has_a_label() -> None:
    assert label("") == '"unnamed"'


def test_long_labels_are_cut() -> None:
    assert len(label("a" * 1000)) < 50
