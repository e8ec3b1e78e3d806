"""The single operator behind a wrong result of several: its failure may look like another bug.

A ReduceMax that returns the lowest float for -inf makes Equal false and Where take NaN. Reduced under "gets NaN
wrong" the model keeps all three; ReduceMax alone is wrong in another way, and that is the bug (issue 3: a slip to
another signature is a failure of its own).
"""

from __future__ import annotations

from fuzz import validity
from fuzz.case import Failure
from fuzz.judge import Judge
from triage.submodel import alone, load

#: A reduced model has few; in a larger one the first wrong node is the localiser's business.
MOST_NODES = 12


def root(judge: Judge, failure: Failure) -> Failure | None:
    """The failure of the first node that is wrong alone, on the reference's own values; None where none is."""
    case = failure.case
    if case.kind != "onnx" or not failure.symptom.startswith("wrong:"):
        return None
    count = len(load(case).graph.node)
    if not 1 < count <= MOST_NODES:
        return None
    values = dict(validity.recorded(judge.runner, case, judge.reference))
    for at in range(count):
        single = alone(case, at, values)
        found = judge.examine(single, failure.target).failure if single else None
        if found is not None and found.symptom.startswith("wrong:"):
            return found
    return None
