"""Smaller tensors in an operator instance, equal sizes together as well as alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fuzz.case import Case
from fuzz.instance import Instance, Tensor
from fuzz.wire import Value
from triage.passes._instances import mapped, parsed, with_instance
from triage.passes._sizes import Plan, plans

KINDS = ("instance", "keras")


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Every plan as it is, and with the numbers among the arguments that equal a changed size following it."""
    instance = parsed(case)
    shapes = {str(at): tensor.shape for at, tensor in enumerate(instance.tensors)}
    for plan in plans(shapes, frozenset(shapes)):
        sliced = _sliced(instance, plan)
        yield with_instance(case, sliced)
        if plan.sizes:
            yield with_instance(case, mapped(sliced, partial(_following, plan.sizes)))
    yield from _fewer_axes(case, instance)


def _following(sizes: Mapping[int, int], item: Any) -> Any:
    return sizes.get(item, item) if type(item) is int else item


def _sliced(instance: Instance, plan: Plan) -> Instance:
    tensors = list(instance.tensors)
    for key, shape in plan.shapes.items():
        tensors[int(key)] = _shaped(tensors[int(key)], shape)
    return replace(instance, tensors=tuple(tensors))


def _shaped(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Explicit values are sliced; drawn ones are drawn anew."""
    if tensor.values is None:
        return replace(tensor, shape=shape)
    positions = np.arange(len(tensor.values)).reshape(tensor.shape)[tuple(slice(size) for size in shape)]
    return replace(tensor, shape=shape, values=tuple(tensor.values[at] for at in positions.ravel()))


def _fewer_axes(case: Case, instance: Instance) -> Iterator[Case]:
    """Without the first or last axis of all tensors of the highest rank, down to rank 1; its first element stays."""
    rank = max((len(tensor.shape) for tensor in instance.tensors), default=0)
    for axis in (0, rank - 1) if rank > 1 else ():
        tensors = tuple(_without(each, axis) if len(each.shape) == rank else each for each in instance.tensors)
        if tensors != instance.tensors:
            yield with_instance(case, replace(instance, tensors=tensors))


def _without(tensor: Tensor, axis: int) -> Tensor:
    """The first of the tensors that this one consists of along an axis; an axis of no elements stays."""
    before, size, behind = tensor.shape[:axis], tensor.shape[axis], tensor.shape[axis + 1 :]
    if not size:
        return tensor
    return replace(_shaped(tensor, (*before, 1, *behind)), shape=(*before, *behind))
