"""Graphs, nodes and functions as the statements that a person would build them with."""

from __future__ import annotations

import inspect
import keyword
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import onnx
from onnx import AttributeProto, helper

from fuzz.wire import Value
from triage.construct_values import (
    ELEMENT,
    Inexpressible,
    data_type,
    declared_by,
    declared_outputs,
    enum_name,
    given,
    only,
    opsets,
    sparse_expr,
    strings,
    tensors,
    value_info,
)
from triage.layout import Expr, call, listing, named, one_line, quote, render
from triage.schemas import TYPE_ATTRIBUTES

#: Arguments of a node that are no longer than this stand beside each other.
_LONGEST_ITEM = 80


class Builder:
    """Collects the statements that build one model.

    `inputs` are the values that the code around it calls `inputs`: where they have the very types that
    the graph declares, the declarations refer to them.
    """

    def __init__(self, inputs: Mapping[str, Value] | None = None) -> None:
        self.inputs = dict(inputs or {})
        self.lines: list[str] = []
        self.taken: Counter[str] = Counter()

    def assign(self, base: str, expr: Expr) -> str:
        """Add the statement ``base = expr``; returns the name, numbered when it is taken."""
        self.taken[base] += 1
        name = base if self.taken[base] == 1 else f"{base}_{self.taken[base]}"
        self.lines += render(named(f"{name} = ", expr))
        return name

    def model(self, model: onnx.ModelProto) -> list[str]:
        """The statements that end in ``model = ``. Raises Inexpressible where `onnx.helper` lacks words."""
        only(model, "ir_version", "opset_import", "graph", "functions")
        if not (model.HasField("ir_version") and model.HasField("graph")):
            raise Inexpressible("ModelProto")
        extra: list[Expr] = []
        if model.functions:
            extra.append(named("functions=", listing([self.function(one) for one in model.functions])))
        nodes = self.nodes(model.graph.node)
        if len(nodes) == 1:
            listed: Expr = listing([self.assign("node", nodes[0])])
        else:
            listed = self.assign("nodes", listing(nodes))
        graph = self.assign("graph", self.graph(model.graph, listed, declared_by(model.graph, self.inputs)))
        imports = named("opset_imports=", opsets(model.opset_import))
        self.assign("model", call("helper.make_model", graph, imports, f"ir_version={model.ir_version}", *extra))
        return self.lines

    def function(self, function: onnx.FunctionProto) -> Expr:
        """A call of `make_function`."""
        only(
            function,
            *("domain", "name", "input", "output", "node", "opset_import"),
            *("attribute", "attribute_proto", "overload", "value_info"),
        )
        optional = {
            "attributes": strings(function.attribute),
            "attribute_protos": listing([self.attribute(one) for one in function.attribute_proto]),
            "value_info": listing([value_info(info) for info in function.value_info]),
        }
        overload = [f"overload={quote(function.overload)}"] if function.overload else []
        return call(
            "helper.make_function",
            quote(function.domain),
            quote(function.name),
            strings(function.input),
            strings(function.output),
            listing(self.nodes(function.node)),
            named("opset_imports=", opsets(function.opset_import)),
            *given(optional),
            *overload,
        )

    def graph(self, graph: onnx.GraphProto, nodes: Expr, inputs: Expr | None = None) -> Expr:
        """A call of `make_graph`; `inputs` takes the place of the declarations one by one."""
        only(graph, "node", "name", "input", "output", "initializer", "sparse_initializer", "value_info")
        optional = {
            "initializer": tensors(graph.initializer),
            "sparse_initializer": listing([sparse_expr(tensor) for tensor in graph.sparse_initializer]),
            "value_info": listing([value_info(info) for info in graph.value_info]),
        }
        start: list[Expr] = [nodes, quote(graph.name)]
        if len(one_line(nodes)) <= len("[nodes_10]"):  # a variable: the name goes on its line
            start = [f"{one_line(nodes)}, {quote(graph.name)}"]
        return call(
            "helper.make_graph",
            *start,
            named("inputs=", inputs or listing([value_info(info) for info in graph.input])),
            named("outputs=", declared_outputs(graph, one_line(nodes))),
            *given(optional),
        )

    def nodes(self, nodes: Iterable[onnx.NodeProto]) -> list[Expr]:
        """Calls of `make_node`."""
        return [self.node(node) for node in nodes]

    def node(self, node: onnx.NodeProto) -> Expr:
        """A call of `make_node`, or the variable of a node that needs more than one statement."""
        only(node, "input", "output", "name", "op_type", "domain", "overload", "attribute")
        items: list[Expr] = [quote(node.op_type), strings(node.input), strings(node.output)]
        items += [
            f"{field}={quote(getattr(node, field))}" for field in ("name", "domain", "overload") if getattr(node, field)
        ]
        apart: list[Expr] = []
        seen: set[str] = set()
        for attribute in node.attribute:
            if attribute.name in seen or not _is_keyword_argument(attribute):
                apart.append(self.attribute(attribute))
            else:
                items.append(named(f"{attribute.name}=", self.attribute_value(attribute)))
            seen.add(attribute.name)
        short = all(len(one_line(item)) <= _LONGEST_ITEM for item in items)
        expr = replace(call("helper.make_node", *items), fill=short)
        if not apart:
            return expr
        variable = self.assign("special_node", expr)
        for one in apart:
            self.lines += render(call(f"{variable}.attribute.append", one))
        return variable

    def attribute(self, attribute: onnx.AttributeProto) -> Expr:
        """An AttributeProto by itself, for what `make_node` takes no keyword for."""
        kind = enum_name("AttributeProto", AttributeProto.AttributeType, attribute.type)
        if attribute.ref_attr_name:
            only(attribute, "name", "type", "ref_attr_name")
            other = attribute.ref_attr_name != attribute.name
            referred = [f"ref_attr_name={quote(attribute.ref_attr_name)}"] if other else []
            return call("helper.make_attribute_ref", quote(attribute.name), kind, *referred)
        value = self.attribute_value(attribute)
        return call("helper.make_attribute", quote(attribute.name), value, f"attr_type={kind}")

    def attribute_value(self, attribute: onnx.AttributeProto) -> Expr:
        """The value of a keyword argument of `make_node`."""
        if attribute.type == AttributeProto.INT and attribute.name in TYPE_ATTRIBUTES:
            only(attribute, "name", "type", "i")
            return data_type(attribute.i)
        if attribute.type in _SINGLE:
            field = _SINGLE[attribute.type]
            only(attribute, "name", "type", field)
            if not attribute.HasField(field):
                raise Inexpressible(attribute.name)
            return self.element(field, attribute, getattr(attribute, field))
        if attribute.type in _REPEATED:
            field, element = _REPEATED[attribute.type]
            only(attribute, "name", "type", field)
            values = [self.element(element, attribute, value) for value in getattr(attribute, field)]
            return listing(values, fill=element in "fi")
        raise Inexpressible(attribute.name)

    def element(self, field: str, attribute: onnx.AttributeProto, value: Any) -> Expr:
        """One value of an attribute; a graph becomes a statement of its own."""
        if field == "g":
            base = attribute.name if attribute.name.isidentifier() and attribute.name.isascii() else "body"
            return self.assign(f"{base}_graph", self.graph(value, listing(self.nodes(value.node))))
        return ELEMENT[field](value)


_SINGLE: dict[int, str] = {
    AttributeProto.FLOAT: "f",
    AttributeProto.INT: "i",
    AttributeProto.STRING: "s",
    AttributeProto.TENSOR: "t",
    AttributeProto.GRAPH: "g",
    AttributeProto.SPARSE_TENSOR: "sparse_tensor",
    AttributeProto.TYPE_PROTO: "tp",
}
_REPEATED: dict[int, tuple[str, str]] = {
    AttributeProto.FLOATS: ("floats", "f"),
    AttributeProto.INTS: ("ints", "i"),
    AttributeProto.STRINGS: ("strings", "s"),
    AttributeProto.TENSORS: ("tensors", "t"),
    AttributeProto.GRAPHS: ("graphs", "g"),
    AttributeProto.SPARSE_TENSORS: ("sparse_tensors", "sparse_tensor"),
    AttributeProto.TYPE_PROTOS: ("type_protos", "tp"),
}

_MAKE_NODE_PARAMETERS = frozenset(inspect.signature(helper.make_node).parameters)


def _is_keyword_argument(attribute: onnx.AttributeProto) -> bool:
    """Whether `make_node` can take the attribute as a keyword and infer its type."""
    name = attribute.name
    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    if not plain or name in _MAKE_NODE_PARAMETERS or attribute.ref_attr_name:
        return False
    return attribute.type not in _REPEATED or bool(getattr(attribute, _REPEATED[attribute.type][0]))
