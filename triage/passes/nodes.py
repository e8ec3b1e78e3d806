"""Fewer nodes: delta debugging on the node list, what dangles fed with its recorded value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._chunks import granularities
from triage.submodel import keep_nodes, load

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Halves alone, then without them; then quarters, eighths … down to single nodes."""
    count = len(load(case).graph.node)
    everything = set(range(count))
    for parts in granularities(count):
        for kept in [*map(set, parts), *(everything - set(part) for part in parts)]:
            if 0 < len(kept) < count:
                candidate = keep_nodes(case, kept, values)
                if candidate:
                    yield candidate


def alone(case: Case, values: Mapping[str, Value], op_types: Collection[str]) -> Iterator[Case]:
    """Every node of one of the operator types as a model of its own."""
    nodes = load(case).graph.node
    for at, node in enumerate(nodes):
        if node.op_type in op_types and len(nodes) > 1:
            candidate = keep_nodes(case, {at}, values)
            if candidate:
                yield candidate
