"""Operators that are given nothing where they may be given something: with a tensor in its place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.leftout import TEXT
from triage.schemas import schema_of
from triage.submodel import load, value_info
from triage.variants import Variant, neighbour
from triage.variants.relations import KIND

_GIVEN = np.array([1.0, 2.0], np.float32)


def variants(case: Case) -> Iterator[Variant]:
    """The model of one node that reads nothing, with a tensor as its first input, if it may have one."""
    model = load(case)
    node = model.graph.node[0] if len(model.graph.node) == 1 else None
    schema = schema_of(node, model) if node is not None and not any(node.input) else None
    if node is None or schema is None or not schema.inputs:
        return
    formal = schema.inputs[0]
    if formal.option != OpSchema.FormalParameterOption.Optional:
        return
    info = value_info("given", _GIVEN)
    node.input[:] = ["given"]
    model.graph.input.extend([info] if info is not None else [])
    sentence = f"With a tensor given as `{formal.name}` the same model passes."
    yield Variant(KIND, f"{formal.name}{TEXT}", sentence, (neighbour(case, model, {**case.inputs, "given": _GIVEN}),))
