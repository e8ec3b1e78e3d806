"""Indices for a part of the data only, with data that are no larger along the other axes."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import helper

from fuzz.case import Case
from triage.schemas import formal_inputs, schema_of
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant
from triage.variants.relations import KIND

_FORMAL = "indices"
_AXIS = "axis"


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node whose indices have the dimensions of its data, but smaller ones."""
    model = load(case)
    if len(model.graph.node) != 1:
        return
    node = model.graph.node[0]
    schema = schema_of(node, model)
    if schema is None or _AXIS not in schema.attributes:
        return
    known = tensors(case, model)
    data, rank = known.get(node.input[0]), len(model.graph.output[0].type.tensor_type.shape.dim)
    given = [helper.get_attribute_value(one) for one in node.attribute if one.name == _AXIS]
    axis = given[0] if given else schema.attributes[_AXIS].default_value.i
    if data is None or rank != data.ndim or not -rank <= axis < rank:
        return  # where each index takes a whole slice, the result has more dimensions
    for name, formal in zip(node.input, formal_inputs(node, model), strict=False):
        if formal.name != _FORMAL or name not in known or known[name].ndim != rank:
            continue
        sizes = list(known[name].shape)
        sizes[axis] = data.shape[axis]
        if tuple(sizes) != data.shape:
            open_shapes(model)
            cut = data[tuple(slice(size) for size in sizes)]
            first = formal_inputs(node, model)[0].name
            said = f"With `{node.input[0]}` of shape {cut.shape}, no larger than `{name}` but along the axis,"
            other = with_tensors(case, model, {node.input[0]: cut})
            text = f"{_FORMAL} smaller than {first}"
            yield Variant(KIND, text, f"{said} the same model passes.", (other,))
