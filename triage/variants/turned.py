"""The axis along which an operator works, moved: all tensors of its data's dimensions are turned with it.

What is wrong along the first axis and right along the last is told so. And that a model passes without its `axis` may
be for what its data hold: along another axis they are other data.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import AttributeProto, helper

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.schemas import schema_of
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant
from triage.variants.relations import KIND, Wider

_NAME = "axis"
#: The condition, and what is said of it where a middle axis fails as well.
FIRST, BUT_LAST = "axis=0", "axis other than the last"


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node that works along axis 0, as it has no other, along the last one."""
    found = _axis(case)
    if found is None or found[0] or found[1] < 2:
        return
    sentence = "With the same data turned, so that the last axis takes the place of axis 0, the same model passes."
    yield Variant(KIND, FIRST, sentence, (_moved(case, found[1] - 1),))


def wider(case: Case, variant: Variant) -> Iterator[Wider]:
    """Along an axis in the middle, if there is one."""
    found = _axis(case)
    if found is not None and found[1] > 2 and (variant.kind, variant.text) == (KIND, FIRST):
        yield Wider(f"the data turned to `{_NAME}=1`", _moved(case, 1), BUT_LAST)


def back(case: Case, variant: Variant) -> Iterator[tuple[str, Case]]:
    """The data turned to the attribute's default, in words and as a case: what fails then as well does not need it."""
    found = _axis(case)
    if found is None or variant.kind != "attribute" or variant.text.partition("=")[0] != _NAME:
        return
    axis, rank, default = found
    if axis != default and rank > 1:
        yield f"the data turned to the default axis, {default},", _moved(case, default)


def _axis(case: Case) -> tuple[int, int, int] | None:
    """The axis of the only node, how many its data have, and the default; None where it has not one axis."""
    model = load(case)
    if len(model.graph.node) != 1:
        return None
    node = model.graph.node[0]
    schema = schema_of(node, model)
    known = schema.attributes.get(_NAME) if schema else None
    data = tensors(case, model).get(node.input[0]) if node.input else None
    if known is None or known.default_value.type != AttributeProto.INT or data is None:
        return None
    given = next((one.i for one in node.attribute if one.name == _NAME), known.default_value.i)
    if not -data.ndim <= given < data.ndim:
        return None  # Flatten may have one behind the last
    return given % data.ndim, data.ndim, known.default_value.i % data.ndim


def _moved(case: Case, to: int) -> Case:
    """The case along another axis, with every tensor of as many dimensions as the data turned."""
    found = _axis(case)
    assert found is not None
    axis, rank, default = found
    model = load(case)
    node = model.graph.node[0]
    arrays = {
        name: np.ascontiguousarray(np.moveaxis(array, axis, to))
        for name, array in tensors(case, parsed(case.model)).items()
        if array.ndim == rank and name in node.input
    }
    kept = [one for one in node.attribute if one.name != _NAME]
    del node.attribute[:]
    node.attribute.extend([*kept, *([helper.make_attribute(_NAME, to)] if to != default else [])])
    open_shapes(model)
    return with_tensors(case, model, arrays)
