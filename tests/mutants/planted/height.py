"""The layout of a convolution's result is changed with height taken for width, which matters where they differ."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import shapes

PASS = "ChangeLayout"


def run(graph: Any) -> None:
    """The result is transposed, and read as if it were not."""
    import numpy as np
    from onnx import helper, numpy_helper

    known = shapes(graph)
    for at, node in reversed(list(enumerate(graph.node))):
        shape = known.get(node.output[0], [])
        if node.op_type != "Conv" or len(shape) != 4 or shape[2] == shape[3]:
            continue
        [name] = node.output
        node.output[0] = f"{name}_right"
        graph.initializer.append(numpy_helper.from_array(np.array(shape, np.int64), f"{name}_shape"))
        graph.node.insert(at + 1, helper.make_node("Reshape", [f"{name}_turned", f"{name}_shape"], [name]))
        turned = helper.make_node("Transpose", [f"{name}_right"], [f"{name}_turned"], perm=[0, 1, 3, 2])
        graph.node.insert(at + 1, turned)
