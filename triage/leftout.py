"""Attributes that a model leaves out, spelled out as their defaults: a compiler may take something else for these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from onnx import AttributeProto, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.inquiry import Condition, Inquiry
from triage.mutants import sizes
from triage.schemas import attribute_text, formal_inputs, schema_of
from triage.submodel import load, tensors
from triage.variants import Variant, neighbour
from triage.wording import enumerated

KIND = "default"
#: How a condition ends.
TEXT = " left out"
#: Defaults that only the specification's text tells: the number, and how often for each axis of an image.
_PER_AXIS = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 2)}

#: Attributes without a default that any number may be given to: without them it is drawn.
_DRAWN = {"seed": 1.0}
#: What follows from the shape of an input: which input that is, and which of its sizes.
_FROM_INPUT = {"hidden_size": ("R", slice(-1, None)), "kernel_shape": ("W", slice(2, None))}
#: More attributes than this tell nobody which of them is meant.
_FEW = 2
#: Other sizes that are tried where the model fails otherwise with its attributes spelled out.
MOST_SIZES = 40


def left_out(inquiry: Inquiry) -> Iterator[tuple[Condition, Variant]]:
    """The attributes without which alone the model of one node fails; all are spelled out at once before each is."""
    case = inquiry.failure.case
    found = list(_defaults(case)) if case.kind == "onnx" else []
    if not found:
        return
    if not inquiry.passes(_spelled(case, found)):
        yield from _on_other_sizes(inquiry, found)
        return
    alone = [attribute for attribute in found if inquiry.passes(_spelled(case, [attribute]))]
    together = [] if alone else _together(inquiry, found)
    for one in [[attribute] for attribute in alone] or ([together] if 0 < len(together) <= _FEW else []):
        yield _needed(_spelled(case, one), one)


def _together(inquiry: Inquiry, found: Sequence[AttributeProto]) -> list[AttributeProto]:
    """The fewest that must be spelled out together, since none is enough: one after the other is left out again."""
    kept = list(found)
    for attribute in found:
        fewer = [one for one in kept if one is not attribute]
        if inquiry.passes(_spelled(inquiry.failure.case, fewer)):
            kept = fewer
    return kept


def _needed(case: Case, spelled: Sequence[AttributeProto], on: str = "") -> tuple[Condition, Variant]:
    """What a model without these attributes lacks; `case` has them and passes, `on` other sizes if that is said."""
    text = f"{enumerated([one.name for one in spelled])}{TEXT}"
    told = enumerated([f"`{attribute_text(one)}`" for one in spelled])
    how = "their defaults" if len(spelled) > 1 else "its default"
    where = f" on {on} the" if on else " the same"
    sentence = f"With {how}, {told}, spelled out{where} model passes."
    if {one.name for one in spelled} <= set(_DRAWN):
        sentence = f"With {told} given{where} model is taken."  # what is drawn then is right or wrong for nobody
    return Condition(KIND, text, sentence, needed=True), Variant(KIND, text, sentence, (case,))


def _on_other_sizes(inquiry: Inquiry, found: Sequence[AttributeProto]) -> Iterator[tuple[Condition, Variant]]:
    """The attribute without which alone the model fails on the first other sizes: on its own it fails otherwise, too.

    Only what no number tells by itself is asked about: what follows from an input's shape.
    """
    case = inquiry.failure.case
    for attribute in (one for one in found if one.name in _FROM_INPUT):
        for mutant in islice(sizes(case), MOST_SIZES):
            if inquiry.over():
                return
            other = _spelled(mutant.case, [attribute])
            if inquiry.passes(other) and inquiry.passes(mutant.case) is False:
                yield _needed(other, [attribute], mutant.said)
                return


def with_defaults(case: Case) -> Case | None:
    """The case with all defaults spelled out; None where it leaves nothing out."""
    found = list(_defaults(case)) if case.kind == "onnx" else []
    return _spelled(case, found) if found else None


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
    if known.name in _FROM_INPUT:
        return _from_input(case, known)
    if known.name in _DRAWN and known.type == OpSchema.AttrType.FLOAT:
        return helper.make_attribute(known.name, _DRAWN[known.name])
    axes = _image_axes(case)
    if known.name not in _PER_AXIS or axes < 1 or (known.name == "pads" and "auto_pad" in given):
        return None
    number, times = _PER_AXIS[known.name]
    return helper.make_attribute(known.name, [number] * times * axes)


def _from_input(case: Case, known: OpSchema.Attribute) -> AttributeProto | None:
    """What an attribute must be by the shape of an input; None where the node does not read that."""
    formal, place = _FROM_INPUT[known.name]
    model = load(case)
    node, arrays = model.graph.node[0], tensors(case, model)
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    array = next((arrays.get(name) for name, one in pairs if one.name == formal), None)
    told = [int(size) for size in array.shape[place]] if array is not None else []
    if not told:
        return None
    return helper.make_attribute(known.name, told[0] if known.type == OpSchema.AttrType.INT else told)


def _image_axes(case: Case) -> int:
    """How many axes the first input has behind those of the batch and the channels."""
    model = load(case)
    first = tensors(case, model).get(model.graph.node[0].input[0]) if model.graph.node[0].input else None
    return first.ndim - 2 if first is not None else 0
