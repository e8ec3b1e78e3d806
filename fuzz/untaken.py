"""Branches that are not taken: the reference has not seen whether they can be computed at all.

A compiler that refuses an operator there may well be right, so such a branch is evaluated before it is blamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fuzz import validity
from fuzz.case import Case, Outcome, Status, Target
from fuzz.operators.graph import named_bodies, walk
from fuzz.runner import Runner
from fuzz.wire import Value

_TAKEN = {"then_branch": True, "else_branch": False}


def invalid(runner: Runner, case: Case, outcome: Outcome, reference: Target, values: Mapping[str, Value]) -> str:
    """Why a refusal of an operator that stands in branches alone which are not taken is no bug; "" where it may be one.

    `values` are those `validity.recorded`, which tell what is taken. Only an If of the main graph is looked into, and
    nothing is said where bodies that run break the same words: those are lax.
    """
    blamed = outcome.error.operator if outcome.error and outcome.status is Status.EXCEPTION else ""
    turned = _turned(case, blamed, values) if case.kind == "onnx" and blamed else None
    if turned is None or validity.violation(case, values, bodies=True):
        return ""
    [known] = validity.judge(runner, [turned], reference)
    if known.invalid:
        return f"a branch that is not taken is {known.invalid}" if validity.raised(known) else ""
    if known.outcome.status is not Status.OK:
        return ""
    return validity.violation(turned, validity.recorded(runner, turned, reference), bodies=True)


def _turned(case: Case, blamed: str, values: Mapping[str, Value]) -> Case | None:
    """Each If of which the branch that is not taken has the operator, with that branch taken, and what these Ifs need.

    None where the operator runs elsewhere, or a result is declared without dimensions.
    """
    model = onnx.load_model_from_string(case.model)
    everywhere = sum(node.op_type == blamed for node in walk(model.graph))
    known = {**values, **{tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}}
    hidden, nodes, results = 0, list[onnx.NodeProto](), list[onnx.ValueInfoProto]()
    for node in model.graph.node:
        inside = [(body, count) for body in _other_branches(node, known) if (count := _count(body, blamed))]
        for body, count in inside:
            hidden += count
            nodes.append(helper.make_node("Not", [node.input[0]], [f"{node.output[0]}_turned"]))
            node.input[0] = f"{node.output[0]}_turned"
            results += [_named(info, name) for info, name in zip(body.output, node.output, strict=False)]
        nodes.append(node)
    if not hidden or hidden < everywhere or not all(info.type.tensor_type.HasField("shape") for info in results):
        return None
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    del graph.node[:], graph.value_info[:], graph.output[:]
    graph.node.extend(_needed(nodes, {info.name for info in results}))
    graph.output.extend(results)
    model.graph.CopyFrom(graph)
    return replace(case, model=model.SerializeToString(), expected=None)


def _named(info: onnx.ValueInfoProto, name: str) -> onnx.ValueInfoProto:
    found = onnx.ValueInfoProto()
    found.CopyFrom(info)
    found.name = name
    return found


def _needed(nodes: list[onnx.NodeProto], wanted: set[str]) -> list[onnx.NodeProto]:
    """The nodes without those behind: what follows need not take the sizes of the other branch."""
    kept = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node)
            inner = [one for _, body in named_bodies(node) for one in walk(body)]
            wanted |= set(node.input).union(*(one.input for one in inner))
            wanted |= {info.name for _, body in named_bodies(node) for info in body.output}
    return kept[::-1]


def _count(body: onnx.GraphProto, operator: str) -> int:
    return sum(inner.op_type == operator for inner in walk(body))


def _other_branches(node: onnx.NodeProto, values: Mapping[str, Value]) -> list[onnx.GraphProto]:
    """The branch of an If that is not taken; none of another node, or where that is not known."""
    condition = values.get(node.input[0]) if node.op_type == "If" and not node.domain else None
    if not isinstance(condition, np.ndarray) or condition.size != 1:
        return []
    return [body for name, body in named_bodies(node) if _TAKEN.get(name) is not bool(condition.item())]
