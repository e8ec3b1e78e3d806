"""What the metrics see of a model: its operators, the edges between them, and what each is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from fuzz.operators.inference import infer_shapes

#: Constant inputs of at most this many elements are parameters (axes, pads, target shapes), larger ones weights.
_FEW = 16
_WHOLE = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
#: Sizes of one tensor; None where a size is not known.
Sizes = tuple[int | None, ...] | None


class UnreadableModel(ValueError):
    """A file that is no ONNX model."""


@dataclass(frozen=True)
class Node:
    """One operation: its type, how many inputs it is given, to which other nodes (by index) its results go, and its
    setting: the shapes of its inputs and its attributes, as one hashable value.

    `flows` are the inputs that are no initializers. `parameters` has for every input its small whole numbers where it
    is an initializer of those, which other formats have as attributes, else None.
    """

    op_type: str
    in_degree: int
    targets: tuple[int, ...]
    setting: tuple[object, ...]
    flows: int = 0
    parameters: tuple[object, ...] = ()


def folder(path: Path) -> Iterator[list[Node]]:
    """The nodes of every ``*.onnx`` file of a folder, by file name. Raises UnreadableModel."""
    for file in sorted(path.glob("*.onnx")):
        try:
            model = onnx.load(file, load_external_data=False)
        except DecodeError as error:
            raise UnreadableModel(f"{file}: is not an ONNX model; take it away") from error
        except OSError as error:
            raise UnreadableModel(f"{file}: cannot be read ({error.strerror}); take it away") from error
        if not model.graph.node:
            raise UnreadableModel(f"{file}: holds no operator; take it away")
        yield _understood(file, model)


def _understood(file: Path, model: onnx.ModelProto) -> list[Node]:
    try:
        return nodes(model)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise UnreadableModel(f"{file}: cannot be understood ({reason}); take it away") from error


def nodes(model: onnx.ModelProto) -> list[Node]:
    """The nodes of the main graph, in the order of the model. An edge is counted once for every input that reads."""
    shapes = _shapes(model)
    constants = {each.name: each for each in model.graph.initializer}
    makers = {name: at for at, node in enumerate(model.graph.node) for name in node.output if name}
    targets: list[list[int]] = [[] for _ in model.graph.node]
    for at, node in enumerate(model.graph.node):
        for name in node.input:
            if name in makers:
                targets[makers[name]].append(at)
    return [
        Node(
            node.op_type,
            sum(1 for name in node.input if name),
            tuple(targets[at]),
            (tuple(shapes.get(name) for name in node.input), _attributes(node)),
            sum(1 for name in node.input if name and name not in constants),
            tuple(_parameter(constants[name]) if name in constants else None for name in node.input),
        )
        for at, node in enumerate(model.graph.node)
    ]


def _parameter(constant: onnx.TensorProto) -> tuple[int, ...] | None:
    """The numbers of a constant that steers a node; None for weights."""
    if constant.data_type not in _WHOLE or len(constant.dims) > 1 or sum(constant.dims) > _FEW:
        return None
    return tuple(numpy_helper.to_array(constant).ravel().tolist())


def _attributes(node: onnx.NodeProto) -> tuple[bytes, ...]:
    return tuple(sorted(attribute.SerializeToString(deterministic=True) for attribute in node.attribute))


def _shapes(model: onnx.ModelProto) -> dict[str, Sizes]:
    graph = infer_shapes(model, data_prop=True).graph
    found: dict[str, Sizes] = {each.name: tuple(each.dims) for each in graph.initializer}
    for info in (*graph.input, *graph.value_info, *graph.output):
        kind = info.type.tensor_type
        if kind.HasField("shape"):
            found[info.name] = tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim)
    return found
