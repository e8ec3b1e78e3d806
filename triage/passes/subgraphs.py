"""Bodies unwrapped: a branch of an If, one iteration of a Loop or a Scan, in place of the node."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper

from fuzz.case import Case
from fuzz.operators.graph import attributes, bodies, walk
from fuzz.wire import Value
from triage.submodel import Part, all_nodes, load, mend, rename, replace_items, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One for every If, Loop and Scan; then for every branch that is not taken, or not of the main graph."""
    nodes = list(enumerate(load(case).graph.node))
    for operator, unwrap in _UNWRAP:
        for at, node in nodes:
            candidate = unwrap(case, at, values) if node.op_type == operator and not node.domain else None
            if candidate:
                yield candidate
    yield from _inner(case)


def _taken(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The branch of an If that is taken; the first one where that is not recorded."""
    return _branch(case, at, values, _takes_then(case, at, values))


def _other(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The branch of an If that is not taken: a compiler converts both."""
    return _branch(case, at, values, not _takes_then(case, at, values))


def _takes_then(case: Case, at: int, values: Mapping[str, Value]) -> bool:
    condition = values.get(load(case).graph.node[at].input[0])
    return not isinstance(condition, np.ndarray) or condition.size != 1 or bool(condition.item())


def _branch(case: Case, at: int, values: Mapping[str, Value], first: bool) -> Case | None:
    """The nodes of one branch; their results take the names of the If's outputs."""
    model = load(case)
    node = model.graph.node[at]
    branch = _body(node, _BRANCHES[not first])
    if branch is None:
        return None
    nodes = [*_unwrapped(model, branch), *_copies(branch, node)]
    model.graph.initializer.extend(branch.initializer)
    _splice(model.graph, at, nodes)
    return mend(case, model, values)


def _copies(branch: onnx.GraphProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """What gives a branch's results the names of its If's outputs."""
    pairs = zip(branch.output, node.output, strict=False)
    return [helper.make_node("Identity", [result.name], [name]) for result, name in pairs if name]


def _loop(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The nodes of the body as in the first iteration; the body's results become graph outputs.

    Whoever reads the Loop's own results gets their recorded values.
    """
    model = load(case)
    node = model.graph.node[at]
    body = _body(node, "body")
    if body is None:
        return None
    nodes = _unwrapped(model, body)
    first: list[Value] = [np.array(0, np.int64), np.array(True), *(values.get(name) for name in node.input[2:])]
    return _once(case, model, at, body, nodes, {**values, **_given(body, first)})


def _scan(case: Case, at: int, values: Mapping[str, Value]) -> Case | None:
    """The nodes of the body as on the first slices; otherwise as `_loop`."""
    model = load(case)
    node = model.graph.node[at]
    body, given = _body(node, "body"), attributes(node)
    count = given.get("num_scan_inputs", 0)
    if body is None or len(node.input) != len(body.input):  # the first version of Scan has an input more
        return None
    states = len(node.input) - count
    axes = given.get("scan_input_axes") or [0] * count
    slices = [_first_slice(values.get(name), axis) for name, axis in zip(node.input[states:], axes, strict=False)]
    if len(slices) != count or any(each is None for each in slices):
        return None
    first = [*(values.get(name) for name in node.input[:states]), *slices]
    nodes = _unwrapped(model, body)
    return _once(case, model, at, body, nodes, {**values, **_given(body, first)})


def _first_slice(value: Value, axis: int) -> np.ndarray | None:
    if not isinstance(value, np.ndarray) or not -value.ndim <= axis < value.ndim or not value.shape[axis]:
        return None
    return np.ascontiguousarray(np.take(value, 0, axis=axis))


def _given(body: onnx.GraphProto, first: Sequence[Value]) -> dict[str, Value]:
    return {info.name: value for info, value in zip(body.input, first, strict=False)}


def _once(
    case: Case,
    model: onnx.ModelProto,
    at: int,
    body: onnx.GraphProto,
    nodes: list[onnx.NodeProto],
    values: Mapping[str, Value],
) -> Case | None:
    """The case with a body's nodes in place of the node that repeats it; what they make become graph outputs."""
    made = {name for inner in nodes for name in inner.output}
    model.graph.output.extend(info for info in body.output if info.name in made)
    model.graph.initializer.extend(body.initializer)
    _splice(model.graph, at, nodes)
    return mend(case, model, values)


def _inner(case: Case) -> Iterator[Case]:
    """An If within a body or a function, in whose place one of its branches stands."""
    for at in range(len(_inner_ifs(load(case)))):
        for name in _BRANCHES:
            model = load(case)
            part, place = _inner_ifs(model)[at]
            node = part.node[place]
            branch = _body(node, name)
            if branch is None:
                continue
            nodes = [*_unwrapped(model, branch), *_copies(branch, node)]
            constants = [helper.make_node("Constant", [], [each.name], value=each) for each in branch.initializer]
            _splice(part, place, [*constants, *nodes])
            yield with_model(case, model)


def _inner_ifs(model: onnx.ModelProto) -> list[tuple[Part, int]]:
    """Every If that is not in the main graph itself: the list of nodes that it is in, and its place there."""
    parts: list[Part] = [body for node in all_nodes(model) for body in bodies(node)]
    parts += model.functions
    return [
        (part, place)
        for part in parts
        for place, node in enumerate(part.node)
        if node.op_type == "If" and not node.domain
    ]


def _body(node: onnx.NodeProto, name: str) -> onnx.GraphProto | None:
    """A copy of one of the node's bodies."""
    for attribute in node.attribute:
        if attribute.name == name and attribute.HasField("g"):
            copy = onnx.GraphProto()
            copy.CopyFrom(attribute.g)
            return copy
    return None


def _unwrapped(model: onnx.ModelProto, body: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The body's nodes; all names of its own, also those of its constants, are made unique in the model, in place."""
    own = {info.name for info in body.input} | {tensor.name for tensor in body.initializer}
    own |= {name for node in walk(body) for name in node.output if name}
    prefix = _fresh(model)
    carrier = helper.make_model(body)
    rename(carrier, {name: prefix + name for name in own})
    body.CopyFrom(carrier.graph)
    return list(body.node)


def _fresh(model: onnx.ModelProto) -> str:
    """A prefix that no name of the model has."""
    names = {name for node in all_nodes(model) for name in (*node.input, *node.output)}
    names |= {named.name for group in (model.graph.input, model.graph.initializer) for named in group}
    prefixes = (f"body{at}_" for at in itertools.count())
    return next(prefix for prefix in prefixes if not any(name.startswith(prefix) for name in names))


def _splice(part: Part, at: int, nodes: Sequence[onnx.NodeProto]) -> None:
    kept = list(part.node)
    replace_items(part.node, [*kept[:at], *nodes, *kept[at + 1 :]])


_BRANCHES = ("then_branch", "else_branch")
#: What may stand in the place of a node of the main graph, the likeliest first.
_UNWRAP: tuple[tuple[str, Callable[[Case, int, Mapping[str, Value]], Case | None]], ...] = (
    ("If", _taken),
    ("Loop", _loop),
    ("Scan", _scan),
    ("If", _other),
)
