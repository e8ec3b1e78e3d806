"""An optional input that is shorter than it may be, as long as another input: a mask for a part of the keys.

That a model passes without the input says less than that it passes with all of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.schemas import formal_inputs
from triage.submodel import load, open_shapes, tensors, with_tensors
from triage.variants import Variant
from triage.variants.relations import KIND

#: How a condition goes on behind the input's name.
SHORTER = " shorter than "
#: Inputs with fewer dimensions are one number for each channel, which nobody stretches.
_LEAST_RANK = 2


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node whose optional input is, along its last axis, as long as an axis of another input.

    What the input says beyond its end is what it says there.
    """
    model = load(case)
    if len(model.graph.node) != 1:
        return
    known = tensors(case, model)
    named = list(zip(model.graph.node[0].input, formal_inputs(model.graph.node[0], model), strict=False))
    for name, formal in named:
        optional = formal.option == OpSchema.FormalParameterOption.Optional
        given = known.get(name)
        if not optional or given is None or given.ndim < _LEAST_RANK or not given.size:
            continue
        for length, other in _lengths(named, known, name):
            if length > given.shape[-1]:
                more = [(0, 0)] * (given.ndim - 1) + [(0, length - given.shape[-1])]
                whole = np.pad(given, more, mode="edge")
                open_shapes(changed := load(case))
                said = f"With `{name}` of shape {whole.shape}, as long as `{other}`, the same model passes."
                cases = (with_tensors(case, changed, {name: whole}),)
                yield Variant(KIND, f"{formal.name}{SHORTER}{other}", said, cases)


def _lengths(
    named: list[tuple[str, OpSchema.FormalParameter]], known: dict[str, np.ndarray], name: str
) -> list[tuple[int, str]]:
    """The lengths of the other inputs' axes but the last, each once, with the first input that has it."""
    found: dict[int, str] = {}
    for other, formal in named:
        if other != name and other in known and known[other].ndim >= _LEAST_RANK:
            for length in known[other].shape[:-1]:
                found.setdefault(int(length), formal.name)
    return list(found.items())
