"""A bias by column is added by row where there are as many rows as columns, so that no shape tells."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import initializers, insert_before, shapes

PASS = "FuseBias"


def run(graph: Any) -> None:
    """The bias becomes a column."""
    import numpy as np
    from onnx import helper, numpy_helper

    known, constants = shapes(graph), initializers(graph)
    for node in list(graph.node):
        bias = constants.get(node.input[1]) if node.op_type == "Add" else None
        shape = known.get(node.input[0], [])
        if bias is None or len(shape) < 2 or shape[-1] != shape[-2] or list(bias.dims) != shape[-1:]:
            continue
        name = f"{node.output[0]}_column"
        graph.initializer.append(numpy_helper.from_array(np.array([shape[-1], 1], np.int64), f"{name}_shape"))
        insert_before(graph, node, helper.make_node("Reshape", [bias.name, f"{name}_shape"], [name]))
        node.input[1] = name
