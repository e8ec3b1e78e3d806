"""Attributes of one family that a compiler does not look at either: left_window_size, and right_window_size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import AttributeProto, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.bits import identical
from triage.inquiry import Condition, Inquiry
from triage.schemas import attribute_text, schema_of
from triage.submodel import load, replace_items
from triage.variants import neighbour
from triage.wording import enumerated

KIND = "ignored beside"
#: Values that are tried besides the one of the attribute itself.
_VALUES = (0, 1)
_GIVEN, _OPPOSITE = "given", "opposite"
_PLACES = {_GIVEN: "in its place", _OPPOSITE: "in its place and the opposites of the inputs"}


def ignored_beside(inquiry: Inquiry, ignored: Condition) -> Condition | None:
    """The attributes, akin by their names to the `ignored` one, that the compiler ignores as well; None where none is.

    Each is given alone, in the place of the other: the right result changes, the compiler's is the same to the bit.
    Where the right result does not change either, so it is with the opposites of the inputs.
    """
    case, name = inquiry.failure.case, ignored.text.partition("=")[0]
    texts: dict[str, tuple[str, str]] = {}
    for akin, other in _akin(case, name) if case.kind == "onnx" else ():
        inputs = _ignored_on(inquiry, other, akin) if akin not in texts and not inquiry.over() else ""
        if inputs:
            given = load(other).graph.node[0].attribute
            texts[akin] = (attribute_text(next(one for one in given if one.name == akin)), inputs)
    if not texts:
        return None
    sentences = [
        f"With {enumerated(told)} {place} the result is wrong as well, and the compiler's stays the same to the bit."
        for inputs, place in _PLACES.items()
        if (told := [f"`{text}`" for text, on in texts.values() if on == inputs])
    ]
    return Condition(KIND, enumerated(list(texts)), " ".join(sentences), needed=False)


def _ignored_on(inquiry: Inquiry, other: Case, akin: str) -> str:
    """On which inputs the compiler gives the same with the attribute, and wrongly: the given ones or their opposites,
    since an attribute about one sign tells nothing of numbers of the other; "" for neither."""
    verdict = inquiry.verdict(other)
    if verdict and verdict.failure:
        return _GIVEN if identical(verdict.failure.outcome, inquiry.failure.outcome) else ""
    turned = opposite(other)
    told = inquiry.verdict(turned) if turned and not inquiry.over() else None
    if turned is None or told is None or told.failure is None:
        return ""
    plain = inquiry.verdict(_without(turned, akin))
    same = plain is not None and plain.outcome is not None and identical(told.failure.outcome, plain.outcome)
    return _OPPOSITE if same else ""


def opposite(case: Case) -> Case | None:
    """The case with the opposite of each real input; None where there is no other sign, or no real input."""
    real = {
        name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    }
    return (
        neighbour(case, load(case), {**case.inputs, **{name: -value for name, value in real.items()}}) if real else None
    )


def _without(case: Case, name: str) -> Case:
    model = load(case)
    node = model.graph.node[0]
    replace_items(node.attribute, [one for one in node.attribute if one.name != name])
    return neighbour(case, model)


def _akin(case: Case, name: str) -> Iterator[tuple[str, Case]]:
    """(attribute, the case with it in the place of the one called `name`), a few values for each."""
    model = load(case)
    node = model.graph.node[0]
    schema = schema_of(node, model) if len(model.graph.node) == 1 else None
    own = next((one for one in node.attribute if one.name == name), None)
    if schema is None or own is None or own.type != AttributeProto.INT:
        return
    given = {one.name for one in node.attribute}
    for known in schema.attributes.values():
        if known.name in given or known.type != OpSchema.AttrType.INT or not _words(known.name) & _words(name):
            continue
        for value in dict.fromkeys((own.i, *_VALUES)):
            other = load(case)
            attribute = next(one for one in other.graph.node[0].attribute if one.name == name)
            attribute.CopyFrom(helper.make_attribute(known.name, value))
            yield known.name, neighbour(case, other)


def _words(name: str) -> set[str]:
    return set(name.lower().split("_"))
