"""Graphs as the node search sees them, and how a set of their nodes is cut out: main graph, bodies, functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TypeProto, helper, numpy_helper, shape_inference

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from fuzz.operators.inference import infer_shapes
from fuzz.wire import Value
from triage.nodesearch import Kept
from triage.parts import parts
from triage.patterns import Wiring
from triage.submodel import Part, all_nodes, load, reads, rename, replace_items, with_model


@dataclass(frozen=True)
class Place:
    """A list of nodes in a model: `find` gives it in any copy of the model, `cut` a case with some of its nodes."""

    find: Callable[[onnx.ModelProto], Part]
    cut: Callable[[Case, Kept, Mapping[str, Value]], list[Case]]

    def size(self, case: Case) -> int:
        """How many nodes it has in a case; none where it is gone."""
        try:
            return len(self.find(load(case)).node)
        except IndexError:
            return 0


def wiring(part: Part) -> Wiring:
    """Operators, edges and the readers of each tensor of one list of nodes."""
    makers = {name: at for at, node in enumerate(part.node) for name in node.output if name}
    readers: dict[str, list[int]] = {}
    for at, node in enumerate(part.node):
        for name in sorted(reads(node)):
            readers.setdefault(name, []).append(at)
    edges = [(makers[name], at) for name, all_ in readers.items() if name in makers for at in all_]
    operators = tuple(f"{node.domain}.{node.op_type}" if node.domain else node.op_type for node in part.node)
    groups = tuple(tuple(all_) for all_ in readers.values() if len(all_) > 1)
    composite = [at for at, node in enumerate(part.node) if node.domain not in ("", "ai.onnx") or any(bodies(node))]
    return Wiring(operators, tuple(sorted(set(edges))), groups, tuple(composite))


MAIN = Place(lambda model: model.graph, lambda case, kept, values: parts(case, kept, values))


def inner_places(case: Case) -> list[Place]:
    """Every body and every function that is called with more than one node, outer bodies first."""
    model = load(case)
    called = _called(model)
    found = [_body(at) for at, body in enumerate(_bodies(model)) if len(body.node) > 1]
    found += [
        _function(at)
        for at, function in enumerate(model.functions)
        if len(function.node) > 1 and (function.domain, function.name) in called
    ]
    return found


def _called(model: onnx.ModelProto) -> set[tuple[str, str]]:
    """The functions that the main graph calls, by whatever others."""
    functions = {(each.domain, each.name): each for each in model.functions}
    found: set[tuple[str, str]] = set()
    waiting: list[Part] = [model.graph]
    while waiting:
        for node in walk(waiting.pop()):
            key = (node.domain, node.op_type)
            if key in functions and key not in found:
                found.add(key)
                waiting.append(functions[key])
    return found


def _bodies(model: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    for node in all_nodes(model):
        yield from bodies(node)


def _body(at: int) -> Place:
    return Place(lambda model: list(_bodies(model))[at], lambda case, kept, values: _cut(case, _body(at), kept))


def _function(at: int) -> Place:
    return Place(lambda model: model.functions[at], lambda case, kept, values: _cut(case, _function(at), kept))


def _cut(case: Case, place: Place, kept: Collection[int]) -> list[Case]:
    """The case with only the nodes `kept` in a body or function.

    What read a dropped node's result reads what the dropped one read, if the types agree as far as they are
    known; else a constant of that type.
    """
    found: dict[str, Case] = {}
    for prefer_own in (True, False):
        model = load(case)
        part = place.find(model)
        types = _types(load(case), place)
        if _without(part, set(kept), types, prefer_own):
            candidate = with_model(case, model)
            found.setdefault(candidate.id, candidate)
    return list(found.values())


def _without(part: Part, kept: Collection[int], types: Mapping[str, TypeProto], prefer_own: bool) -> bool:
    """Drop nodes in place; false when a result that is still wanted cannot be replaced."""
    nodes, inside = list(part.node), set(kept)
    own = {name for at in inside for name in nodes[at].output if name}
    results = [info if isinstance(info, str) else info.name for info in part.output]
    detours = _detours(nodes, inside, own if prefer_own else None, types)
    constants: dict[str, onnx.NodeProto] = {}
    wanted = set(results).union(*(reads(nodes[at]) for at in inside))
    for at, node in enumerate(nodes):
        for name in node.output if at not in inside else ():
            if name in wanted and name not in detours:
                made = constant(name, types.get(name))
                if made is None:
                    return False
                constants[name] = made
    kept_nodes = [*constants.values(), *(nodes[at] for at in sorted(inside))]
    copies = _bring_out(kept_nodes, results, detours, own)
    replace_items(part.node, [*kept_nodes, *copies])
    carrier = helper.make_model(helper.make_graph([], "carrier", [], []))
    replace_items(carrier.graph.node, list(part.node))
    rename(carrier, {name: source for name, source in detours.items() if name not in results})
    replace_items(part.node, list(carrier.graph.node))
    return True


def _bring_out(
    nodes: Sequence[onnx.NodeProto], results: Sequence[str], detours: Mapping[str, str], own: Collection[str]
) -> list[onnx.NodeProto]:
    """Results that dropped nodes made: a kept node's output takes the name, or an Identity copies it."""
    copies, taken = [], dict[str, str]()
    for name in results:
        source = detours.get(name)
        if source is None:
            continue
        if source in own and source not in results and source not in taken:
            taken[source] = name
        else:
            copies.append(helper.make_node("Identity", [taken.get(source, source)], [name]))
    for node in nodes:
        node.input[:] = [taken.get(name, name) for name in node.input]
        node.output[:] = [taken.get(name, name) for name in node.output]
    return copies


def _detours(
    nodes: Sequence[onnx.NodeProto],
    inside: Collection[int],
    own: Collection[str] | None,
    types: Mapping[str, TypeProto],
) -> dict[str, str]:
    """For results of dropped nodes: the value that takes their place, of a kept node if `own` says which those are.

    Of several one that no kept node reads: nothing else would keep alive what makes it.
    """
    found: dict[str, str] = {}
    read = set[str]().union(*(reads(nodes[at]) for at in inside))
    for at, node in enumerate(nodes):
        if at in inside:
            continue
        sources = [found.get(name, name) for name in node.input if name]
        for name in node.output:
            fitting = [s for s in sources if _may_replace(types.get(s), types.get(name))]
            preferred = [s for s in fitting if own is None or s in own] or fitting
            if name and preferred:
                found[name] = next((source for source in preferred if source not in read), preferred[0])
    return found


def _may_replace(one: TypeProto | None, other: TypeProto | None) -> bool:
    if one is None or other is None:
        return True  # nothing is known inside a function; the reference decides
    return one.tensor_type.elem_type == other.tensor_type.elem_type


def _types(model: onnx.ModelProto, place: Place) -> dict[str, TypeProto]:
    """What shape inference knows of the values of a place."""
    try:
        model = infer_shapes(model)
    except (shape_inference.InferenceError, RuntimeError):
        return {}
    part = place.find(model)
    if isinstance(part, onnx.FunctionProto):
        return {}
    graphs = [model.graph, part]
    infos = [info for graph in graphs for group in (graph.input, graph.output, graph.value_info) for info in group]
    held = [tensor for graph in graphs for tensor in graph.initializer]
    constants = {one.name: helper.make_tensor_type_proto(one.data_type, list(one.dims)) for one in held}
    return constants | {info.name: info.type for info in infos}


def constant(name: str, kind: TypeProto | None) -> onnx.NodeProto | None:
    """A Constant of ones of a known type and shape."""
    if kind is None or not kind.HasField("tensor_type"):
        return None
    dims = kind.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") for dim in dims) or kind.tensor_type.elem_type == onnx.TensorProto.STRING:
        return None
    value = np.ones([dim.dim_value for dim in dims], helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type))
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))
