"""Simple numbers in inputs and initializers, and in the constants of nodes and bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import numpy_helper

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._forms import FORMS, simpler
from triage.submodel import inner_tensors, load, tensors, with_model, with_tensors

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All floating-point tensors in the same form, the simplest form first; then every tensor on its own.

    Then the constants of nodes and bodies in the same way.
    """
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
    yield from _within(case)


def _within(case: Case) -> Iterator[Case]:
    """All constants of nodes and bodies that have a form in it; then each alone."""
    held = [numpy_helper.to_array(tensor) for tensor in inner_tensors(load(case).graph)]
    forms = [dict(simpler(array)) for array in held]
    for number in range(len(FORMS)):
        changed = {at: form[number] for at, form in enumerate(forms) if number in form and held[at].dtype.kind == "f"}
        if len(changed) > 1:
            yield _holding(case, changed)
    for at, form in enumerate(forms):
        for array in form.values():
            yield _holding(case, {at: array})


def _holding(case: Case, changed: Mapping[int, np.ndarray]) -> Case:
    model = load(case)
    for at, tensor in enumerate(inner_tensors(model.graph)):
        if at in changed:
            tensor.CopyFrom(numpy_helper.from_array(changed[at], tensor.name))
    return with_model(case, model)


def _with(case: Case, changed: Mapping[str, np.ndarray]) -> Case:
    return with_tensors(case, load(case), changed)
