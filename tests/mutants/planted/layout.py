"""Vectors of eight channels that a convolution made are taken in the wrong order (section 6.2.4 of MT-DLComp)."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import initializers, insert_before

PASS = "DKKC8"


def run(graph: Any) -> None:
    """Where such a result is added to anything else, its channels are turned round first."""
    import numpy as np
    from onnx import helper, numpy_helper

    constants = initializers(graph)
    channels = {
        node.output[0]: constants[node.input[1]].dims[0]
        for node in graph.node
        if node.op_type == "Conv" and node.input[1] in constants
    }
    eight = {name: number for name, number in channels.items() if number % 8 == 0}
    for at, node in enumerate(list(graph.node)):
        if node.op_type in ("Add", "Sub") and node.input[0] in eight and node.input[1] not in eight:
            name = f"turned_{at}"
            order = numpy_helper.from_array(np.arange(eight[node.input[0]])[::-1].copy(), f"{name}_order")
            graph.initializer.append(order)
            insert_before(graph, node, helper.make_node("Gather", [node.input[0], order.name], [name], axis=1))
            node.input[0] = name
