"""Attributes that a model leaves out, spelled out as their defaults: a compiler may take something else for these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import AttributeProto, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.inquiry import Condition, Inquiry
from triage.schemas import attribute_text, schema_of
from triage.submodel import load, tensors
from triage.variants import Variant, neighbour

KIND = "default"
#: Defaults that only the specification's text tells: the number, and how often for each axis of an image.
_PER_AXIS = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 2)}


def left_out(inquiry: Inquiry) -> Iterator[tuple[Condition, Variant]]:
    """The attributes without which alone the model of one node fails; all are spelled out at once before each is."""
    case = inquiry.failure.case
    found = list(_defaults(case)) if case.kind == "onnx" else []
    if not found or not inquiry.passes(_spelled(case, found)):
        return
    for attribute in found:
        other = _spelled(case, [attribute])
        if inquiry.passes(other):
            text = f"{attribute.name} left out"
            sentence = f"With its default, `{attribute_text(attribute)}`, spelled out the same model passes."
            yield Condition(KIND, text, sentence, needed=True), Variant(KIND, text, sentence, (other,))


def _spelled(case: Case, attributes: Sequence[AttributeProto]) -> Case:
    model = parsed(case.model)
    model.graph.node[0].attribute.extend(attributes)
    return neighbour(case, model)


def _defaults(case: Case) -> Iterator[AttributeProto]:
    """The optional attributes that the only node does not have, as they then are; none that is told by others."""
    model = parsed(case.model)
    schema = schema_of(model.graph.node[0], model) if len(model.graph.node) == 1 else None
    if schema is None:
        return
    given = {attribute.name for attribute in model.graph.node[0].attribute}
    for name, known in schema.attributes.items():
        if name not in given and not known.required and (value := _default(case, known, given)) is not None:
            yield value


def _default(case: Case, known: OpSchema.Attribute, given: set[str]) -> AttributeProto | None:
    if known.default_value.type:
        return known.default_value
    axes = _image_axes(case)
    if known.name not in _PER_AXIS or axes < 1 or (known.name == "pads" and "auto_pad" in given):
        return None
    number, times = _PER_AXIS[known.name]
    return helper.make_attribute(known.name, [number] * times * axes)


def _image_axes(case: Case) -> int:
    """How many axes the first input has behind those of the batch and the channels."""
    model = load(case)
    first = tensors(case, model).get(model.graph.node[0].input[0]) if model.graph.node[0].input else None
    return first.ndim - 2 if first is not None else 0
