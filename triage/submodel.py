"""Surgery on ONNX cases: cutting a part out of a model so that it still runs on its own.

A tensor that the cut leaves without a producer is replaced by its recorded value: an initializer where
the original computed it from constants alone (compilers treat constants differently), else a graph input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from onnx import TypeProto, ValueInfoProto, helper, numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import all_bodies, bodies, walk
from fuzz.wire import Value

#: What has a list of nodes.
Part = onnx.GraphProto | onnx.FunctionProto
#: Before this IR version every initializer had to be a graph input as well.
FIRST_IR_WITH_CONSTANTS = 4


def load(case: Case) -> onnx.ModelProto:
    """The model of an ONNX case. Raises google.protobuf.message.DecodeError for damaged bytes."""
    return onnx.load_model_from_string(case.model)


def with_model(case: Case, model: onnx.ModelProto, inputs: Mapping[str, Value] | None = None) -> Case:
    """`case` with another model and, if given, other inputs; what its source test expected no longer holds."""
    given = case.inputs if inputs is None else inputs
    return replace(case, model=model.SerializeToString(), inputs=dict(given), expected=None)


def well_formed(case: Case) -> bool:
    """Whether onnx.checker takes the model of an ONNX case; it knows no types of operators from elsewhere."""
    if case.kind != "onnx":
        return False
    try:
        onnx.checker.check_model(case.model)
    except (onnx.checker.ValidationError, ValueError):
        return False
    return True


# ---------------------------------------------------------------- names


def reads(node: onnx.NodeProto) -> set[str]:
    """The names that a node reads, those that its bodies take from the outer scope included."""
    names = {name for name in node.input if name}
    for body in bodies(node):
        names |= free_names(body)
    return names


def all_nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """The nodes of the main graph, of its functions, and of all bodies in either, outer ones first."""
    return [node for part in (model.graph, *model.functions) for node in walk(part)]


def free_names(body: onnx.GraphProto) -> set[str]:
    """The names of the outer scope that a body refers to."""
    own = {info.name for info in body.input} | initializer_names(body) | _made_by(body.node)
    read = {info.name for info in body.output}.union(*(reads(node) for node in body.node))
    return read - own


def initializer_names(graph: onnx.GraphProto) -> set[str]:
    """Names of the graph's dense and sparse initializers."""
    return {tensor.name for tensor in graph.initializer} | {tensor.values.name for tensor in graph.sparse_initializer}


def _made_by(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in node.output if name}


def rename(model: onnx.ModelProto, names: Mapping[str, str]) -> None:
    """Rename values of the main graph in place, where bodies read them too. ONNX forbids shadowing."""
    graph = model.graph
    for node in walk(graph):
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for inner in [graph, *all_bodies(graph)]:
        for group in (inner.input, inner.output, inner.value_info, inner.initializer):
            for named in group:
                named.name = names.get(named.name, named.name)
    for sparse in graph.sparse_initializer:
        sparse.values.name = names.get(sparse.values.name, sparse.values.name)


def constant_names(model: onnx.ModelProto) -> set[str]:
    """Names of the main graph whose values need no input: initializers, constants, what follows from them."""
    constants = initializer_names(model.graph) - {info.name for info in model.graph.input}
    for node in model.graph.node:
        needed = reads(node)
        if node.op_type == "Constant" or (needed and needed <= constants):
            constants |= {name for name in node.output if name}
    return constants


# ---------------------------------------------------------------- types


def value_info(name: str, value: Value) -> ValueInfoProto | None:
    """The declaration of a concrete value, None when the value does not tell its type."""
    kind = _type_of(value)
    return None if kind is None else helper.make_value_info(name, kind)


def _type_of(value: Value) -> TypeProto | None:
    if isinstance(value, np.ndarray):
        return helper.make_tensor_type_proto(_element_type(value), value.shape)
    if isinstance(value, list) and value:
        items = {_element_type(item): item for item in value if isinstance(item, np.ndarray)}
        if len(items) == 1:
            [(element, item)] = items.items()
            return helper.make_sequence_type_proto(helper.make_tensor_type_proto(element, [None] * item.ndim))
    return None


def _element_type(array: np.ndarray) -> int:
    if array.dtype.kind in "OUST":
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def open_shapes(model: onnx.ModelProto) -> None:
    """Forget every declared size but those of the graph inputs, in place; ranks stay, the checker wants them."""
    del model.graph.value_info[:]
    declared = [*model.graph.output]
    for body in all_bodies(model.graph):
        declared += [*body.input, *body.output]
        del body.value_info[:]
    for info in declared:
        for dim in info.type.tensor_type.shape.dim:
            dim.Clear()


# ---------------------------------------------------------------- cutting


def mend(
    case: Case,
    model: onnx.ModelProto,
    values: Mapping[str, Value],
    declared: Mapping[str, ValueInfoProto] = MappingProxyType({}),
) -> Case | None:
    """A case of `model`, which was cut out of the case's own: feed what dangles, drop what is unused now.

    `declared` tells how new inputs are declared where that is not by their values. Returns None when nothing is left
    to compute or a value to feed is not recorded. Graph inputs and initializers that were unused before stay: they
    may be what the failure is about.
    """
    before, graph = load(case), model.graph
    made = _made_by(graph.node)
    there = made | initializer_names(graph) | {info.name for info in graph.input}
    replace_items(graph.output, [info for info in graph.output if info.name in there])
    if not any(info.name in made for info in graph.output):
        return None
    read = list(dict.fromkeys(name for node in graph.node for name in sorted(reads(node))))
    dropped = _read_in(before.graph) - set(read) - {info.name for info in graph.output}
    replace_items(graph.input, [info for info in graph.input if info.name not in dropped])
    replace_items(graph.initializer, [tensor for tensor in graph.initializer if tensor.name not in dropped])
    replace_items(graph.sparse_initializer, [s for s in graph.sparse_initializer if s.values.name not in dropped])
    known = made | initializer_names(graph) | {info.name for info in graph.input}
    replace_items(graph.value_info, [info for info in graph.value_info if info.name in made])
    inputs = {name: value for name, value in case.inputs.items() if name in known}
    constants = constant_names(before)
    for name in read:
        if name in known:
            continue
        value = values.get(name)
        info = declared.get(name) or value_info(name, value)
        if name in constants and isinstance(value, np.ndarray):
            add_initializer(model, name, value)
        elif info is None or value is None:
            return None
        else:
            model.graph.input.append(info)
            inputs[name] = value
    return with_model(case, model, inputs)


def _read_in(graph: onnx.GraphProto) -> set[str]:
    return set[str]().union(*(reads(node) for node in graph.node))


def add_initializer(model: onnx.ModelProto, name: str, value: np.ndarray) -> None:
    """Add a constant to the main graph, in place."""
    model.graph.initializer.append(numpy_helper.from_array(value, name))
    model.ir_version = max(model.ir_version, FIRST_IR_WITH_CONSTANTS)


def replace_items(repeated: Any, items: Iterable[object]) -> None:
    """Set a repeated message field, which protobuf cannot assign, to `items`."""
    copies = list(items)  # they may come from the field itself
    del repeated[:]
    repeated.extend(copies)


# ---------------------------------------------------------------- sizes


def tensors(case: Case, model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The dense arrays that a case carries: graph inputs and initializers of the main graph, by name."""
    found = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    return found | {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def inner_tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """The tensors in attributes of a graph's nodes, those of bodies too, and the constants of bodies."""
    for node in walk(graph):
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors) if attribute.HasField("t") else attribute.tensors
        for body in bodies(node):
            yield from body.initializer


def with_tensors(case: Case, model: onnx.ModelProto, changed: Mapping[str, np.ndarray]) -> Case:
    """The case of `model` with some inputs and initializers replaced; declared input sizes follow."""
    for tensor in model.graph.initializer:
        if tensor.name in changed:
            tensor.CopyFrom(numpy_helper.from_array(changed[tensor.name], tensor.name))
    for info in model.graph.input:
        if info.name in changed:
            _declare_sizes(info, changed[info.name].shape)
    inputs = {name: changed.get(name, value) for name, value in case.inputs.items()}
    return with_model(case, model, inputs)


def _declare_sizes(info: ValueInfoProto, shape: tuple[int, ...]) -> None:
    """Follow the sizes that are declared as numbers; symbolic ones stay open."""
    dims = info.type.tensor_type.shape.dim
    if len(dims) != len(shape):
        replace_items(dims, [onnx.TensorShapeProto.Dimension(dim_value=size) for size in shape])
    for dim, size in zip(dims, shape, strict=True):
        if dim.HasField("dim_value"):
            dim.dim_value = size


def alone(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The case with only the node at the position `at`, fed with the recorded values."""
    model = load(case)
    node = model.graph.node[at]
    infos = [value_info(name, values.get(name)) for name in node.output if name]
    if None in infos:
        return None
    replace_items(model.graph.node, [node])
    replace_items(model.graph.output, [info for info in infos if info is not None])
    return mend(case, model, values)
