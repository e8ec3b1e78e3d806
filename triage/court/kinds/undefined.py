"""Behaviour that the specification leaves open, with its own words (decision 002)."""

from __future__ import annotations

import numpy as np
import onnx

from fuzz import validity
from fuzz.case import Status
from fuzz.oracles import differential, undefined
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong", "death")


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where open behaviour reaches a differing output, or may be refused.

    Not where elements differ that the open ones have no part in, nor where dtypes or shapes do.
    """
    if hearing.known.invalid:
        return None
    case, values = hearing.case, hearing.values
    if hearing.manner == "death":
        exited = hearing.outcome.error is not None and hearing.outcome.error.type == "Exit"
        raised = hearing.outcome.status is Status.EXCEPTION and not exited
        refused = validity.refusable(case, values) if raised else validity.trapping(case, values, hearing.outcome)
        return Evidence("undefined", Side.FOR, refused, {}, Ruling.UNDEFINED) if refused else None
    differing = differential.differing(hearing.outcome.outputs, hearing.known.outcome.outputs)
    names = differing or {name for name, _ in hearing.known.outcome.outputs}
    objection = undefined.screen(case.kind, case.model, values, names)
    if objection is None:
        return None
    if hearing.errs_in_form:
        sentence = f"{objection.operator}: {objection.reason.rstrip('.')}; but that has no part in dtypes and shapes"
        return Evidence("undefined", Side.AGAINST, sentence, {"operator": objection.operator, "defined": True})
    if objection.steps and _beyond(hearing, objection.operator, objection.steps):
        reason = objection.reason.rstrip(".")
        sentence = f"{objection.operator}: {reason}; but results are further apart than the two that may be right"
        return Evidence("undefined", Side.AGAINST, sentence, {"operator": objection.operator})
    if hearing.errs_where_defined:
        reason = objection.reason.rstrip(".")
        sentence = f"{objection.operator}: {reason}; but elements that this does not touch differ, too"
        return Evidence("undefined", Side.AGAINST, sentence, {"operator": objection.operator, "defined": True})
    words = f' The specification: "{objection.spec}"' if objection.spec else " The specification says nothing of it."
    figures = {"operator": objection.operator, "specification": objection.spec}
    sentence = f"{objection.operator}: {objection.reason.rstrip('.')}.{words}"
    return Evidence("undefined", Side.FOR, sentence, figures, Ruling.UNDEFINED)


def _beyond(hearing: Hearing, operator: str, steps: int) -> bool:
    """Whether an output that the operator gives, of what the model is given, differs by more steps in whole numbers.

    What another node has computed may have been moved by a tie before.
    """
    if not hearing.compares_values or hearing.case.kind != "onnx":
        return False
    model = onnx.load_model_from_string(hearing.case.model)
    computed = {name for node in model.graph.node for name in node.output}
    nodes = (node for node in model.graph.node if node.op_type == operator and computed.isdisjoint(node.input))
    made = {name for node in nodes for name in node.output}
    pairs = zip(model.graph.output, hearing.actual, hearing.expected, strict=False)
    return any(
        info.name in made and one.dtype.kind in "iu" and np.max(np.abs(one.astype(float) - other), initial=0) > steps
        for info, one, other in pairs
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape == other.shape
    )
