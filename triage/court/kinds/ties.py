"""Equal values under ArgMax, TopK and the like: which of them comes first differs from compiler to compiler."""

from __future__ import annotations

import numpy as np
import onnx

from fuzz.operators.graph import attributes
from triage.court import measure
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong",)
ORDERING = frozenset({"ArgMax", "ArgMin", "Hardmax", "TopK"})


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where another order of equal values gives the compiler's result.

    The evaluation under noise disturbs the order of such values, and of nearly equal ones. ONNX does order
    them (lower index first), but issue 2 counts ties among what is never reported.
    """
    if hearing.case.kind != "onnx" or not hearing.compares_values or hearing.widened is None:
        return None
    found = measure.worst(hearing.actual, hearing.expected, hearing.widened.wide, hearing.widened.noise)
    if found is None or found.excess > 1.0:
        return None
    for node in onnx.load_model_from_string(hearing.case.model).graph.node:
        value = hearing.values.get(node.input[0]) if node.input else None
        if node.op_type in ORDERING and isinstance(value, np.ndarray) and _has_ties(value, attributes(node)):
            sentence = f"{node.op_type} meets equal values, and another order of them gives the compiler's result"
            figures = {"operator": node.op_type, "node": node.name}
            return Evidence("ties", Side.FOR, sentence, figures, Ruling.UNDEFINED)
    return None


def _has_ties(value: np.ndarray, given: dict[str, object]) -> bool:
    """Whether two values along the axis are equal."""
    axis = given.get("axis", -1)
    if value.ndim == 0 or not isinstance(axis, int) or not -value.ndim <= axis < value.ndim:
        return False
    ordered = np.sort(value, axis=axis)
    return bool(np.any(np.diff(ordered.astype(np.float64), axis=axis) == 0))
