"""Operators of a model on which the compiler dies, though it refuses them by themselves: it should have refused it.

Who reads "without MaxUnpool it passes" looks for a fault in the conversion of MaxUnpool, and there is no such code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx

from fuzz.case import Case, Status
from fuzz.operators.inference import infer_shapes
from triage.construct_meaning import parsed
from triage.inquiry import Condition, Inquiry
from triage.submodel import initializer_names, mend, replace_items, tensors

KIND = "unsupported"


def unsupported(inquiry: Inquiry) -> Iterator[Condition]:
    """One for each operator that reads nothing but inputs and constants and is refused alone as not supported."""
    failure = inquiry.failure
    if failure.case.kind != "onnx" or failure.outcome.status is not Status.SIGNAL:
        return
    nodes = parsed(failure.case.model).graph.node
    for at, node in enumerate(nodes if len(nodes) > 1 else ()):
        case = _first_alone(failure.case, at)
        verdict = inquiry.verdict(case) if case else None
        if verdict is not None and verdict.status is Status.UNSUPPORTED:
            sentence = (
                f"By itself {node.op_type} is refused as not supported, which should be said of this model as well."
            )
            yield Condition(KIND, node.op_type, sentence, needed=False)


def refused(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """The operators of which some conditions say that they are refused by themselves."""
    return tuple(dict.fromkeys(one.text for one in conditions if one.kind == KIND))


def _first_alone(case: Case, at: int) -> Case | None:
    """The node at the position alone; None where it reads what other nodes make, or nobody knows what it makes."""
    try:
        model = infer_shapes(parsed(case.model))
    except onnx.shape_inference.InferenceError:
        return None
    node, known = model.graph.node[at], {info.name: info for info in model.graph.value_info}
    given = {"", *(info.name for info in model.graph.input), *initializer_names(model.graph)}
    made = [known[name] for name in node.output if name in known]
    if not made or not set(node.input) <= given:
        return None
    replace_items(model.graph.output, made)
    replace_items(model.graph.node, [node])
    return mend(case, model, tensors(case, model))
