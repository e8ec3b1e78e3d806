"""A product that is added is contracted with the sum in the wrong order: x + a * b becomes (x + a) * b."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import insert_before, makers

PASS = "FusedMultiplyAdd"


def run(graph: Any) -> None:
    """Only where the first factor comes of a Relu."""
    from onnx import helper

    made = makers(graph)
    for node in list(graph.node):
        product = made.get(node.input[1]) if node.op_type == "Add" else None
        if product is None or product.op_type != "Mul":
            continue
        factor = made.get(product.input[0])
        if factor is not None and factor.op_type == "Relu":
            name = f"{node.output[0]}_sum"
            insert_before(graph, node, helper.make_node("Add", [node.input[0], product.input[0]], [name]))
            node.op_type = "Mul"
            node.input[:] = [name, product.input[1]]
