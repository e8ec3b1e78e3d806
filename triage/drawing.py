"""Models as mermaid flowcharts, which GitHub renders inside an issue.

Every text that comes from a model is written with mermaid's numeric character codes, so no name can
end a label, start a mention or carry HTML.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import onnx
from onnx import AttributeProto, TensorProto

#: A drawing with more boxes is no help to anyone.
MOST_BOXES = 60
#: GitHub's mermaid refuses longer texts and more edges.
_MOST_TEXT, _MOST_EDGES = 50_000, 400
_LONGEST_LABEL = 40
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,=×")


def label(text: str) -> str:
    """A quoted mermaid label: one line, shortened, every special character as its code.

    Mermaid refuses an empty label, so an empty text becomes ``unnamed``.
    """
    text = text or "unnamed"
    shown = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return '"' + "".join(c if c in _PLAIN or c == "…" else f"#{ord(c)};" for c in shown) + '"'


def mermaid(model: onnx.ModelProto) -> str:
    """A flowchart of the model's main graph, or "" when it is too large to be read.

    Inputs, initializers and outputs are boxes too. Edges carry dtype and shape where the model
    states them; nothing is inferred, since native inference code may die on a damaged model.
    """
    graph = model.graph
    boxes = len(graph.node) + len(graph.input) + len(graph.output) + len(graph.initializer)
    if boxes > MOST_BOXES:
        return ""
    flows = dict(types(graph))
    sources: dict[str, str] = {}
    lines = ["flowchart TD"]
    initializers = {tensor.name for tensor in graph.initializer}
    for position, info in enumerate(graph.input):
        if info.name not in initializers:
            lines.append(f"    i{position}([{label(info.name)}])")
            sources[info.name] = f"i{position}"
    for position, tensor in enumerate(graph.initializer):
        lines.append(f"    c{position}[({label(tensor.name)})]")
        sources[tensor.name] = f"c{position}"
    for position, node in enumerate(graph.node):
        lines.append(f"    n{position}[{label(title(node))}]")
        sources |= {name: f"n{position}" for name in node.output if name}
    for position, info in enumerate(graph.output):
        lines.append(f"    o{position}([{label(info.name)}])")
    edges = list(_edges(graph, sources, flows))
    text = "\n".join(lines + edges)
    return text if len(edges) <= _MOST_EDGES and len(text) <= _MOST_TEXT else ""


def instance_mermaid(instance: bytes) -> str:
    """One box for an operator instance. Raises ValueError when the bytes are not its JSON."""
    api = str(json.loads(instance).get("api", "?"))
    return f'flowchart LR\n    i0(["arguments"]) --> n0[{label(api)}] --> o0(["result"])'


def _edges(graph: onnx.GraphProto, sources: dict[str, str], flows: dict[str, str]) -> Iterator[str]:
    for position, node in enumerate(graph.node):
        for name in dict.fromkeys([*node.input, *reads(node)]):
            if name in sources:
                yield f"    {sources[name]} --{_edge_label(flows.get(name, ''))}> n{position}"
    for position, info in enumerate(graph.output):
        if info.name in sources:
            yield f"    {sources[info.name]} --{_edge_label(flows.get(info.name, ''))}> o{position}"


def _edge_label(text: str) -> str:
    return f" {label(text)} --" if text else ""


def title(node: onnx.NodeProto) -> str:
    """What a node is called: its operator, with a domain that is not ONNX's own."""
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


def reads(node: onnx.NodeProto) -> Iterator[str]:
    """Names from outside that the bodies of If, Loop and Scan read; those they define themselves are among them."""
    for attribute in node.attribute:
        if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            for body in [attribute.g, *attribute.graphs]:
                own = {info.name for info in body.input} | {name for inner in body.node for name in inner.output}
                own |= {tensor.name for tensor in body.initializer}
                for inner in body.node:
                    yield from (name for name in [*inner.input, *reads(inner)] if name not in own)
                yield from (info.name for info in body.output if info.name not in own)


def types(graph: onnx.GraphProto) -> Iterator[tuple[str, str]]:
    """Each tensor that the graph states a type of, with the type in few words."""
    for info in [*graph.value_info, *graph.input, *graph.output]:
        yield info.name, type_text(info.type)
    for tensor in graph.initializer:
        yield tensor.name, _tensor_text(tensor.data_type, map(str, tensor.dims))


def type_text(kind: onnx.TypeProto) -> str:
    """A type in few words: ``float32 2×N``, ``int64 scalar``, ``sequence of float32``, "" if unknown."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(kind, which)
        if not tensor.HasField("shape"):
            return dtype_text(tensor.elem_type)
        return _tensor_text(tensor.elem_type, (_dim(dim) for dim in tensor.shape.dim))
    if which in ("sequence_type", "optional_type"):
        return f"{which.removesuffix('_type')} of {type_text(getattr(kind, which).elem_type)}"
    return which.removesuffix("_type") if which else ""


def _tensor_text(data_type: int, dims: Iterable[str]) -> str:
    return f"{dtype_text(data_type)} {'×'.join(dims) or 'scalar'}"


def _dim(dim: onnx.TensorShapeProto.Dimension) -> str:
    return str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "?"


_DTYPES = {"FLOAT": "float32", "DOUBLE": "float64"}


def dtype_text(number: int) -> str:
    """numpy's name for a tensor type where it has one."""
    if number not in TensorProto.DataType.values():
        return f"type {number}"
    name: str = TensorProto.DataType.Name(number)
    return _DTYPES.get(name, name.lower())
