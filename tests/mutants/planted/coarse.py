"""Constants that are added lose their last 16 bits, as if they were kept in bfloat16."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import initializers

PASS = "ConstantPrecision"


def run(graph: Any) -> None:
    """Only what is an operand of Add: weights keep all of their bits."""
    import numpy as np
    from onnx import numpy_helper

    constants = initializers(graph)
    for node in graph.node:
        for name in node.input if node.op_type == "Add" else ():
            tensor = constants.get(name)
            if tensor is not None and tensor.data_type == 1:
                bits = numpy_helper.to_array(tensor).view(np.uint32) & np.uint32(0xFFFF0000)
                tensor.CopyFrom(numpy_helper.from_array(bits.view(np.float32), name))
