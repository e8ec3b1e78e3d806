"""A square is written over what it is made of, although that is read again (section 6.2.1 of MT-DLComp)."""

from __future__ import annotations

from typing import Any

from tests.mutants.planted._graphs import places, readers, reread

PASS = "ShareBuffers"


def run(graph: Any) -> None:
    """Later sums read the square instead."""
    reading, place = readers(graph), places(graph)
    for node in graph.node:
        if node.op_type == "Mul" and node.input[0] == node.input[1]:
            for reader in reading[node.input[0]]:
                if place[reader.output[0]] > place[node.output[0]] and reader.op_type in ("Add", "Sub"):
                    reread(reader, node.input[0], node.output[0])
