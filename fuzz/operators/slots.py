"""Where graph inputs end up: the operator inputs that demand something of their values.

A graph input is followed through operators that only move, repeat or cast its elements; every
operator input it reaches is a `Slot`, with what is known of the shapes, types and constants around it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from fuzz.operators import graph as onnx_graph
from fuzz.operators.inference import infer_shapes
from fuzz.operators.table import Input, formal_inputs, operator, opsets, schema

Shape = tuple[int, ...]


@dataclass
class Knowledge:
    """What is known of a model's values before it runs. `values` grows as inputs are drawn."""

    shapes: dict[str, Shape]
    dtypes: dict[str, int]  # onnx.TensorProto.DataType
    values: dict[str, np.ndarray]


@dataclass(frozen=True)
class Slot:
    """One operator input that a graph input reaches. `direct` when nothing lies between them."""

    spec: Input
    node: onnx.NodeProto
    opset: int
    actual: dict[str, str]  # formal input or output name -> value name
    known: Knowledge
    direct: bool

    def attribute(self, name: str, default: Any = None) -> Any:
        """The node's attribute, else its schema's default, else `default`."""
        given = onnx_graph.attributes(self.node)
        if name in given:
            return given[name]
        found = schema(self.node, {self.node.domain: self.opset})
        declared = found.attributes.get(name) if found is not None else None
        if declared is None or not declared.default_value.type:
            return default
        return onnx.helper.get_attribute_value(declared.default_value)

    def shape(self, formal: str) -> Shape | None:
        """The shape of one of the node's values by its formal name, None when unknown."""
        return self.known.shapes.get(self.actual.get(formal, ""))

    def value(self, formal: str) -> np.ndarray | None:
        """The value of one of the node's inputs, None when it is not known (yet)."""
        return self.known.values.get(self.actual.get(formal, ""))

    def of(self) -> Shape | None:
        """The shape that the domain refers to."""
        return self.shape(self.spec.of)

    def output(self) -> Shape | None:
        """The shape of the node's first output."""
        return self.known.shapes.get(self.node.output[0]) if self.node.output else None

    def axis(self, rank: int) -> int | None:
        """The axis of `of`, in [0, rank); None when it does not exist."""
        axis = self.spec.axis
        number = self.attribute(axis, 0) if isinstance(axis, str) else axis
        if not isinstance(number, int) or not -rank <= number < rank:
            return None
        return number % rank

    def dimension(self) -> int | None:
        """The size of `of` along the axis, None when unknown."""
        shape = self.of()
        axis = None if shape is None else self.axis(len(shape))
        return None if shape is None or axis is None else shape[axis]


def know(model: onnx.ModelProto) -> Knowledge:
    """Shapes, dtypes and constants of `model`, as far as shape inference finds them."""
    try:
        inferred = infer_shapes(model, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        inferred = model  # an invalid model still has declared types to draw from
    known = Knowledge({}, {}, onnx_graph.constants(model))
    for info in _infos(inferred.graph):
        kind = info.type.tensor_type
        known.dtypes.setdefault(info.name, kind.elem_type)
        dims = kind.shape.dim
        if kind.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
            known.shapes.setdefault(info.name, tuple(dim.dim_value for dim in dims))
    for name, value in known.values.items():
        known.shapes[name] = value.shape
    return known


def _infos(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    for group in (graph.input, graph.value_info, graph.output):
        yield from (info for info in group if info.type.HasField("tensor_type"))
    for node in graph.node:
        for body in onnx_graph.bodies(node):
            yield from _infos(body)


def find_slots(model: onnx.ModelProto, known: Knowledge) -> dict[str, list[Slot]]:
    """The slots of every graph input of `model`, by input name, in the order of the nodes."""
    versions = opsets(model)
    reached: dict[str, set[str]] = {info.name: {info.name} for info in model.graph.input}
    found: dict[str, list[Slot]] = defaultdict(list)
    for node in onnx_graph.walk(model.graph):
        formals = formal_inputs(node, versions)
        actual = _actual(node, formals, versions)
        entry = operator(node.op_type, node.domain)
        for value, formal in zip(node.input, formals, strict=True):
            for source in sorted(reached.get(value, ())):
                opset = versions.get(node.domain, 0)
                spec = entry.input(formal)
                found[source].append(Slot(spec, node, opset, actual, known, value == source))
                if formal in entry.forwards and node.output:
                    reached.setdefault(node.output[0], set()).add(source)
    return found


def _actual(node: onnx.NodeProto, formals: list[str], versions: dict[str, int]) -> dict[str, str]:
    names = {formal: value for formal, value in zip(formals, node.input, strict=True) if formal and value}
    found = schema(node, versions)
    outputs = [] if found is None else [formal.name for formal in found.outputs]
    for formal, value in zip(outputs, node.output, strict=False):
        names.setdefault(formal, value)
    return names
