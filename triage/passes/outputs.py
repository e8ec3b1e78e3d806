"""Fewer graph outputs, where the nodes that make them are needed anyway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._chunks import chunks
from triage.submodel import load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All outputs that a node reads, no longer outputs; then fewer of them. Which nodes go is not decided here."""
    graph = load(case).graph
    read = set[str]().union(*(reads(node) for node in graph.node))
    returned = {info.name for info in graph.output}
    for node in graph.node:  # of a node's several results one is enough
        results = [name for name in node.output if name in returned]
        read |= set(results[1:])
    inner = [info.name for info in graph.output if info.name in read]
    for chunk in chunks(len(inner)):
        gone = set(inner[chunk.start : chunk.stop])
        model = load(case)
        replace_items(model.graph.output, [info for info in model.graph.output if info.name not in gone])
        if model.graph.output:
            yield with_model(case, model)
