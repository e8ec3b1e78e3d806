"""The ways to keep only some nodes of a model: what the others made is bypassed, or given as it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import onnx
from onnx import TensorProto, helper

from fuzz.case import Case
from fuzz.wire import Value
from triage.fitting import fitted
from triage.inferring import inferred_types
from triage.submodel import (
    initializer_names,
    load,
    mend,
    open_shapes,
    reads,
    rename,
    replace_items,
    value_info,
    with_model,
)

_Alike = Callable[[Value, Value], bool]
#: So many values farther up may take the place of a dropped result, where those that it was made of are of other types.
_MOST_ABOVE = 4
_REAL = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
#: What tensors that nobody recorded are filled with: of both signs, moderate, and exact in every type.
_NUMBERS = (0.5, -1.0, 1.5, 2.0, -0.25)


def parts(case: Case, kept: Collection[int], values: Mapping[str, Value], *, from_inputs: bool = False) -> list[Case]:
    """The ways to keep only the main graph's nodes at the positions `kept`, the likeliest first.

    A kept node that read a dropped one's result is fed from what the dropped one read, if that comes from
    a kept node and has the same dtype (first way) and shape too (second way); else, and in the last way
    always, from the recorded value. Results that nobody reads any more become outputs; of those still read,
    and of those that nobody read before, only what was an output before. What was not recorded, since the
    evaluator does not know an operator, is made up where its type is known and it is a real tensor; after that its
    producers are kept as well. In the last way new inputs have the free sizes that their tensors had.
    With `from_inputs` what comes from the model's inputs may take the place of a dropped result as well.
    """
    inferred = inferred_types(case.model)
    values = {name: value for name, value in values.items() if _possible(value, inferred.get(name))}
    made_up = {name: value for name, info in inferred.items() if (value := _made_up(name, info, values)) is not None}
    found: dict[str, Case] = {}
    for told in ({**made_up, **values}, values) if made_up else (values,):
        for alike in (_same_dtype, _same_type, _never):
            candidate = _part(case, kept, told, inferred, alike, from_inputs=from_inputs)
            if candidate is not None and len(load(candidate).graph.node):
                found.setdefault(candidate.id, candidate)
    symbols = set[str]().union(*map(_symbols, load(case).graph.input))
    symbols |= {"?"} if symbols else set()  # two free sizes that are broadcast make one without a name
    free = {name: info for name, info in inferred.items() if symbols.intersection(_symbols(info))}
    candidate = _part(case, kept, values, inferred, _never, free) if free and found else None
    if candidate is not None:
        found.setdefault(candidate.id, candidate)
    return list(found.values())


def _symbols(info: onnx.ValueInfoProto) -> set[str]:
    """The names of the free sizes of a declared tensor, "?" for one without."""
    return {dim.dim_param or "?" for dim in info.type.tensor_type.shape.dim if not dim.HasField("dim_value")}


def _made_up(name: str, info: onnx.ValueInfoProto, values: Mapping[str, Value]) -> np.ndarray | None:
    """Numbers for a tensor that was not recorded; None where it was, or its type is not known or not real.

    Integers and conditions are not made up: they may be shapes and indices.
    """
    kind = info.type.tensor_type
    if name in values or not kind.HasField("shape") or kind.elem_type not in _REAL:
        return None
    if not all(dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    shape = [dim.dim_value for dim in kind.shape.dim]
    return np.resize(np.array(_NUMBERS), shape).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))


def with_odd_inputs(case: Case) -> Case:
    """The case with real inputs that are neither whole nor of one sign."""
    real = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    odd = {n: np.resize(np.array(_NUMBERS), v.shape).astype(v.dtype) for n, v in real.items() if v.dtype.kind == "f"}
    return replace(case, inputs={**case.inputs, **odd}, expected=None)


def _never(one: Value, other: Value) -> bool:
    return False


def _same_dtype(one: Value, other: Value) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return True
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == other.dtype


def _same_type(one: Value, other: Value) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return (one.dtype, one.shape) == (other.dtype, other.shape)


def _possible(value: Value, info: onnx.ValueInfoProto | None) -> bool:
    """Whether a recorded value is of the kind and shape that it must have: evaluators make mistakes, too."""
    if isinstance(value, list) and info is not None:
        return bool(info.type.HasField("sequence_type"))
    if not isinstance(value, np.ndarray) or info is None or not info.type.tensor_type.HasField("shape"):
        return True
    dims = info.type.tensor_type.shape.dim
    sizes = zip(dims, value.shape, strict=False)
    return len(dims) == value.ndim and all(dim.dim_value == size for dim, size in sizes if dim.HasField("dim_value"))


def _part(
    case: Case,
    kept: Collection[int],
    values: Mapping[str, Value],
    inferred: Mapping[str, onnx.ValueInfoProto],
    alike: _Alike,
    free: Mapping[str, onnx.ValueInfoProto] = MappingProxyType({}),
    *,
    from_inputs: bool = False,
) -> Case | None:
    model = load(case)
    nodes = list(model.graph.node)
    inside = _with_unrecorded(model, set(kept), values)
    wanted = set[str]().union(*(reads(nodes[at]) for at in inside))
    sources = {name for at in inside for name in nodes[at].output if name}
    sources |= set(case.inputs) if from_inputs else set()
    detours = {name: to for name, to in _detours(nodes, inside, values, alike, sources).items() if name in wanted}
    replace_items(model.graph.node, [node for at, node in enumerate(nodes) if at in inside])
    rename(model, detours)
    declared = {info.name: info for info in load(case).graph.output}
    infos = [
        declared.get(name) or _declaration(name, values.get(name), inferred.get(name))
        for name in _results(model.graph, load(case).graph)
    ]
    replace_items(model.graph.output, [info for info in infos if info is not None])
    if detours or free:
        open_shapes(model)
    cut = mend(case, model, values, free)
    turned = any(_shape(values.get(name)) != _shape(values.get(to)) for name, to in detours.items())
    return _with_open_ranks(fitted(cut) or cut) if cut is not None and turned else cut


def _shape(value: Value) -> tuple[int, ...] | None:
    return value.shape if isinstance(value, np.ndarray) else None


def _with_open_ranks(case: Case) -> Case:
    """The case with the ranks of its outputs that follow from the nodes; the checker wants some."""
    model = load(case)
    outputs = list(model.graph.output)
    del model.graph.output[:]
    inferred = inferred_types(model.SerializeToString())
    for info in outputs:
        kind = inferred.get(info.name, info).type.tensor_type
        if kind.HasField("shape"):
            dims = [onnx.TensorShapeProto.Dimension() for _ in kind.shape.dim]
            replace_items(info.type.tensor_type.shape.dim, dims)
    model.graph.output.extend(outputs)
    return with_model(case, model)


def _declaration(name: str, value: Value, known: onnx.ValueInfoProto | None) -> onnx.ValueInfoProto | None:
    """The type of a recorded value, if it is of the kind that is known: evaluators take an optional for a list."""
    found = value_info(name, value)
    if known is None or (found is not None and found.type.WhichOneof("value") == known.type.WhichOneof("value")):
        return found
    return known


def _results(graph: onnx.GraphProto, before: onnx.GraphProto) -> list[str]:
    """The outputs of a graph that was cut out of another: its outputs in their order, and what nobody is left to read.

    What nobody read before either is no output, which could be what a failure is about, unless nothing else is left.
    """
    made = [name for node in graph.node for name in node.output if name]
    declared = [info.name for info in before.output]
    given = {info.name for info in graph.input} | initializer_names(graph)
    read, read_before = (set[str]().union(*map(reads, each.node)) for each in (graph, before))
    outputs = [name for name in declared if name in made]
    left = [name for name in made if name not in declared and name not in read]
    wanted = [*outputs, *(name for name in left if name in read_before)] or left
    return [*wanted, *(name for name in declared if name in given)]


def _with_unrecorded(model: onnx.ModelProto, kept: set[int], values: Mapping[str, Value]) -> set[int]:
    """`kept` and the producers of what it reads that has no recorded value."""
    makers = {name: at for at, node in enumerate(model.graph.node) for name in node.output if name}
    waiting = list(kept)
    while waiting:
        for name in reads(model.graph.node[waiting.pop()]):
            maker = makers.get(name)
            if maker is not None and maker not in kept and name not in values:
                kept.add(maker)
                waiting.append(maker)
    return kept


def _detours(
    nodes: list[onnx.NodeProto],
    inside: Collection[int],
    values: Mapping[str, Value],
    alike: _Alike,
    kept: Collection[str],
) -> dict[str, str]:
    """For results of dropped nodes: which of the values that are `kept` takes their place.

    Of several one that no kept node has read so far: nothing else would keep the path through what makes it.
    """
    found: dict[str, str] = {}
    read: set[str] = set()
    above: dict[str, list[str]] = {}
    for at, node in enumerate(nodes):
        if at in inside:
            read |= {found.get(name, name) for name in reads(node)}
            continue
        direct = [found.get(name, name if name in kept else "") for name in node.input]
        farther = [source for name in node.input for source in above.get(name, [])]
        sources = list(dict.fromkeys([*filter(None, direct), *farther]))
        for name in node.output:
            above[name] = sources[:_MOST_ABOVE]
            fitting = [source for source in sources if alike(values.get(source), values.get(name))]
            if name and fitting:
                found[name] = next((source for source in fitting if source not in read), fitting[0])
    return found
