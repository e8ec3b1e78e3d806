"""Fewer graph outputs, where the nodes that make them, if any do, are needed anyway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._chunks import chunks
from triage.submodel import initializer_names, load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without all outputs that a node reads or none makes; then without some. Which nodes go is not decided here."""
    graph = load(case).graph
    read = initializer_names(graph) | {info.name for info in graph.input}
    read = read.union(*(reads(node) for node in graph.node))
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
