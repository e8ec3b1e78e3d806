"""What the faulty passes ask of a graph."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


def readers(graph: Any) -> dict[str, list[Any]]:
    """The nodes that read each tensor, in their order."""
    found: dict[str, list[Any]] = defaultdict(list)
    for node in graph.node:
        for name in dict.fromkeys(node.input):
            found[name].append(node)
    return found


def makers(graph: Any) -> dict[str, Any]:
    """The node that makes each tensor."""
    return {name: node for node in graph.node for name in node.output}


def places(graph: Any) -> dict[str, int]:
    """The place in the order of the node that makes each tensor."""
    return {name: at for at, node in enumerate(graph.node) for name in node.output}


def initializers(graph: Any) -> dict[str, Any]:
    """The constants by name."""
    return {tensor.name: tensor for tensor in graph.initializer}


def reread(node: Any, old: str, new: str) -> None:
    """Let a node read another tensor."""
    node.input[:] = [new if name == old else name for name in node.input]


def insert_before(graph: Any, node: Any, *added: Any) -> None:
    """Put nodes before another one."""
    place = next(at for at, each in enumerate(graph.node) if each.output == node.output)
    for each in reversed(added):
        graph.node.insert(place, each)


def shapes(graph: Any) -> dict[str, list[int]]:
    """The shapes of tensors, as far as shape inference finds them."""
    from onnx import helper, shape_inference

    model = shape_inference.infer_shapes(helper.make_model(graph))
    infos = [*model.graph.value_info, *model.graph.input, *model.graph.output]
    found = {info.name: [each.dim_value for each in info.type.tensor_type.shape.dim] for info in infos}
    return found | {tensor.name: list(tensor.dims) for tensor in graph.initializer}
