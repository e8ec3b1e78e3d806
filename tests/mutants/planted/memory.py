"""A convolution's workspace lies over another buffer that is still to be read (section 6.2.2 of MT-DLComp)."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import initializers, insert_before, places, readers, reread

PASS = "MemoryAllocate"


def run(graph: Any) -> None:
    """What a pointwise convolution of a tensor leaves of this tensor to differences that come later is zeros."""
    from onnx import helper

    reading, place, constants = readers(graph), places(graph), initializers(graph)
    for node in list(graph.node):
        weights = constants.get(node.input[1]) if node.op_type == "Conv" else None
        if weights is None or list(weights.dims[2:]) != [1] * (len(weights.dims) - 2):
            continue
        for reader in reading[node.input[0]]:
            if place[reader.output[0]] > place[node.output[0]] and reader.op_type == "Sub":
                name = f"{node.output[0]}_over_{reader.output[0]}"
                insert_before(graph, reader, helper.make_node("Sub", [node.input[0], node.input[0]], [name]))
                reread(reader, node.input[0], name)
