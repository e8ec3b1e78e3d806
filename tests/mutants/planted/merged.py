"""Common subexpressions are merged by operator and inputs, whatever their attributes are."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import reread

PASS = "CommonSubexpressions"


def run(graph: Any) -> None:
    """Whoever reads the later of two nodes reads the earlier one. Outputs of the graph stay what they are."""
    first: dict[tuple[str, ...], Any] = {}
    for node in list(graph.node):
        if not node.attribute or not node.input or len(node.output) > 1:
            continue
        same = first.setdefault((node.op_type, *node.input), node)
        if same is not node:
            for reader in graph.node:
                reread(reader, node.output[0], same.output[0])
