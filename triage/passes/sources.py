"""Nodes that only feed the others, as constants where an input in their place hides the bug; and the other way round.

A cut gives what was computed from constants as constants. Where a failure needs a value that is not known when the
model is compiled, the nodes that compute it stay for that reason alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from onnx import helper, numpy_helper

from fuzz.case import Case
from fuzz.wire import Value
from triage.cuts import fixed_inputs
from triage.submodel import constant_names, load, replace_items, with_model
from triage.wiring import MAIN, wiring

KINDS = ("onnx",)
#: Fewer nodes than this are few enough: that a bug needs a constant is seldom.
_MANY = 3
#: How many nodes are proposed at most: each costs a run of nearly every reduction to so many nodes.
_MOST = 1
#: With more nodes it is not yet known which are needed.
_FEW = 8


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without the first node that feeds others and reads none of them; its results are initializers.

    First, without one that computes with constants alone; its results are inputs.
    """
    graph = wiring(load(case).graph)
    count = len(graph.operators)
    yield from _folded_as_inputs(case, values)
    if count < _MANY:
        return
    fed = {consumer for _, consumer in graph.edges}
    sources = sorted({producer for producer, _ in graph.edges} - fed)
    for at in sources[:_MOST]:
        for cut in MAIN.cut(case, frozenset(range(count)) - {at}, values)[-1:]:
            fixed = fixed_inputs(cut, case, "biufc")
            if fixed is not None:
                yield fixed


def _folded_as_inputs(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without each of the last few nodes that compute with constants alone; what it made is fed."""
    model = load(case)
    constants = constant_names(model)
    made = [{name for name in node.output if name} for node in model.graph.node]
    folded = [at for at, names in enumerate(made) if names <= constants]
    for at in folded if 1 < len(made) <= _FEW else ():
        for cut in MAIN.cut(case, frozenset(range(len(made))) - {at}, values)[-1:]:
            fed = as_inputs(cut, made[at])
            if fed is not None:
                yield fed


def as_inputs(case: Case, names: Collection[str]) -> Case | None:
    """The case with those of its initializers as inputs; None where it has none of them."""
    model, inputs = load(case), dict(case.inputs)
    found = {tensor.name: tensor for tensor in model.graph.initializer if tensor.name in names}
    replace_items(model.graph.initializer, [each for each in model.graph.initializer if each.name not in found])
    for name, tensor in found.items():
        inputs[name] = numpy_helper.to_array(tensor)
        model.graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, tensor.dims))
    return with_model(case, model, inputs) if found else None
