"""Nodes that only feed the others, as constants: where an input in their place hides the bug, a constant may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuzz.case import Case
from fuzz.wire import Value
from triage.cuts import fixed_inputs
from triage.submodel import load
from triage.wiring import MAIN, wiring

KINDS = ("onnx",)
#: Fewer nodes than this are few enough: that a bug needs a constant is seldom.
_MANY = 3
#: How many nodes are proposed at most: each costs a run of nearly every reduction to so many nodes.
_MOST = 1


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without the first node that feeds others and reads none of them; its results are initializers."""
    graph = wiring(load(case).graph)
    count = len(graph.operators)
    if count < _MANY:
        return
    fed = {consumer for _, consumer in graph.edges}
    sources = sorted({producer for producer, _ in graph.edges} - fed)
    for at in sources[:_MOST]:
        for cut in MAIN.cut(case, frozenset(range(count)) - {at}, values)[-1:]:
            fixed = fixed_inputs(cut, case, "biufc")
            if fixed is not None:
                yield fixed
