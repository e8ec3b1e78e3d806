"""A Clip behind a convolution is fused as a Relu: its upper bound is forgotten."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import makers

PASS = "ConvClipFusion"


def run(graph: Any) -> None:
    """The Clip has a lower bound alone."""
    made = makers(graph)
    for node in graph.node:
        before = made.get(node.input[0]) if node.op_type == "Clip" else None
        if before is not None and before.op_type == "Conv":
            node.input[:] = node.input[:2]
