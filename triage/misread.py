"""An optional input of one axis that the compiler takes for another one, or never looks at.

An attribute that became an input in a newer opset is easily forgotten: the model fails without the input, since the
default has changed, and with it. What the compiler computes with is found by asking the reference (`triage.likeness`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.bits import identical
from triage.inquiry import Condition, Inquiry
from triage.likeness import KIND, fits_all
from triage.schemas import schema_of
from triage.submodel import add_initializer, load, open_shapes, with_tensors

#: How the specification tells the default of an input.
_DEFAULT = re.compile(r"[Dd]efault(?: value)?(?: is)?:? *`?(-?\d+)")


def misread(inquiry: Inquiry) -> Condition | None:
    """The axis that the compiler seems to have used where none is given; None where none fits.

    Where the result is the same with the default spelled out, the compiler does not look at the input at all. The title
    speaks of the default all the same, which is what the script shows.
    """
    case = inquiry.failure.case
    if case.kind != "onnx" or not inquiry.failure.symptom.startswith("wrong:"):
        return None
    for at, formal, default in _left_out(case):
        for axis in _axes(case, default):
            if fits_all(inquiry, partial(_given, at=at, axis=axis)):
                return _condition(inquiry, at, formal, default, axis)
    return None


def _condition(inquiry: Inquiry, at: int, formal: str, default: int, axis: int) -> Condition:
    said = f"The wrong result is what `{formal}` = {axis} should give, on other inputs as well"
    spelled = inquiry.verdict(_given(inquiry.failure.case, at, default))
    if spelled and spelled.failure and identical(spelled.failure.outcome, inquiry.failure.outcome):
        said += f", and it stays with `{formal}` given as {default}, its default: the input is not looked at"
    return Condition(KIND, f"{formal} were {axis} instead of {default}", f"{said}.", needed=False)


def _left_out(case: Case) -> Iterator[tuple[int, str, int]]:
    """(position, name, default) of each optional axis that the only node does without."""
    model = load(case)
    if len(model.graph.node) != 1:
        return
    schema, given = schema_of(model.graph.node[0], model), model.graph.node[0].input
    for at, formal in enumerate(schema.inputs if schema else ()):
        default = _DEFAULT.search(formal.description)
        absent = at >= len(given) or not given[at]
        optional = formal.option == OpSchema.FormalParameterOption.Optional
        if absent and optional and formal.name == "axis" and default:
            yield at, formal.name, int(default[1])


def _axes(case: Case, default: int) -> Iterator[int]:
    """Every other axis of the data."""
    first = case.inputs.get(load(case).graph.node[0].input[0])
    rank = first.ndim if isinstance(first, np.ndarray) else 0
    yield from (axis for axis in range(rank) if rank and axis != default % rank)


def _given(case: Case, at: int, axis: int) -> Case:
    model = load(case)
    node, name = model.graph.node[0], "axis_given"
    names = [*node.input, *[""] * (at + 1 - len(node.input))]
    names[at] = name
    node.input[:] = names
    open_shapes(model)
    add_initializer(model, name, np.array(axis, np.int64))
    return with_tensors(case, model, {})
