"""What no node reads or calls: graph inputs, initializers, functions, opset imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.submodel import Part, load, reads, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One candidate without any of them."""
    model = load(case)
    graph = model.graph
    read = {info.name for info in graph.output}.union(*(reads(node) for node in graph.node))
    for group in (graph.input, graph.initializer):
        replace_items(group, [named for named in group if named.name in read])
    replace_items(graph.sparse_initializer, [s for s in graph.sparse_initializer if s.values.name in read])
    replace_items(model.functions, _called(model))
    parts = [graph, *model.functions]
    used = {node.domain for part in parts for node in walk(part)} | {function.domain for function in model.functions}
    replace_items(model.opset_import, [o for o in model.opset_import if o.domain in used or not o.domain])
    kept = {info.name for info in graph.input}
    inputs = {name: value for name, value in case.inputs.items() if name in kept}
    candidate = with_model(case, model, inputs)
    if candidate.model != load(case).SerializeToString():
        yield candidate


def _called(model: onnx.ModelProto) -> list[onnx.FunctionProto]:
    """The functions that the main graph calls, by way of others too."""
    called: list[onnx.FunctionProto] = []
    waiting: list[Part] = [model.graph]
    while waiting:
        names = {(node.domain, node.op_type) for node in walk(waiting.pop())}
        fresh = [f for f in model.functions if (f.domain, f.name) in names and f not in called]
        called += fresh
        waiting += fresh
    return [function for function in model.functions if function in called]
