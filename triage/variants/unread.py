"""Inputs of a body that nothing in it reads, read: a compiler that drops them may lose count of the others."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import TensorProto, helper

from fuzz.case import Case
from fuzz.operators.graph import bodies
from triage.submodel import load, reads, with_model
from triage.variants import Variant
from triage.variants.relations import KIND

TEXT = "an unread body input"
#: Types that ReduceSum and Add take in every opset.
_SUMMED = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)


def variants(case: Case) -> Iterator[Variant]:
    """All of them read at once, by sums that add nothing to a result of the body."""
    model = load(case)
    if sum(_read(body) for node in model.graph.node for body in bodies(node)):
        sentence = "With every input of the body read, by something that adds 0, the same model passes."
        yield Variant(KIND, TEXT, sentence, (with_model(case, model),))


def _read(body: onnx.GraphProto) -> int:
    """Add zero times each unread input to the first numeric result, in place; how many inputs that are."""
    used = {info.name for info in body.output}.union(*(reads(node) for node in body.node))
    unread = [info.name for info in body.input if info.name not in used]
    result = next((info for info in body.output if info.type.tensor_type.elem_type in _SUMMED), None)
    if result is None:
        return 0
    kind, sum_ = result.type.tensor_type.elem_type, result.name
    for name in unread:
        parts = [f"{name}_{step}" for step in ("cast", "sum", "zero", "added")]
        body.node.extend(
            [
                helper.make_node("Cast", [name], parts[:1], to=kind),
                helper.make_node("ReduceSum", parts[:1], parts[1:2], keepdims=0),
                helper.make_node("Sub", [parts[1], parts[1]], parts[2:3]),
                helper.make_node("Add", [sum_, parts[2]], parts[3:]),
            ]
        )
        sum_ = result.name = parts[3]
    return len(unread)
