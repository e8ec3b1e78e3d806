"""Nodes that change nothing: their result is the value that they read, in the same type and shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.operators.graph import bodies
from fuzz.wire import Value
from triage.submodel import load, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without all of them, then without each; the only node of a model stays."""
    results = [node.output[0] for node in load(case).graph.node if _changes_nothing(node, values)]
    for chosen in (results, *([one] for one in results)) if len(results) > 1 else (results,):
        model = load(case)
        for result in chosen:
            _bypass(model.graph, result)
        if len(model.graph.node) < len(load(case).graph.node):
            yield with_model(case, model)


def _changes_nothing(node: onnx.NodeProto, values: Mapping[str, Value]) -> bool:
    if not node.input or len(node.output) != 1:
        return False
    given, made = values.get(node.input[0]), values.get(node.output[0])
    if not isinstance(given, np.ndarray) or not isinstance(made, np.ndarray):
        return False
    return given.dtype == made.dtype and given.shape == made.shape and given.tobytes() == made.tobytes()


def _bypass(graph: onnx.GraphProto, result: str) -> None:
    """Take out the node that makes `result`, in place; whoever reads that reads the node's input instead.

    A result of the model has to be made by a node and to keep its name: then the input, where a node makes it, takes
    that name. Where it cannot, the node stays.
    """
    node = next(node for node in graph.node if node.output[0] == result)
    given, returned = node.input[0], {info.name for info in graph.output}
    made = any(given in other.output for other in graph.node)
    if len(graph.node) == 1 or (result in returned and (given in returned or not made)):
        return
    graph.node.remove(node)
    old, new = (given, result) if result in returned else (result, given)
    _replace(graph, old, new)
    replace_items(graph.value_info, [info for info in graph.value_info if info.name != old])


def _replace(graph: onnx.GraphProto, old: str, new: str) -> None:
    """Call a value otherwise wherever a node makes or reads it, bodies included."""
    for node in graph.node:
        replace_items(node.input, [new if name == old else name for name in node.input])
        replace_items(node.output, [new if name == old else name for name in node.output])
        for body in bodies(node):
            if old not in {info.name for info in body.input}:
                _replace(body, old, new)
                for info in body.output:
                    info.name = new if info.name == old else info.name
