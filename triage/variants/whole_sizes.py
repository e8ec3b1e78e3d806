"""Data whose sizes times the scales are whole numbers: a compiler that divides sizes is right on these alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fuzz.case import Case
from triage.literals import Array
from triage.schemas import formal_inputs
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant
from triage.variants.relations import KIND

TEXT = "scales that give no whole sizes"
#: What the specification calls the factors; the largest denominator of a fraction that somebody writes.
_FORMAL, _MOST_PARTS = "scales", 16
#: No axis is made longer than this.
_LONGEST = 64


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node on data that is longer along the axes on which a scale does not give a whole size."""
    model = load(case)
    if len(model.graph.node) != 1:
        return
    node, known = model.graph.node[0], tensors(case, model)
    pairs = zip(node.input, formal_inputs(node, model), strict=False)
    scales = next((known[name] for name, one in pairs if one.name == _FORMAL and name in known), None)
    data = known.get(node.input[0]) if node.input else None
    if scales is None or data is None or scales.dtype.kind != "f" or scales.shape != (data.ndim,):
        return
    sizes = [_whole(size, float(scale)) for size, scale in zip(data.shape, scales, strict=True)]
    if tuple(sizes) == data.shape or not data.size or max(sizes) > _LONGEST:
        return
    open_shapes(model)
    cases = tuple(with_tensors(case, model, {node.input[0]: _numbered(sizes, data, step)}) for step in (7, 5))
    sentence = f"With `{node.input[0]}` of shape {tuple(sizes)}, whose scaled sizes are whole, the model passes."
    yield Variant(KIND, TEXT, sentence, cases)


def _whole(size: int, scale: float) -> int:
    """The size, or the next one that the scale makes a whole number."""
    parts = Fraction(scale).limit_denominator(_MOST_PARTS).denominator
    return size if abs(size * scale - round(size * scale)) < 1e-5 else (size // parts + 1) * parts


def _numbered(sizes: list[int], like: Array, step: int) -> Array:
    """Small numbers that differ from their neighbours along every axis."""
    count = int(np.prod(sizes))
    return ((np.arange(count) * step) % 11 + 1).reshape(sizes).astype(like.dtype)
