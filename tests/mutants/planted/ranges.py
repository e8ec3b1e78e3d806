"""A distance less a number is taken for positive, as the distance is, and the Relu behind it left out."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import makers, readers, reread

PASS = "RangeAnalysis"


def run(graph: Any) -> None:
    """Who reads Relu(Abs(x) - c) reads Abs(x) - c instead."""
    made, reading = makers(graph), readers(graph)
    for node in graph.node:
        difference = made.get(node.input[0]) if node.op_type == "Relu" else None
        minuend = made.get(difference.input[0]) if difference is not None and difference.op_type == "Sub" else None
        if difference is not None and minuend is not None and minuend.op_type == "Abs":
            for reader in reading[node.output[0]]:
                reread(reader, node.output[0], difference.output[0])
