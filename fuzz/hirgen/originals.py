"""What a graph with functions is compared with: the same graph without them.

It is made from the graph itself, so that a reduced one has an original, too.
"""

from __future__ import annotations

from dataclasses import replace

import onnx
import onnx.inliner
from onnx import numpy_helper

from fuzz.case import Case
from fuzz.hirgen.rewrites import ALWAYS


def without_functions(case: Case) -> Case | None:
    """The case with bodies of functions in place of their calls; None where it calls none."""
    model = onnx.load_model_from_string(case.model)
    if not model.functions:
        return None
    inlined = onnx.inliner.inline_local_functions(model)
    _unclosed(inlined)
    origin = replace(case.origin, variant="plain", parents=(case.id,))
    return replace(case, model=inlined.SerializeToString(deterministic=True), origin=origin, expected=None)


def _unclosed(model: onnx.ModelProto) -> None:
    """Put the nodes of closures in place of the If that holds them (`fuzz.hirgen.rewrites.closure`)."""
    constants = {
        node.output[0]: bool(numpy_helper.to_array(node.attribute[0].t))
        for node in model.graph.node
        if node.op_type == "Constant" and ALWAYS in node.output[0] and node.attribute[0].name == "value"
    }
    placed: list[onnx.NodeProto] = []
    for node in model.graph.node:
        if node.op_type == "If" and constants.get(node.input[0]):
            placed += _then(node)
        elif not (node.output and node.output[0] in constants):
            placed.append(node)
    del model.graph.node[:]
    model.graph.node.extend(placed)


def _then(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """The nodes of the branch that is always taken, giving what the If gives."""
    body = next(each.g for each in node.attribute if each.name == "then_branch")
    nodes = list(body.node)
    ends = [
        onnx.helper.make_node("Identity", [info.name], [name])
        for info, name in zip(body.output, node.output, strict=True)
    ]
    return [*nodes, *ends]
