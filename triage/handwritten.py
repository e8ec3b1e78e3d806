"""A model of one node as a person would feed it: data as inputs, a tensor for each place, telling names. Pure.

Generators and reducers give one tensor to two places, make everything a constant and call it ``t4``. Each function
here gives the case without one of these, or None where there is nothing to change; whether it still fails is asked
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx
from onnx import helper, numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from triage.schemas import formal_inputs, schema_of
from triage.submodel import add_initializer, all_nodes, free_names, inner_tensors, load, value_info, with_model

#: Names that nobody chose.
_GENERATED = re.compile(r"[A-Za-z]?_?\d+(_\d+)?")


def own_tensors(case: Case) -> Case | None:
    """A tensor of its own, with the same numbers, for every place where the node reads one that it has read before."""
    node, found = _only(load(case)), case
    if node is None:
        return None
    for name in dict.fromkeys(filter(None, node.input)):
        again = [(0, at) for at, read in enumerate(node.input) if read == name][1:]
        found = (apart(found, name, again) if again else None) or found
    return found if found is not case else None


def apart(case: Case, name: str, places: Sequence[tuple[int, int]]) -> Case | None:
    """The case with copies of the tensor in these places (of a node, by their numbers); None where it is computed."""
    model, inputs = load(case), dict(case.inputs)
    nodes = all_nodes(model)
    taken = names_of(model)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for at, place in places:
        other = free_name(f"{name}_{place or at}", taken)
        info = value_info(other, inputs[name]) if name in inputs else None
        if info is not None:
            model.graph.input.append(info)
            inputs[other] = inputs[name]
        elif name in constants and name not in inputs:
            add_initializer(model, other, numpy_helper.to_array(constants[name]))
        else:
            return None
        nodes[at].input[place] = other
    return with_model(case, model, inputs)


def outer_apart(case: Case) -> Case | None:
    """A tensor of its own, with the same numbers, for what bodies read from outside and the only node reads as well."""
    model, inputs = load(case), dict(case.inputs)
    node = model.graph.node[0] if len(model.graph.node) == 1 and not model.functions else None
    taken = names_of(model)
    read = set().union(*(free_names(body) for body in bodies(node))) if node else set[str]()
    for name in sorted(read.intersection(node.input if node else ()) & set(inputs)):
        info = value_info(other := free_name(f"{name}_outer", taken), inputs[name])
        if info is None:
            return None
        model.graph.input.append(info)
        inputs[other] = inputs[name]
        for body in bodies(node) if node else ():
            _read_as(body, name, other)
    return with_model(case, model, inputs) if len(inputs) > len(case.inputs) else None


def _read_as(body: onnx.GraphProto, name: str, other: str) -> None:
    """Let a body, and those in it, read another value of the outer model, in place."""
    for inner in walk(body):
        inner.input[:] = [other if read == name else read for read in inner.input]
    for info in body.output:
        info.name = other if info.name == name else info.name


def data_fed(case: Case) -> Case | None:
    """What the node reads first as an input, where it is a constant."""
    model = load(case)
    node = _only(model)
    tensor = next((one for one in model.graph.initializer if node and node.input and one.name == node.input[0]), None)
    info = value_info(tensor.name, numpy_helper.to_array(tensor)) if tensor else None
    if tensor is None or info is None or tensor.name in case.inputs:
        return None
    value = numpy_helper.to_array(tensor)
    model.graph.initializer.remove(tensor)
    model.graph.input.insert(0, info)
    return with_model(case, model, {tensor.name: value, **case.inputs})


def spelled(case: Case) -> Case | None:
    """Constants in bodies as numbers where they are raw bytes: the textual syntax of long bodies holds numbers."""
    model = load(case)
    raw = [tensor for tensor in inner_tensors(model.graph) if tensor.HasField("raw_data")] if _bodies(model) else []
    for tensor in raw:
        array = numpy_helper.to_array(tensor)
        tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.ravel()))
    return with_model(case, model) if raw else None


def named(case: Case) -> Case | None:
    """The specification's names in the place of generated ones."""
    model = load(case)
    node = _only(model)
    schema = schema_of(node, model) if node else None
    if node is None or schema is None:
        return None
    taken = names_of(model)
    formals = [(name, formal.name) for name, formal in zip(node.input, formal_inputs(node, model), strict=False)]
    formals += [(name, formal.name) for name, formal in zip(node.output, schema.outputs, strict=False)]
    new: dict[str, str] = {}
    for name, formal in formals:
        if name and name not in new and _GENERATED.fullmatch(name):
            new[name] = free_name(formal, taken)
    return _renamed(case, model, new) if new else None


def _renamed(case: Case, model: onnx.ModelProto, new: dict[str, str]) -> Case:
    node = model.graph.node[0]
    node.input[:] = [new.get(name, name) for name in node.input]
    node.output[:] = [new.get(name, name) for name in node.output]
    for field in (model.graph.input, model.graph.output, model.graph.initializer, model.graph.value_info):
        for entry in field:
            entry.name = new.get(entry.name, entry.name)
    return with_model(case, model, {new.get(name, name): value for name, value in case.inputs.items()})


def _only(model: onnx.ModelProto) -> onnx.NodeProto | None:
    """The node, where there is but one and nothing inside of it could read a name."""
    if len(model.graph.node) != 1 or model.functions:
        return None
    return None if _bodies(model) else model.graph.node[0]


def _bodies(model: onnx.ModelProto) -> bool:
    return any(True for node in model.graph.node for body in bodies(node))


def names_of(model: onnx.ModelProto) -> set[str]:
    """The names of all tensors of a model, those in bodies too."""
    fields = (model.graph.input, model.graph.output, model.graph.initializer)
    inner = [name for node in all_nodes(model) for name in (*node.input, *node.output)]
    return {entry.name for field in fields for entry in field} | set(inner)


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, or that with the first number behind it with which it is free; it is taken then."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
