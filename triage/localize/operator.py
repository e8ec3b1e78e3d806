"""Which operator is at fault: the first whose result is wrong although all that it reads is right.

The reference records every tensor (its option ``intermediates``); a compiler is asked for one tensor at a time,
by cutting the model there. That only finds a candidate: an error within the tolerance may become visible far
behind the operator that made it. The claim is made when the operator alone, on the reference's own values, fails
in the same way each time.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from fuzz import validity
from fuzz.case import Case
from fuzz.wire import Value
from triage.localize.location import Location
from triage.localize.trial import Answer, Trial
from triage.submodel import alone, load, reads, replace_items, value_info, with_model

#: Larger models are left to the reducer.
MOST_NODES = 512


def locate(trial: Trial, known: Location) -> Location:
    """The guilty node of the main graph, as far as it can be told."""
    case = trial.failure.case
    if case.kind != "onnx":
        return known
    nodes = list(load(case).graph.node)
    if len(nodes) == 1:
        return known.learn("", operator=nodes[0].op_type)
    single = guilty(trial)
    if single is None:
        return known
    [node] = load(single).graph.node
    said = f"{node.op_type} alone, on the reference's own values, fails in the same way (seen twice)"
    return known.learn(said, operator=node.op_type)


def guilty(trial: Trial) -> Case | None:
    """The guilty node of a model of several as a case of its own, which fails in the same way; None where none does."""
    case = trial.failure.case
    nodes = list(load(case).graph.node) if case.kind == "onnx" else []
    if not 1 < len(nodes) <= MOST_NODES:
        return None
    values = validity.recorded(trial.judge.runner, case, trial.judge.reference)
    at = _first_wrong(trial, nodes, values)
    single = None if at is None else alone(case, at, values)
    return single if single is not None and trial.sure(Answer.SAME, single) else None


def _first_wrong(trial: Trial, nodes: list[onnx.NodeProto], values: Mapping[str, Value]) -> int | None:
    """The position of the first node behind which the model fails, by bisection along the graph's order.

    The model up to node k fails for every k from the guilty node on, if later nodes do not heal what is wrong.
    """
    low, high = 0, len(nodes) - 1
    if _answer(trial, nodes, values, high) is not Answer.SAME:
        return None
    while low < high:
        if trial.over():
            return None
        middle = (low + high) // 2
        if _answer(trial, nodes, values, middle) is Answer.SAME:
            high = middle
        else:
            low = middle + 1
    return low


def _answer(trial: Trial, nodes: list[onnx.NodeProto], values: Mapping[str, Value], last: int) -> Answer:
    cut = _upto(trial.failure.case, nodes, values, last)
    return trial.ask(cut) if cut else Answer.OTHER


def _upto(case: Case, nodes: list[onnx.NodeProto], values: Mapping[str, Value], last: int) -> Case | None:
    """The case with the nodes up to the position `last`; what no other of them reads is its output."""
    kept = nodes[: last + 1]
    read = set[str]().union(*(reads(node) for node in kept))
    loose = [name for node in kept for name in node.output if name and name not in read]
    return _cut(case, loose or [name for name in kept[-1].output if name], values)


def _cut(case: Case, names: list[str], values: Mapping[str, Value]) -> Case | None:
    """The case with the tensors `names` as its outputs and only the nodes that they need."""
    model = load(case)
    declared = {info.name: info for info in model.graph.output}
    infos = [declared.get(name) or value_info(name, values.get(name)) for name in names]
    if not infos or None in infos:
        return None
    wanted, kept = set(names), []
    for node in reversed(model.graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted |= reads(node)
    replace_items(model.graph.node, kept[::-1])
    replace_items(model.graph.output, [info for info in infos if info is not None])
    return with_model(case, model)
