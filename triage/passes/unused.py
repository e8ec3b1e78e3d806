"""What no node reads: graph inputs, initializers, opset imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.submodel import load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One candidate without any of them."""
    model = load(case)
    graph = model.graph
    read = {info.name for info in graph.output}.union(*(reads(node) for node in graph.node))
    for group in (graph.input, graph.initializer):
        replace_items(group, [named for named in group if named.name in read])
    replace_items(graph.sparse_initializer, [s for s in graph.sparse_initializer if s.values.name in read])
    parts = [graph, *model.functions]
    used = {node.domain for part in parts for node in walk(part)} | {function.domain for function in model.functions}
    replace_items(model.opset_import, [o for o in model.opset_import if o.domain in used or not o.domain])
    kept = {info.name for info in graph.input}
    inputs = {name: value for name, value in case.inputs.items() if name in kept}
    candidate = with_model(case, model, inputs)
    if candidate.model != load(case).SerializeToString():
        yield candidate
