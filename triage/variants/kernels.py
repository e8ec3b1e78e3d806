"""Kernels larger: of one place, of which compilers make something else, and smaller than the steps between windows."""

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
#: How a pool is told whose windows leave numbers out between them; the last one may begin behind the data then.
APART = "strides larger than kernel_shape"


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


def wider(case: Case) -> Iterator[Variant]:
    """The pool whose windows lie apart with windows that touch, on data that hold one of them or more."""
    model = load(case)
    if len(model.graph.node) != 1:
        return
    node = model.graph.node[0]
    known = {one.name: list(one.ints) for one in node.attribute if one.name in (_ATTRIBUTE, "strides")}
    data = tensors(case, model).get(node.input[0]) if node.input else None
    kernel, strides = known.get(_ATTRIBUTE, []), known.get("strides", [])
    if any(one.name == "dilations" and set(one.ints) != {1} for one in node.attribute):
        return  # such a window leaves numbers out within
    if (
        data is None
        or not data.size
        or len(node.input) != 1
        or data.ndim != _LEADING + len(kernel)
        or len(kernel) != len(strides)
    ):
        return
    if all(step <= size for size, step in zip(kernel, strides, strict=True)):
        return
    touching = [max(pair) for pair in zip(kernel, strides, strict=True)]
    next(one for one in node.attribute if one.name == _ATTRIBUTE).ints[:] = touching
    open_shapes(model)
    sizes = [max(pair) for pair in zip(data.shape[_LEADING:], touching, strict=True)]
    larger = (np.resize(data, (*data.shape[:_LEADING], *(size + by for size in sizes))) for by in (0, 1))
    cases = tuple(with_tensors(case, model, {node.input[0]: array}) for array in larger)
    sentence = f"With `kernel_shape={touching}`, which leaves nothing out between windows, the same model passes."
    yield Variant(KIND, APART, sentence, cases)


def _grown(array: Array, by: int) -> Array:
    """The tensor with more places along the axes of its image, its numbers again and again."""
    return np.resize(array, (*array.shape[:_LEADING], *(size + by for size in array.shape[_LEADING:])))
