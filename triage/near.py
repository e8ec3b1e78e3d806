"""Variants of an ONNX case that differ in a single thing: where a passing neighbour is looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import AttributeProto, helper

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes import dtypes
from triage.submodel import (
    add_initializer,
    all_nodes,
    initializer_names,
    load,
    open_shapes,
    replace_items,
    tensors,
    value_info,
    with_model,
    with_tensors,
)
from triage.wiring import MAIN, inner_places

#: The number type that is tried in the place of another.
_KIN = {
    "float32": "float64",
    "float64": "float32",
    "float16": "float32",
    "int64": "int32",
    "int32": "int64",
    "int8": "int32",
    "uint8": "int32",
    "bool": "float32",
}


def without_a_node(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without each node of the main graph, in every way to cut it out; then of bodies and functions."""
    for place in (MAIN, *inner_places(case)):
        count = len(place.find(load(case)).node)
        for gone in range(count if count > 1 else 0):
            yield from place.cut(case, frozenset(range(count)) - {gone}, values)


def other_attributes(case: Case) -> Iterator[Case]:
    """Each attribute left out; integers one up and one down."""
    for at, node in enumerate(load(case).graph.node):
        for attribute in node.attribute:
            for value in _others(attribute):
                model = load(case)
                open_shapes(model)
                changed = model.graph.node[at]
                kept = [a for a in changed.attribute if a.name != attribute.name]
                del changed.attribute[:]
                changed.attribute.extend([*kept, *([value] if value is not None else [])])
                yield with_model(case, model)


def _others(attribute: AttributeProto) -> Iterator[AttributeProto | None]:
    """Left out, and integers one up, one down."""
    yield None
    if attribute.type == AttributeProto.INT:
        for value in (attribute.i - 1, attribute.i + 1):
            yield helper.make_attribute(attribute.name, value)


def given_otherwise(case: Case) -> Iterator[Case]:
    """An input as a constant of the same value, a constant as an input."""
    constants = initializer_names(load(case).graph)
    for name, array in tensors(case, load(case)).items():
        model = load(case)
        inputs = dict(case.inputs)
        if name in constants:
            replace_items(model.graph.initializer, [t for t in model.graph.initializer if t.name != name])
            info = value_info(name, array)
            model.graph.input.extend([info] if info and name not in {i.name for i in model.graph.input} else [])
            inputs[name] = array
        else:
            replace_items(model.graph.input, [info for info in model.graph.input if info.name != name])
            add_initializer(model, name, array)
            del inputs[name]
        yield with_model(case, model, inputs)


def other_dtypes(case: Case) -> Iterator[Case]:
    """Every number type of the inputs and constants, wherever it stands, as its nearest kin."""
    kinds = {array.dtype.name for array in tensors(case, load(case)).values()}
    for name in sorted(kinds & _KIN.keys()):
        changes = {_element_type(name): _element_type(other) for other in [_KIN[name]]}
        yield dtypes.with_element_types(case, changes)


def _element_type(dtype: str) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def other_shapes(case: Case) -> Iterator[Case]:
    """Single axes one longer, of size 1, or of size 2, in all tensors that share the size; values repeat."""
    arrays = tensors(case, load(case))
    for size in sorted({axis for array in arrays.values() for axis in array.shape if axis}):
        for target in (size + 1, 1, 2):
            shapes = {n: tuple(target if axis == size else axis for axis in a.shape) for n, a in arrays.items()}
            changed = {n: np.resize(a, shapes[n]) for n, a in arrays.items() if shapes[n] != a.shape}
            if target != size and len(changed) == 1:
                model = load(case)
                open_shapes(model)
                yield with_tensors(case, model, changed)


def other_values(case: Case) -> Iterator[Case]:
    """Each tensor all ones, all zeros, without its signs, and counted."""
    for name, array in tensors(case, load(case)).items():
        if array.dtype.kind in "fiuc" and array.size:
            others = [np.full_like(array, 1), np.full_like(array, 0)]
            if array.dtype.kind in "fi":
                others += [np.abs(array), (np.arange(array.size).reshape(array.shape) + 1).astype(array.dtype)]
            for other in others:
                yield with_tensors(case, load(case), {name: other})


def other_operator(case: Case) -> Iterator[Case]:
    """An Identity in the place of the only node, or of the only one of a body or function; inner ones first."""
    if len(load(case).graph.node) > 1:
        return
    for at in reversed(range(len(all_nodes(load(case))))):
        model = load(case)
        node = all_nodes(model)[at]
        if not node.input or not node.output:
            continue
        if at == 0:
            _declare_copy(case, model.graph, node)
        node.CopyFrom(helper.make_node("Identity", node.input[:1], node.output[:1]))
        yield with_model(case, model)


def _declare_copy(case: Case, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    """Let the first result of a graph's node have the type of the node's first input, and others be none, in place."""
    copied = value_info(node.output[0], {**tensors(case, load(case)), **case.inputs}.get(node.input[0]))
    others = [info for info in graph.output if info.name not in node.output]
    old = [info for info in graph.output if info.name == node.output[0]]
    replace_items(graph.output, [*([copied] if copied else old), *others])
