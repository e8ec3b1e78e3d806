"""Walking ONNX graphs: nodes of bodies and functions, attributes as Python values, constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

#: The attributes of Constant that give numbers directly.
_CONSTANT_DTYPES = {"value_int": "int64", "value_ints": "int64", "value_float": "float32", "value_floats": "float32"}


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The subgraphs of a node (If, Loop, Scan, SequenceMap ...)."""
    return (body for _, body in named_bodies(node))


def named_bodies(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """The subgraphs of a node with the names of the attributes that hold them."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        yield from ((attribute.name, body) for body in attribute.graphs)


def walk(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """Every node of the graph, each before the nodes of its subgraphs."""
    for node in graph.node:
        yield node
        for body in bodies(node):
            yield from walk(body)


def all_bodies(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    """The subgraphs of all nodes, at any depth, outer ones first: a list, so that nodes may go while it is read."""
    return [body for node in walk(graph) for body in bodies(node)]


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """The node's attributes that hold values (not graphs), strings decoded."""
    return {
        attribute.name: _decoded(onnx.helper.get_attribute_value(attribute))
        for attribute in node.attribute
        if not attribute.ref_attr_name and not attribute.HasField("g") and not attribute.graphs
    }


def _decoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return value


def constants(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Initializers and the outputs of tensor Constant nodes of the main graph, by name."""
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in walk(model.graph):
        if node.op_type == "Constant" and node.output:
            value = _constant(attributes(node))
            if value is not None:
                found[node.output[0]] = value
    return found


def _constant(given: dict[str, Any]) -> np.ndarray | None:
    if isinstance(given.get("value"), onnx.TensorProto):
        return numpy_helper.to_array(given["value"])
    for name, dtype in _CONSTANT_DTYPES.items():
        if name in given:
            return np.array(given[name], dtype=dtype)
    return None
