"""Bodies that compute nothing: an Identity in the place of their only node, which no other node can stand in for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
from onnx import helper

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from fuzz.wire import Value
from triage.submodel import load, with_model

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Each such body in turn; whether the result has the type that the body declares is left to the reference."""
    for at in range(len(_single(load(case)))):
        model = load(case)
        node = _single(model)[at]
        node.CopyFrom(helper.make_node("Identity", node.input[:1], node.output))
        yield with_model(case, model)


def _single(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """The only nodes of bodies, of one result, that are no copies."""
    alone = [body.node[0] for node in walk(model.graph) for body in bodies(node) if len(body.node) == 1]
    return [node for node in alone if node.op_type != "Identity" and node.input and len(node.output) == 1]
