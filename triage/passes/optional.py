"""Operator inputs and outputs that may be left out, left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
from onnx.defs import OpSchema

from fuzz.case import Case
from fuzz.operators.table import opsets, schema
from fuzz.wire import Value
from triage.submodel import load, mend, reads

KINDS = ("onnx",)
_OPTION = OpSchema.FormalParameterOption
#: Inputs without which a node may never come to an end.
_ENDS = (("Loop", 0),)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """For every node, last input first: without it and all that follow; then only without it; then outputs."""
    model = load(case)
    versions = opsets(model)
    for at, node in enumerate(model.graph.node):
        found = schema(node, versions)
        if found is None:
            continue
        for position in range(len(node.input) - 1, -1, -1):
            if (node.op_type, position) in _ENDS:
                continue
            if node.input[position] and _may_go(found, position, len(node.input)):
                yield from _without_input(case, at, position, values)
        if len(node.output) > max(1, found.min_output) and _unused(model, node.output[-1]):
            changed = load(case)
            del changed.graph.node[at].output[-1]
            candidate = mend(case, changed, values)
            if candidate:
                yield candidate


def _may_go(found: OpSchema, position: int, count: int) -> bool:
    formal = found.inputs[min(position, len(found.inputs) - 1)]
    if formal.option == _OPTION.Variadic:
        return count > max(1, found.min_input)
    return bool(formal.option == _OPTION.Optional)


def _without_input(case: Case, at: int, position: int, values: Mapping[str, Value]) -> Iterator[Case]:
    """First the cut that shortens the list, then the one that leaves a hole or closes up."""
    given = list(load(case).graph.node[at].input)
    closed, holed = given[:position] + given[position + 1 :], [*given[:position], "", *given[position + 1 :]]
    for inputs in (given[:position], closed, holed):
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        model = load(case)
        model.graph.node[at].input[:] = inputs
        candidate = mend(case, model, values) if inputs else None
        if candidate:
            yield candidate


def _unused(model: onnx.ModelProto, name: str) -> bool:
    returned = any(info.name == name for info in model.graph.output)
    return not returned and not any(name in reads(node) for node in model.graph.node)
