"""What kinds of planted bugs share: reading models, and making the bodies and functions that hold bugs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.block_models import OPSET, OWN, Blocks
from benchmarks.bug_kinds import View
from fuzz.operators.graph import bodies, walk

Model = onnx.ModelProto
Node = onnx.NodeProto


@dataclass(frozen=True)
class Kind:
    """How a bug is planted, which models have it, and the nodes of the smallest model that has."""

    plant: Callable[[Blocks], object]
    fails: Callable[[Model], bool]
    ideal: int


# ---------------------------------------------------------------- reading


def attribute_of(node: Node, name: str, default: Any = None) -> Any:
    found = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    return found.get(name, default)


def pairs(graph: View, first: str, second: str) -> Iterator[tuple[Node, Node]]:
    """Nodes of one operator that feed nodes of another."""
    return ((path[0], path[1]) for path in graph.chains([first, second]))


def constants_of(model: Model) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def shapes_of(model: Model) -> dict[str, tuple[int, ...]]:
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    infos = [*graph.input, *graph.value_info, *graph.output]
    return {info.name: tuple(d.dim_value for d in info.type.tensor_type.shape.dim) for info in infos}


def bodies_of(model: Model, holder: str) -> Iterator[View]:
    """The bodies of the nodes of one operator, wherever they are."""
    for node in walk(model.graph):
        if node.op_type == holder:
            for body in bodies(node):
                yield View(list(body.node), {info.name for info in body.output})


def called(model: Model) -> Iterator[onnx.FunctionProto]:
    """The functions that are called from the main graph, or from another that is."""
    waiting = [node.op_type for node in walk(model.graph) if node.domain == OWN]
    seen = set[str]()
    by_name = {function.name: function for function in model.functions}
    while waiting:
        name = waiting.pop()
        if name not in seen and name in by_name:
            seen.add(name)
            yield by_name[name]
            waiting += [node.op_type for node in walk(by_name[name]) if node.domain == OWN]


# ---------------------------------------------------------------- making


def even_axis(blocks: Blocks) -> str:
    """A tensor with an even last axis."""
    vectors = blocks.pick()
    width = blocks.values[vectors].shape[-1]
    return vectors if width % 2 == 0 else blocks.add("Concat", vectors, vectors, axis=-1)


def branch(prefix: str, result: str, ops: Sequence[str], source: str, shape: Sequence[int]) -> onnx.GraphProto:
    """A body without inputs that applies `ops` to a tensor from outside."""
    names = [source, *(f"{prefix}{at}" for at in range(len(ops) - 1)), result]
    nodes = [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(ops)]
    return helper.make_graph(nodes, prefix, [], [helper.make_tensor_value_info(result, TensorProto.FLOAT, shape)])


def loop_body(blocks: Blocks, ops: Sequence[str], shape: Sequence[int], extra: Sequence[Node] = ()) -> onnx.GraphProto:
    """A body with one carried tensor."""
    name = f"l{len(blocks.nodes)}"
    names = [f"{name}_v", *(f"{name}_{at}" for at in range(len(ops)))]
    nodes = [helper.make_node("Identity", [f"{name}_c"], [f"{name}_d"]), *extra]
    nodes += [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(ops)]
    infos = [
        helper.make_tensor_value_info(f"{name}_i", TensorProto.INT64, []),
        helper.make_tensor_value_info(f"{name}_c", TensorProto.BOOL, []),
        helper.make_tensor_value_info(names[0], TensorProto.FLOAT, shape),
    ]
    results = [
        helper.make_tensor_value_info(f"{name}_d", TensorProto.BOOL, []),
        helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, shape),
    ]
    return helper.make_graph(nodes, name, infos, results)


def add_function(blocks: Blocks, name: str, nodes: Sequence[Node], inputs: Sequence[str] = ("x",)) -> None:
    """A function that makes y."""
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
    blocks.functions.append(helper.make_function(OWN, name, list(inputs), ["y"], nodes, imports))


def chained(ops: Sequence[str], source: str = "x", result: str = "y") -> list[Node]:
    names = [source, *(f"f{at}" for at in range(len(ops) - 1)), result]
    domains = [OWN if op.startswith("Own") else "" for op in ops]
    return [helper.make_node(op, [names[at]], [names[at + 1]], domain=domains[at]) for at, op in enumerate(ops)]
