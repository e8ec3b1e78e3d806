"""Simple numbers in inputs and initializers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._forms import FORMS, simpler
from triage.submodel import load, tensors, with_tensors

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All floating-point tensors in the same form, the simplest form first; then every tensor on its own."""
    arrays = tensors(case, load(case))
    forms = {name: dict(simpler(array)) for name, array in arrays.items()}
    floats = [name for name, array in arrays.items() if array.dtype.kind not in "iub"]
    for number in range(len(FORMS)):
        changed = {name: forms[name][number] for name in floats if number in forms[name]}
        if len(changed) > 1:
            yield _with(case, changed)
    for name in arrays:
        for array in forms[name].values():
            yield _with(case, {name: array})


def _with(case: Case, changed: Mapping[str, np.ndarray]) -> Case:
    return with_tensors(case, load(case), changed)
