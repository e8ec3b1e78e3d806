"""What is different between two cases, in words: "axis of Softmax: 0 -> left out"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value, dtype_name
from triage import difference_instance
from triage.submodel import all_nodes, initializer_names, load, reads, tensors

#: Longer values are shortened in the middle.
_LONGEST = 60
_GIVEN = {True: "a constant", False: "an input"}
#: How a phrase begins that tells what follows from other differences.
CONSEQUENCE = "declared type of output"


def differences(before: Case, after: Case, *, named: bool = True) -> list[str]:
    """One phrase for every difference that could matter to a compiler; a change of names or notes is none.

    Unless `named`, tensors are called by the place where they are first read, whatever their names are.
    """
    if before.kind != after.kind:
        return ["another kind of case"]
    found = _onnx(before, after, named) if before.kind == "onnx" else _instance(before, after)
    return list(dict.fromkeys(found))


def _onnx(before: Case, after: Case, named: bool) -> Iterator[str]:
    old, new = load(before), load(after)
    nodes, others = all_nodes(old), all_nodes(new)
    if [node.op_type for node in nodes] != [node.op_type for node in others]:
        yield from _other_nodes(nodes, others)
        if named:
            yield from _by_name({**before.inputs, **tensors(before, old)}, {**after.inputs, **tensors(after, new)})
            yield from _brought_out(old, new)
        return  # nothing else can be told apart from its consequences
    for node, other in zip(nodes, others, strict=True):
        yield from _attributes(node, other)
        yield from _left_out("input", node.op_type, node.input, other.input)
        yield from _left_out("output", node.op_type, node.output, other.output)
    yield from _tensors(_by_place(before, old), _by_place(after, new), named)
    yield from _declared(old, new, named)


def _left_out(what: str, operator: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """How many inputs or outputs a node has now, and which of them are left out: they are no longer interchangeable."""
    had, has = ({at for at, name in enumerate(names) if name} for names in (old, new))
    if len(had) == len(has):
        return
    gone = ", ".join(str(at + 1) for at in sorted(had - has))
    which = f" (without number {gone})" if gone and not has - had else ""
    yield f"{what}s of {operator}: {len(had)} -> {len(has)}{which}"


def _other_nodes(nodes: list[onnx.NodeProto], others: list[onnx.NodeProto]) -> Iterator[str]:
    had, has = (Counter(node.op_type for node in each) for each in (nodes, others))
    for name in had - has:
        yield f"without {name}" + (f" ({had[name]} -> {has[name]} times)" if has[name] else "")
    for name in has - had:
        yield f"with {name}"
    if had == has:
        yield "nodes in another order"


def _by_name(old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterator[str]:
    """The tensors of one name that have other values; of other nodes nothing else tells which are the same."""
    for name in sorted(old.keys() & new.keys()):
        one, other = old[name], new[name]
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.tobytes() != other.tobytes():
            yield f"values of {name}: {_short(one.tolist())} -> {_short(other.tolist())}"


def _brought_out(old: onnx.ModelProto, new: onnx.ModelProto) -> Iterator[str]:
    """The results that nobody had read, and that are outputs now."""
    read = {info.name for info in old.graph.output}.union(*(reads(node) for node in old.graph.node))
    idle = {name for node in old.graph.node for name in node.output} - read
    yield from (f"{info.name} is an output" for info in new.graph.output if info.name in idle)


def _attributes(node: onnx.NodeProto, other: onnx.NodeProto) -> Iterator[str]:
    old, new = ({a.name: _shown_attribute(a) for a in each.attribute} for each in (node, other))
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name} of {node.op_type}: {old.get(name, 'not given')} -> {new.get(name, 'left out')}"


def _shown_attribute(attribute: onnx.AttributeProto) -> str:
    if attribute.HasField("g") or attribute.graphs:
        return "a graph"
    if attribute.ref_attr_name:
        return f"the caller's {attribute.ref_attr_name}"
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return _short(numpy_helper.to_array(value).tolist())
    return _short(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)


@dataclass(frozen=True)
class _Placed:
    """A tensor that is given: what people call it, its value, and whether the model itself holds it."""

    name: str
    value: Value
    constant: bool


def _by_place(case: Case, model: onnx.ModelProto) -> dict[str, _Placed]:
    """Input and constant tensors by the place where they are first read, so that names do not matter."""
    values: dict[str, Value] = {**case.inputs, **tensors(case, model)}
    constants = initializer_names(model.graph)
    places: dict[str, _Placed] = {}
    for at, node in enumerate(walk(model.graph)):
        for position, name in enumerate(node.input):
            if name in values:
                places[f"{at} {position}"] = _Placed(name, values.pop(name), name in constants)
    return places


def _tensors(old: Mapping[str, _Placed], new: Mapping[str, _Placed], named: bool) -> Iterator[str]:
    for place in sorted(old.keys() & new.keys()):
        name, one, other = old[place].name if named else place, old[place].value, new[place].value
        if old[place].constant != new[place].constant:
            yield f"{name}: {_GIVEN[old[place].constant]} -> {_GIVEN[new[place].constant]}"
        if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
            if isinstance(one, list) and isinstance(other, list) and len(one) != len(other):
                yield f"length of the sequence {name}: {len(one)} -> {len(other)}"
        elif one.dtype != other.dtype:
            yield f"dtype of {name}: {dtype_name(one)} -> {dtype_name(other)}"
        elif one.shape != other.shape:
            yield f"shape of {name}: {list(one.shape)} -> {list(other.shape)}"
            if not _shares_values(one, other):
                yield f"values of {name}: {_short(one.tolist())} -> {_short(other.tolist())}"
        elif not np.array_equal(one, other) and one.tobytes() != other.tobytes():
            yield f"values of {name}: {_short(one.tolist())} -> {_short(other.tolist())}"


def _shares_values(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the values of the smaller are among those of the larger, so that nothing but the shape differs."""
    found = [
        set(array.ravel()) if array.dtype == object else {i.tobytes() for i in array.ravel()} for array in (one, other)
    ]
    fewer, more = sorted(found, key=len)
    return fewer <= more


def _declared(old: onnx.ModelProto, new: onnx.ModelProto, named: bool) -> Iterator[str]:
    if len(old.graph.output) != len(new.graph.output):
        yield f"graph outputs: {len(old.graph.output)} -> {len(new.graph.output)}"
    unread = [len(model.graph.input) - len(_read_inputs(model)) for model in (old, new)]
    if unread[0] != unread[1]:
        yield f"inputs that nothing reads: {unread[0]} -> {unread[1]}"
    versions = [{entry.domain: entry.version for entry in model.opset_import} for model in (old, new)]
    if versions[0].get("") != versions[1].get(""):
        yield f"opset: {versions[0].get('')} -> {versions[1].get('')}"
    for at, (one, other) in enumerate(zip(old.graph.output, new.graph.output, strict=False)):
        if one.type != other.type:
            yield f"{CONSEQUENCE} {one.name if named else at}"


def _read_inputs(model: onnx.ModelProto) -> list[str]:
    read = set[str]().union(*(reads(node) for node in model.graph.node))
    return [info.name for info in model.graph.input if info.name in read]


def _instance(before: Case, after: Case) -> Iterator[str]:
    for what, old, new in difference_instance.changes(before.model, after.model):
        yield f"{what}: {'not given' if old is None else _short(old)} -> {'left out' if new is None else _short(new)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2 - 2]} ... {text[-_LONGEST // 2 + 3 :]}"
