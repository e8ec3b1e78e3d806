"""The weights of a depthwise convolution are packed in the wrong order of channels."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import initializers

PASS = "PackDepthwise"


def run(graph: Any) -> None:
    """The last channel comes first."""
    from onnx import numpy_helper

    constants = initializers(graph)
    for node in graph.node:
        weights = constants.get(node.input[1]) if node.op_type == "Conv" else None
        group = next((each.i for each in node.attribute if each.name == "group"), 1)
        if weights is not None and group > 1 and weights.dims[1] == 1:
            turned = numpy_helper.to_array(weights)[::-1].copy()
            weights.CopyFrom(numpy_helper.from_array(turned, weights.name))
