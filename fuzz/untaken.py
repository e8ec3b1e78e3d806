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

    `values` are those `validity.recorded`, which tell what is taken. Only an If of the main graph is looked into.
    """
    blamed = outcome.error.operator if outcome.error and outcome.status is Status.EXCEPTION else ""
    turned = _turned(case, blamed, values) if case.kind == "onnx" and blamed else None
    if turned is None:
        return ""
    found = runner.run(turned, reference)
    if found.status is Status.EXCEPTION and found.error is not None:
        return f"a branch that is not taken is {validity.REJECTED}: {found.error.message.strip().splitlines()[0][:200]}"
    if found.status is not Status.OK:
        return ""
    return validity.violation(turned, validity.recorded(runner, turned, reference), bodies=True)


def _turned(case: Case, blamed: str, values: Mapping[str, Value]) -> Case | None:
    """The case with the other branch taken of each If of which that has the operator; None where it runs elsewhere."""
    model = onnx.load_model_from_string(case.model)
    everywhere = sum(node.op_type == blamed for node in walk(model.graph))
    known = {**values, **{tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}}
    hidden, nodes = 0, []
    for node in model.graph.node:
        inside = _untaken(node, blamed, known)
        if inside:
            hidden += inside
            nodes.append(helper.make_node("Not", [node.input[0]], [f"{node.output[0]}_turned"]))
            node.input[0] = f"{node.output[0]}_turned"
        nodes.append(node)
    if not hidden or hidden < everywhere:
        return None
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    for info in graph.output:
        for dim in info.type.tensor_type.shape.dim:
            dim.Clear()  # the other branch may give other sizes
    model.graph.CopyFrom(graph)
    return replace(case, model=model.SerializeToString(), expected=None)


def _untaken(node: onnx.NodeProto, blamed: str, values: Mapping[str, Value]) -> int:
    """How many nodes of the operator stand in the branch of an If that is not taken."""
    condition = values.get(node.input[0]) if node.op_type == "If" and not node.domain else None
    if not isinstance(condition, np.ndarray) or condition.size != 1:
        return 0
    branches = (body for name, body in named_bodies(node) if _TAKEN.get(name) is not bool(condition.item()))
    return sum(inner.op_type == blamed for body in branches for inner in walk(body))
