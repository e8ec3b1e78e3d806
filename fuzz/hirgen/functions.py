"""Graphs whose parts are functions (section 3.2, algorithm 2): ONNX local functions, called from each other.

Nodes stand in topological order, so nodes that follow each other can always become one function: nothing outside lies
between them. What a function gives is what the rest of the graph reads of it, or what the model gives.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import onnx
from onnx import helper

from fuzz.hirgen.naming import localise
from fuzz.operators.graph import bodies, walk

#: The domain of local functions, and the first IR version that has them.
DOMAIN = "hirgen"
FIRST_IR_VERSION = 8
#: How often a segment ends after a node, how often it becomes a function (ROLL), how often functions are wrapped once
#: more, and how often a constant that only one function reads is part of it.
_ENDS, _WRAPPED, _AGAIN, _INSIDE = 0.4, 0.7, 0.5, 0.5
#: Functions in functions are as deep as it gets.
_DEPTH = 3
#: Operators that the reference evaluator knows by their definition alone, which it cannot tell inside a function.
_OUTSIDE = frozenset({"Gelu", "GroupNormalization"})


@dataclass
class _Naming:
    """Numbers functions."""

    count: int = 0

    def next(self) -> str:
        self.count += 1
        return f"f{self.count}"


def wrap(model: onnx.ModelProto, draw: random.Random) -> onnx.ModelProto:
    """A model that computes the same, with parts of its graph in functions: at least one, unless no node can be."""
    wrapped = onnx.ModelProto()
    wrapped.CopyFrom(model)
    wrapped.ir_version = max(wrapped.ir_version, FIRST_IR_VERSION)
    imports = [*wrapped.opset_import, helper.make_opsetid(DOMAIN, 1)]
    naming = _Naming()
    _level(wrapped, imports, naming, draw)
    for _ in range(_DEPTH - 1):
        if draw.random() < _AGAIN:
            _level(wrapped, imports, naming, draw)
    wrapped.opset_import.append(imports[-1])
    return wrapped


def _level(
    model: onnx.ModelProto, imports: Sequence[onnx.OperatorSetIdProto], naming: _Naming, draw: random.Random
) -> None:
    """Put segments of the main graph into functions, in place; what stands between them stays."""
    nodes = list(model.graph.node)
    segments = _segments([_wrappable(node) for node in nodes], draw)
    placed: list[onnx.NodeProto] = []
    for begin, end, wanted in segments:
        part = nodes[begin:end]
        if not wanted:
            placed += part
            continue
        rest = [*nodes[:begin], *nodes[end:]]
        outputs = _given(part, _read_by(rest) | {info.name for info in model.graph.output})
        constants = _moved(model.graph, part, rest, draw)
        made = {name for node in [*constants, *part] for name in node.output}
        inputs = list(dict.fromkeys(name for node in part for name in reads(node) if name not in made))
        name = naming.next()
        function = helper.make_function(DOMAIN, name, inputs, outputs, [*constants, *part], imports)
        localise(function)
        model.functions.append(function)
        placed.append(helper.make_node(name, inputs, outputs, domain=DOMAIN))
    del model.graph.node[:]
    model.graph.node.extend(placed)


def _segments(wrappable: Sequence[bool], draw: random.Random) -> list[tuple[int, int, bool]]:
    """(first, end, whether it becomes a function) for every segment of the nodes; one at least does, if one can."""
    count = len(wrappable)
    ends = [at for at in range(1, count) if wrappable[at - 1] is not wrappable[at] or draw.random() < _ENDS] + [count]
    found = [(begin, end, draw.random() < _WRAPPED) for begin, end in zip([0, *ends], ends, strict=False)]
    able = [at for at, (begin, _, _) in enumerate(found) if wrappable[begin]]
    chosen = [at for at in able if found[at][2]] or able[-1:]
    return [(begin, end, at in chosen) for at, (begin, end, _) in enumerate(found)]


def _wrappable(node: onnx.NodeProto) -> bool:
    inner = (each for body in bodies(node) for each in walk(body))
    return not any(each.op_type in _OUTSIDE for each in (node, *inner))


def _given(part: Iterable[onnx.NodeProto], wanted: set[str]) -> list[str]:
    """What the rest wants of these nodes, in order."""
    return [name for node in part for name in node.output if name in wanted]


def _moved(
    graph: onnx.GraphProto, part: Sequence[onnx.NodeProto], rest: Sequence[onnx.NodeProto], draw: random.Random
) -> list[onnx.NodeProto]:
    """Constant nodes for some initializers that only these nodes read; the graph loses them."""
    own = _read_by(part) - _read_by(rest) - {info.name for info in [*graph.input, *graph.output]}
    chosen = [each for each in graph.initializer if each.name in own and draw.random() < _INSIDE]
    names = {each.name for each in chosen}
    nodes = []
    for tensor in chosen:
        value = onnx.TensorProto()
        value.CopyFrom(tensor)
        value.ClearField("name")
        nodes.append(helper.make_node("Constant", [], [tensor.name], value=value))
    kept = [each for each in graph.initializer if each.name not in names]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return nodes


def _read_by(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in reads(node)}


def reads(node: onnx.NodeProto) -> list[str]:
    """The names that a node reads, each once and in order, those that its bodies take from around it included."""
    found = dict.fromkeys(name for name in node.input if name)
    for body in bodies(node):
        own = {info.name for info in body.input} | {each.name for each in body.initializer}
        for inner in body.node:
            found.update((name, None) for name in reads(inner) if name not in own)
            own.update(inner.output)
        found.update((info.name, None) for info in body.output if info.name not in own)
    return list(found)
