"""Variants of an operator instance that differ in a single thing: where a passing neighbour is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz import instance as instances
from fuzz.case import Case
from fuzz.instance import Tensor
from triage.passes._instances import changed, dropped, is_tensor, parsed, places, with_instance
from triage.passes.instance_values import scalars

#: The dtypes that are tried in the place of another.
_KIN = {
    "float32": "float64",
    "float64": "float32",
    "float16": "float32",
    "bfloat16": "float32",
    "complex64": "complex128",
    "complex128": "complex64",
    "int64": "int32",
    "int32": "int64",
    "int16": "int64",
    "int8": "int64",
    "uint8": "int64",
    "bool": "int64",
}


def variants(case: Case) -> Iterator[Case]:
    """What people would try first: arguments left out, other arguments, dtypes, values, shapes, inputs as constants."""
    yield from _without_an_argument(case)
    yield from _other_arguments(case)
    yield from _other_dtypes(case)
    yield from other_values(case)
    yield from _other_shapes(case)
    yield from _given_otherwise(case)


def _without_an_argument(case: Case) -> Iterator[Case]:
    """Without each argument; of those by position the last."""
    instance = parsed(case)
    for place in places(instance):
        args = instance.init[0] if place.init and instance.init else instance.args
        if not isinstance(place.key, int) or place.key == len(args) - 1 > 0:
            yield with_instance(case, dropped(instance, place))


def _other_arguments(case: Case) -> Iterator[Case]:
    instance = parsed(case)
    for place in places(instance):
        for other in _others(place.of(instance)):
            yield with_instance(case, changed(instance, place, other))


def _others(given: Any) -> Iterator[Any]:
    """Flags flipped, numbers 0, 1, one down and one up, lists item by item, None for all else."""
    if isinstance(given, bool):
        yield not given
    elif isinstance(given, int | float):
        yield from (number for number in dict.fromkeys((0, 1, given - 1, given + 1)) if number != given)
    elif isinstance(given, list):
        for at, item in enumerate(given):
            for other in _others(item):
                yield [*given[:at], other, *given[at + 1 :]]
    elif isinstance(given, dict) and "tuple" in given:
        yield from ({"tuple": other} for other in _others(given["tuple"]))
    elif isinstance(given, str) or (isinstance(given, dict) and not is_tensor(given)):
        yield None


def _other_dtypes(case: Case) -> Iterator[Case]:
    """Each tensor in the dtype nearest to its own."""
    instance = parsed(case)
    for at, tensor in enumerate(instance.tensors):
        if tensor.dtype in _KIN:
            yield _with_tensor(case, at, replace(tensor, dtype=_KIN[tensor.dtype]))


def other_values(case: Case) -> Iterator[Case]:
    """Each tensor all ones, all zeros, without its signs, and counted."""
    instance = parsed(case)
    for at, (tensor, value) in enumerate(zip(instance.tensors, instances.tensors(instance), strict=True)):
        if not isinstance(value, np.ndarray) or not value.size or value.dtype.kind not in "biufc":
            continue
        others = [np.full_like(value, 1), np.full_like(value, 0)]
        if value.dtype.kind in "fi":
            counted = np.arange(value.size).reshape(value.shape) + 1
            others += [np.abs(value), counted.astype(value.dtype)]
        for other in others:
            yield _with_tensor(case, at, replace(tensor, values=scalars(other), low=None, high=None))


def _other_shapes(case: Case) -> Iterator[Case]:
    """Each axis of each tensor one longer, of size 1, and of size 2; explicit values repeat."""
    for at, tensor in enumerate(parsed(case).tensors):
        for axis, size in enumerate(tensor.shape):
            for target in (size + 1, 1, 2):
                shape = (*tensor.shape[:axis], target, *tensor.shape[axis + 1 :])
                if target != size:
                    yield _with_tensor(case, at, _resized(tensor, shape))


def _resized(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    if tensor.values is None:
        return replace(tensor, shape=shape)
    count = int(np.prod(shape))
    values = tensor.values * (count // max(1, len(tensor.values)) + 1)
    return replace(tensor, shape=shape, values=values[:count])


def _given_otherwise(case: Case) -> Iterator[Case]:
    for at, tensor in enumerate(parsed(case).tensors):
        yield _with_tensor(case, at, replace(tensor, constant=not tensor.constant))


def _with_tensor(case: Case, at: int, tensor: Tensor) -> Case:
    instance = parsed(case)
    return with_instance(case, replace(instance, tensors=(*instance.tensors[:at], tensor, *instance.tensors[at + 1 :])))
