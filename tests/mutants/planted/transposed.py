"""Two Transposes in a row are taken for inverse where they are equal."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import makers

PASS = "CancelTransposes"


def run(graph: Any) -> None:
    """The second becomes a copy of what the first one reads: right where the permutation is its own inverse."""
    made = makers(graph)
    for node in graph.node:
        before = made.get(node.input[0]) if node.op_type == "Transpose" else None
        if before is not None and before.op_type == "Transpose" and list(before.attribute) == list(node.attribute):
            node.op_type, node.input[0] = "Identity", before.input[0]
            del node.attribute[:]
