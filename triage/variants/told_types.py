"""An attribute that names the type of the result, with the type that the input has: a converter may mix the two up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import AttributeProto, helper

from fuzz.case import Case
from triage.literals import Array
from triage.schemas import formal_inputs, schema_of
from triage.submodel import load, tensors, with_tensors
from triage.variants import Variant, neighbour
from triage.variants.attributes import retyped
from triage.variants.relations import TYPES

#: The attribute whose absence stands for the type of the input.
NAME = "dtype"


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node with both types as that of the input, and with both as the attribute's."""
    model = load(case)
    if len(model.graph.node) != 1 or not model.graph.node[0].input:
        return
    node = model.graph.node[0]
    given = next((one for one in node.attribute if one.name == NAME and one.type == AttributeProto.INT), None)
    schema = schema_of(node, model)
    array = tensors(case, model).get(node.input[0]) if schema is not None else None
    if given is None or schema is None or array is None or schema.attributes[NAME].required:
        return
    own = helper.np_dtype_to_tensor_dtype(array.dtype)
    named = helper.tensor_dtype_to_np_dtype(given.i)
    if own == given.i or array.dtype.isbuiltin != 1 or named.isbuiltin != 1:
        return
    formal = formal_inputs(node, model)[0].name
    cases = (_named(case, own), _fed(case, node.input[0], array.astype(named)))
    sentence = f"With `{NAME}` and `{node.input[0]}` of one type, {array.dtype.name} or {named.name}, the model passes."
    yield Variant(TYPES, f"{NAME} other than that of {formal}", sentence, cases)


def _named(case: Case, kind: int) -> Case:
    model = load(case)
    next(one for one in model.graph.node[0].attribute if one.name == NAME).i = kind
    retyped(model)
    return neighbour(case, model)


def _fed(case: Case, name: str, array: Array) -> Case:
    model: onnx.ModelProto = load(case)
    for info in model.graph.input:
        if info.name == name:
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(array.dtype))
    return with_tensors(case, model, {name: array})
