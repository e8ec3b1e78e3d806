"""Inputs whose sizes are left open, declared with the very sizes that they are fed with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.wire import Raw
from triage.submodel import load
from triage.variants import Variant, neighbour

#: What a title says of inputs with a size that is no number.
TEXT = "symbolic dimensions"


def variants(case: Case) -> Iterator[Variant]:
    """The model with every declared size a number; none where all are numbers already."""
    model = load(case)
    opened = [info.name for info in model.graph.input if _close(info, case)]
    if opened:
        names = " and ".join(f"`{name}`" for name in opened)
        sentence = f"With the sizes of {names} declared as numbers the same model passes."
        yield Variant("value", TEXT, sentence, (neighbour(case, model),))


def _close(info: onnx.ValueInfoProto, case: Case) -> bool:
    """Declare the sizes that the input is fed with; whether one of them was open."""
    value, dims = case.inputs.get(info.name), info.type.tensor_type.shape.dim
    if not isinstance(value, np.ndarray | Raw) or len(value.shape) != len(dims):
        return False
    some = any(not dim.HasField("dim_value") for dim in dims)
    for dim, size in zip(dims, value.shape, strict=True):
        dim.dim_value = size
    return some
