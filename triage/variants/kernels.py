"""Kernels of size 1, larger: compilers make something else of a convolution that looks at one place only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fuzz.case import Case
from triage.literals import Array
from triage.schemas import formal_inputs, schema_of
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant
from triage.variants.relations import KIND

#: How the condition begins; what tells the sizes of a kernel, and the input that has them behind its first two.
TEXT = "kernel of "
_ATTRIBUTE, _FORMALS, _LEADING = "kernel_shape", ("W", "w"), 2


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node whose kernel is 1 along every axis with a kernel of 2, on data as they are or larger."""
    model = load(case)
    if len(model.graph.node) != 1:
        return
    node = model.graph.node[0]
    schema = schema_of(node, model)
    if schema is None or _ATTRIBUTE not in schema.attributes:
        return
    known = tensors(case, model)
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    name = next((name for name, formal in pairs if formal.name in _FORMALS and name in known), "")
    data, axes = known.get(node.input[0]), known[name].ndim - _LEADING if name else 0
    if data is None or axes < 1 or set(known[name].shape[_LEADING:]) != {1}:
        return
    kept = [one for one in node.attribute if one.name != _ATTRIBUTE]
    del node.attribute[:]
    node.attribute.extend(kept)
    open_shapes(model)
    wide = {name: _grown(known[name], 1)}
    said = "x".join(["1"] * axes)
    sentence = f"With a kernel of {'x'.join(['2'] * axes)}, on larger data too, the same model passes."
    cases = (with_tensors(case, model, {**wide, node.input[0]: _grown(data, by)}) for by in (1, 2))
    yield Variant(KIND, TEXT + said, sentence, tuple(cases))


def _grown(array: Array, by: int) -> Array:
    """The tensor with more places along the axes of its image, its numbers again and again."""
    return np.resize(array, (*array.shape[:_LEADING], *(size + by for size in array.shape[_LEADING:])))
