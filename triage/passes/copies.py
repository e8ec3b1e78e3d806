"""Bodies that compute nothing: an Identity in the place of the only node that is none, which no other can replace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
from onnx import helper

from fuzz.case import Case
from fuzz.operators.graph import all_bodies
from fuzz.wire import Value
from triage.passes.bodies import without_copies
from triage.submodel import load, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Each such body in turn; whether the result has the type that the body declares is left to the reference."""
    for at in range(len(_single(load(case)))):
        model = load(case)
        body, node = _single(model)[at]
        node.CopyFrom(helper.make_node("Identity", node.input[:1], node.output))
        if len(body.node) > 1:
            without_copies(model.graph)
        yield with_model(case, model)


def _single(model: onnx.ModelProto) -> list[tuple[onnx.GraphProto, onnx.NodeProto]]:
    """Bodies with the node, of one result, beside which they have none but copies."""
    inside = [(body, [each for each in body.node if each.op_type != "Identity"]) for body in all_bodies(model.graph)]
    alone = [(body, nodes[0]) for body, nodes in inside if len(nodes) == 1]
    return [(body, node) for body, node in alone if node.input and len(node.output) == 1]
