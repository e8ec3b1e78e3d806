"""The single operator behind a wrong result of several: its failure may look like another bug.

A ReduceMax that returns the lowest float for -inf makes Equal false and Where take NaN. Reduced under "gets NaN
wrong" the model keeps all three; ReduceMax alone is wrong in another way, and that is the bug (issue 3: a slip to
another signature is a failure of its own).
"""

from __future__ import annotations

from fuzz import validity
from fuzz.case import Case, Failure
from fuzz.judge import Judge
from fuzz.wire import Value
from triage.submodel import load, mend, replace_items, value_info

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
        alone = _alone(case, at, values)
        found = judge.examine(alone, failure.target).failure if alone else None
        if found is not None and found.symptom.startswith("wrong:"):
            return found
    return None


def _alone(case: Case, at: int, values: dict[str, Value]) -> Case | None:
    model = load(case)
    node = model.graph.node[at]
    outputs = [value_info(name, values.get(name)) for name in node.output if name]
    if None in outputs:
        return None
    replace_items(model.graph.node, [node])
    replace_items(model.graph.output, [info for info in outputs if info is not None])
    return mend(case, model, values)
