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
#: By the type of a result: in which type sums are made (ReduceSum takes it in every opset), and what adds them to it.
_SUMMED = {
    **{kind: (kind, "Add") for kind in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)},
    TensorProto.BOOL: (TensorProto.INT32, "Or"),
}


def variants(case: Case) -> Iterator[Variant]:
    """All of them read at once, by sums that add nothing to a result of the body."""
    model = load(case)
    if sum(_read(body, int(node.op_type == "Loop")) for node in model.graph.node for body in bodies(node)):
        sentence = "With every input of the body read, by something that adds 0, the same model passes."
        yield Variant(KIND, TEXT, sentence, (with_model(case, model),))


def _read(body: onnx.GraphProto, conditions: int) -> int:
    """Add zero times each unread input to the last result that can be added to, in place; how many inputs that are.

    Not to the first `conditions` results, which say whether a loop goes on: it would hang on data then. Sums are of
    truth values, since those of numbers may be infinite.
    """
    used = {info.name for info in body.output}.union(*(reads(node) for node in body.node))
    unread = [info.name for info in body.input if info.name not in used]
    results = list(body.output)[conditions:]
    result = next((info for info in reversed(results) if info.type.tensor_type.elem_type in _SUMMED), None)
    if result is None:
        return 0
    own, sum_ = result.type.tensor_type.elem_type, result.name
    kind, adds = _SUMMED[own]
    for name in unread:
        parts = [f"{name}_{step}" for step in ("truth", "cast", "sum", "difference", "zero", "added")]
        body.node.extend(
            [
                helper.make_node("Cast", [name], parts[:1], to=TensorProto.BOOL),
                helper.make_node("Cast", parts[:1], parts[1:2], to=kind),
                helper.make_node("ReduceSum", parts[1:2], parts[2:3], keepdims=0),
                helper.make_node("Sub", [parts[2], parts[2]], parts[3:4]),
                helper.make_node("Cast", parts[3:4], parts[4:5], to=own),
                helper.make_node(adds, [sum_, parts[4]], parts[5:]),
            ]
        )
        sum_ = result.name = parts[5]
    return len(unread)
