"""Bodies unwrapped: the taken branch of an If, one iteration of a Loop, in place of the node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import onnx
from onnx import helper

from fuzz.case import Case
from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.submodel import load, mend, rename, replace_items

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One candidate for every If and Loop of the main graph whose deciding values are recorded."""
    for at, node in enumerate(load(case).graph.node):
        unwrap = _UNWRAP.get(node.op_type) if not node.domain else None
        candidate = unwrap(case, at, values) if unwrap else None
        if candidate:
            yield candidate


def _if(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The nodes of the branch that is taken; their results take the names of the If's outputs."""
    model = load(case)
    node = model.graph.node[at]
    condition = values.get(node.input[0])
    if not isinstance(condition, np.ndarray) or condition.size != 1:
        return None
    branch = _body(node, "then_branch" if condition.item() else "else_branch")
    if branch is None:
        return None
    nodes = _unwrapped(model, branch, f"if{at}_")
    copies = [
        helper.make_node("Identity", [result.name], [name])
        for result, name in zip(branch.output, node.output, strict=False)
        if name
    ]
    _splice(model, at, [*nodes, *copies])
    return mend(case, model, values)


def _loop(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The nodes of the body as in the first iteration; the body's results become graph outputs.

    Whoever reads the Loop's own results gets their recorded values.
    """
    model = load(case)
    node = model.graph.node[at]
    body = _body(node, "body")
    if body is None:
        return None
    nodes = _unwrapped(model, body, f"loop{at}_")
    first: list[Value] = [np.array(0, np.int64), np.array(True), *(values.get(name) for name in node.input[2:])]
    begun = {info.name: value for info, value in zip(body.input, first, strict=False)}
    made = {name for inner in nodes for name in inner.output}
    model.graph.output.extend(info for info in body.output if info.name in made)
    _splice(model, at, nodes)
    return mend(case, model, {**values, **begun})


def _body(node: onnx.NodeProto, name: str) -> onnx.GraphProto | None:
    """A copy of one of the node's bodies."""
    for attribute in node.attribute:
        if attribute.name == name and attribute.HasField("g"):
            copy = onnx.GraphProto()
            copy.CopyFrom(attribute.g)
            return copy
    return None


def _unwrapped(model: onnx.ModelProto, body: onnx.GraphProto, prefix: str) -> list[onnx.NodeProto]:
    """The body's nodes, its own names made unique by `prefix` in place; its constants join the main graph."""
    own = {info.name for info in body.input} | {tensor.name for tensor in body.initializer}
    own |= {name for node in walk(body) for name in node.output if name}
    carrier = helper.make_model(body)
    rename(carrier, {name: prefix + name for name in own})
    body.CopyFrom(carrier.graph)
    for tensor in body.initializer:
        model.graph.initializer.append(tensor)
    return list(body.node)


def _splice(model: onnx.ModelProto, at: int, nodes: list[onnx.NodeProto]) -> None:
    kept = list(model.graph.node)
    replace_items(model.graph.node, [*kept[:at], *nodes, *kept[at + 1 :]])


_UNWRAP: dict[str, Callable[[Case, int, Mapping[str, Value]], Case | None]] = {"If": _if, "Loop": _loop}
