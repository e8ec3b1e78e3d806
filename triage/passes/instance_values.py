"""Simple numbers in the tensors of an operator instance, and inputs instead of constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from fuzz import instance as instances
from fuzz.case import Case
from fuzz.instance import Instance, Tensor
from fuzz.wire import Value
from triage.passes._forms import FORMS, simpler
from triage.passes._instances import parsed, with_instance

KINDS = ("instance", "keras")
#: A larger tensor is shorter to write as a seed.
_MOST_WRITTEN = 64


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All tensors in the same form, the simplest first; then every tensor on its own; then no constants."""
    instance = parsed(case)
    forms = [_forms(tensor, value) for tensor, value in _drawn(instance)]
    for number in range(len(FORMS)):
        changed = [form.get(number, tensor) for form, tensor in zip(forms, instance.tensors, strict=True)]
        yield with_instance(case, replace(instance, tensors=tuple(changed)))
    for at, form in enumerate(forms):
        for tensor in form.values():
            yield _with(case, instance, at, tensor)
    for at, tensor in enumerate(instance.tensors):
        yield _with(case, instance, at, replace(tensor, constant=False))


def _with(case: Case, instance: Instance, at: int, tensor: Tensor) -> Case:
    tensors = (*instance.tensors[:at], tensor, *instance.tensors[at + 1 :])
    return with_instance(case, replace(instance, tensors=tensors))


def _drawn(instance: Instance) -> list[tuple[Tensor, Value]]:
    return list(zip(instance.tensors, instances.tensors(instance), strict=True))


def _forms(tensor: Tensor, value: Value) -> dict[int, Tensor]:
    """The tensor in every simpler form, with explicit values."""
    if not isinstance(value, np.ndarray) or value.size > _MOST_WRITTEN:
        return {}
    return {
        number: Tensor(tensor.dtype, tensor.shape, values=scalars(array), constant=tensor.constant)
        for number, array in simpler(value)
    }


def scalars(array: np.ndarray) -> tuple[bool | int | float | complex, ...]:
    """The elements as Python scalars; those of the small dtypes by way of float32."""
    plain = array if array.dtype.kind in "biufc" else array.astype(np.float32)
    return tuple(plain.ravel().tolist())
