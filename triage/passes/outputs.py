"""Fewer graph outputs, where the nodes that make them, if any do, are needed anyway."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx

from fuzz.case import Case
from fuzz.operators.graph import bodies
from fuzz.wire import Value
from triage.passes._chunks import chunks
from triage.submodel import initializer_names, load, reads, replace_items, value_info, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without all outputs that a node reads or none makes; then without some. Which nodes go is not decided here."""
    graph = load(case).graph
    read = initializer_names(graph) | _names(graph.input)
    read = read.union(*(reads(node) for node in graph.node))
    returned = _names(graph.output)
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
    yield from _states(case, values)


def _states(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """The last state of a Loop or Scan in the place of what it collects, for which its body needs more nodes."""
    for node in load(case).graph.node:
        first = next(iter(node.output), "")
        info = value_info(first, values.get(first)) if any(bodies(node)) else None
        model = load(case)
        others = [each for each in model.graph.output if each.name not in node.output]
        if info is not None and len(others) < len(model.graph.output) and first not in _names(model.graph.output):
            replace_items(model.graph.output, [*others, info])
            yield with_model(case, model)


def _names(infos: Iterable[onnx.ValueInfoProto]) -> set[str]:
    return {info.name for info in infos}
