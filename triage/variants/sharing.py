"""Tensors that a node reads in several places, each place with a tensor of its own that holds the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import numpy_helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.handwritten import free_name, names_of
from triage.schemas import formal_inputs
from triage.submodel import add_initializer, all_nodes, load, value_info, with_model
from triage.variants import Variant
from triage.variants.relations import KIND
from triage.wording import enumerated

#: How the condition begins.
TEXT = "one tensor as "


def variants(case: Case) -> Iterator[Variant]:
    """One for each node, in bodies too, and each tensor that it reads twice."""
    for at, node in enumerate(all_nodes(load(case))):
        for name in dict.fromkeys(name for name in node.input if list(node.input).count(name) > 1 and name):
            formals = _formals(load(case), at, name)
            apart = _apart(case, at, name) if len(formals) > 1 else None
            if apart is not None:
                own = " and ".join(f"`{formal}`" for formal in formals)
                sentence = f"With a tensor of its own, of the same numbers, for each of {own} the same model passes."
                yield Variant(KIND, f"{TEXT}{enumerated(formals)}", sentence, (apart,))


def _formals(model: onnx.ModelProto, at: int, name: str) -> list[str]:
    """What the specification calls the places in which the node reads the tensor; of a list it knows but one."""
    node = all_nodes(model)[at]
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    return [one.name for read, one in pairs if read == name and one.option != OpSchema.FormalParameterOption.Variadic]


def _apart(case: Case, at: int, name: str) -> Case | None:
    """The case with copies of the tensor in all places but the first; None where the model computes it."""
    model, inputs = load(case), dict(case.inputs)
    node = all_nodes(model)[at]
    taken = names_of(model)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for place in [place for place, read in enumerate(node.input) if read == name][1:]:
        other = free_name(f"{name}_{place}", taken)
        info = value_info(other, inputs[name]) if name in inputs else None
        if info is not None:
            model.graph.input.append(info)
            inputs[other] = inputs[name]
        elif name in constants and name not in inputs:
            add_initializer(model, other, numpy_helper.to_array(constants[name]))
        else:
            return None
        node.input[place] = other
    return with_model(case, model, inputs)
