"""Nodes between two others of which one can read the other directly, in another type than it did.

A search over the nodes bypasses those between two only where the type stays the same, since a result declares its type.
Where a comparison and a Cast lie between, they stay, and with them what must come before a Cast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.operators.inference import infer_shapes
from fuzz.wire import Value
from triage.submodel import load, mend, open_shapes, reads, replace_items

KINDS = ("onnx",)
#: Fewer nodes have none between two; with more, what is between is not yet known to be needed.
_FEWEST, _MANY = 3, 8
#: Each costs a run.
_MOST = 6


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """The ways to lead a node's result past others to one that reads a result of another type, the longest first."""
    graph = load(case).graph
    if not _FEWEST <= len(graph.node) <= _MANY:
        return
    found: dict[str, tuple[int, Case]] = {}
    for at, node in enumerate(graph.node):
        for place, name in enumerate(node.input):
            for source in _above(graph, name):
                if _dtype(values.get(source)) != _dtype(values.get(name)):
                    led = _led(case, values, at, place, source)
                    if led is not None:
                        found.setdefault(led.id, (len(load(led).graph.node), led))
    for _, led in sorted(found.values(), key=lambda one: one[0])[:_MOST]:
        yield led


def _dtype(value: Value) -> str:
    return value.dtype.name if isinstance(value, np.ndarray) else ""


def _above(graph: onnx.GraphProto, name: str) -> list[str]:
    """The results from which a result is computed, by however many nodes."""
    makers = {output: node for node in graph.node for output in node.output if output}
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        maker = makers.get(waiting.pop())
        for read in sorted(reads(maker)) if maker is not None else ():
            if read in makers and read not in found:
                found[read] = None
                waiting.append(read)
    return list(found)


def _led(case: Case, values: Mapping[str, Value], at: int, place: int, source: str) -> Case | None:
    """The case whose node at a position reads `source` at a place; None where no node is left over by that."""
    model = load(case)
    model.graph.node[at].input[place] = source
    wanted = {info.name for info in model.graph.output}
    unread = {name for node in load(case).graph.node for name in node.output} - _read(load(case).graph)
    count = len(model.graph.node)
    while idle := [node for node in model.graph.node if _is_idle(node, unread | wanted | _read(model.graph))]:
        replace_items(model.graph.node, [node for node in model.graph.node if node not in idle])
    if len(model.graph.node) == count:
        return None
    open_shapes(model)
    _declare(model)
    return mend(case, model, values)


def _read(graph: onnx.GraphProto) -> set[str]:
    return set[str]().union(*(reads(node) for node in graph.node))


def _is_idle(node: onnx.NodeProto, read: set[str]) -> bool:
    """Whether nothing of what a node gives is among what is `read`."""
    return read.isdisjoint(node.output)


def _declare(model: onnx.ModelProto) -> None:
    """Declare the outputs as they now are, in place, as far as that can be inferred."""
    loose = onnx.ModelProto()
    loose.CopyFrom(model)
    for info in loose.graph.output:
        info.ClearField("type")
    try:
        found = {info.name: info for info in infer_shapes(loose).graph.output}
    except (onnx.shape_inference.InferenceError, RuntimeError):
        return
    for info in model.graph.output:
        if found[info.name].type.tensor_type.HasField("shape"):
            info.CopyFrom(found[info.name])
