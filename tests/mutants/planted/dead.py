"""A Neg before a Relu is taken for dead, and what it negates goes on (section 6.2.3 of MT-DLComp)."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import makers

PASS = "DeadCodeElimination"


def run(graph: Any) -> None:
    """Relu reads what Neg reads."""
    made = makers(graph)
    for node in graph.node:
        before = made.get(node.input[0]) if node.op_type == "Relu" else None
        if before is not None and before.op_type == "Neg":
            node.input[0] = before.input[0]
