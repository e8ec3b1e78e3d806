"""The operators of a case, as a compiler's registry is asked for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx

from fuzz import instance
from fuzz.case import Case, Error
from fuzz.runner import Operator

#: Stands for the operator where a call of one of the model's own functions is at fault.
CALL = "local function"
#: What backends name in an operator's place where a compiler fails before it converts any.
INITIALIZER, GRAPH_INPUT = "initializer", "graph input"
READ_FIRST = (INITIALIZER, GRAPH_INPUT)


def operators(case: Case) -> list[Operator]:
    """(domain, type, opset) of every operator in the case, subgraphs and functions too, each once, in order."""
    if case.kind != "onnx":
        parsed = instance.parse(case.model)
        return [(parsed.library, parsed.api, 0)]
    model = onnx.load_from_string(case.model)
    opsets = {entry.domain or "": entry.version for entry in model.opset_import}
    local = {(function.domain, function.name) for function in model.functions}
    found: dict[Operator, None] = {}
    for node in [*_walk(model.graph.node), *(n for f in model.functions for n in _walk(f.node))]:
        if (node.domain, node.op_type) not in local:
            domain = "" if node.domain == "ai.onnx" else node.domain
            found[domain, node.op_type, opsets.get(domain, 1)] = None
    return list(found)


def suspects(case: Case, error: Error | None) -> list[Operator]:
    """The operators that may be at fault: `CALL` alone where the compiler's words name a function of the model itself.

    What that function computes has nothing to do with a call that is refused; nor have operators with what is read
    before any of them (`READ_FIRST`).
    """
    named = error.operator if error else ""
    if named in READ_FIRST:
        return [("", named, 0)]
    if named and case.kind == "onnx" and any(f.name == named for f in onnx.load_from_string(case.model).functions):
        return [("", CALL, 0)]
    return operators(case)


def of_today(case: Case) -> bool:
    """Whether every operator of an ONNX case has the inputs, outputs and attributes that it has in the newest operator
    set: the reference evaluator knows no other form."""
    return all(_form(*operator) == _form(*operator[:2]) for operator in operators(case))


def _form(domain: str, name: str, opset: int = onnx.defs.onnx_opset_version()) -> tuple[object, ...]:
    try:
        schema = onnx.defs.get_schema(name, opset, domain)
    except onnx.defs.SchemaError:
        return ()
    ports = (tuple(port.name for port in side) for side in (schema.inputs, schema.outputs))
    return (*ports, frozenset(schema.attributes))


def node_count(case: Case) -> int:
    """How many nodes the case's model has, subgraph bodies included; 1 for an operator instance."""
    if case.kind != "onnx":
        return 1
    model = onnx.load_from_string(case.model)
    return sum(1 for _ in _walk(model.graph.node)) + sum(1 for f in model.functions for _ in _walk(f.node))


def value_names(case: Case) -> set[str]:
    """The names of all values, nodes and functions of an ONNX case; an operator instance has none."""
    if case.kind != "onnx":
        return set()
    model = onnx.load_model_from_string(case.model)
    nodes = [*_walk(model.graph.node), *(n for f in model.functions for n in _walk(f.node))]
    found = {name for node in nodes for name in (*node.input, *node.output, node.name) if name}
    return found | {function.name for function in model.functions}


def _walk(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in [attribute.g] if attribute.HasField("g") else list(attribute.graphs):
                yield from _walk(graph.node)
