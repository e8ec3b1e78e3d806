"""Operators whose code in the reference evaluator is the project's own, since onnx's is wrong. Pure.

Whoever runs onnx's own evaluator on such a model may get another result than the one that a report expects.
"""

from __future__ import annotations

from fuzz.case import Case
from fuzz.operators.graph import walk
from triage.construct_meaning import parsed

#: As in `fuzz.backends._evaluator`, which workers alone import.
MENDED = ("GatherElements", "Loop", "OneHot", "Unique")


def mended(case: Case) -> tuple[str, ...]:
    """Those that the model of a case holds, in its bodies and functions as well."""
    if case.kind != "onnx":
        return ()
    model = parsed(case.model)
    nodes = [*walk(model.graph), *(node for one in model.functions for node in walk(one))]
    held = {node.op_type for node in nodes if not node.domain}
    return tuple(name for name in MENDED if name in held)
