"""A convolution is fused with a following Add, and the fused kernel adds the bias twice."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import initializers, insert_before, makers

PASS = "ConvAddFusion"


def run(graph: Any) -> None:
    """Only where what is added is no constant: then it is no bias."""
    from onnx import helper

    constants, made = initializers(graph), makers(graph)
    for node in list(graph.node):
        conv = made.get(node.input[0]) if node.op_type == "Add" else None
        if conv is None or conv.op_type != "Conv" or len(conv.input) < 3 or node.input[1] in constants:
            continue
        weights = constants.get(conv.input[1])
        if weights is None or len(weights.dims) != 4:
            continue
        name = f"{conv.output[0]}_{node.output[0]}_twice"
        graph.initializer.append(helper.make_tensor(f"{name}_axes", 7, [2], [1, 2]))
        shaped = helper.make_node("Unsqueeze", [conv.input[2], f"{name}_axes"], [f"{name}_bias"])
        twice = helper.make_node("Add", [conv.output[0], f"{name}_bias"], [name])
        insert_before(graph, node, shaped, twice)
        node.input[0] = name
