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
from triage.passes._axes import without_axis
from triage.passes._instances import mapped, parsed, with_instance
from triage.passes._sizes import Plan, plans

KINDS = ("instance", "keras")


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Every plan with the first elements of each axis, with the last, and with numbers among the arguments following.

    Those follow that equal a changed size. Then without axes.
    """
    instance = parsed(case)
    shapes = {str(at): tensor.shape for at, tensor in enumerate(instance.tensors)}
    for plan in plans(shapes, frozenset(shapes)):
        sliced = _sliced(instance, plan)
        yield with_instance(case, sliced)
        if (ends := _sliced(instance, plan, last=True)) != sliced:
            yield with_instance(case, ends)
        if plan.sizes:
            yield with_instance(case, mapped(sliced, partial(_following, plan.sizes)))
    yield from _fewer_axes(case, instance)


def _following(sizes: Mapping[int, int], item: Any) -> Any:
    return sizes.get(item, item) if type(item) is int else item


def _sliced(instance: Instance, plan: Plan, last: bool = False) -> Instance:
    tensors = list(instance.tensors)
    for key, shape in plan.shapes.items():
        tensors[int(key)] = _shaped(tensors[int(key)], shape, last)
    return replace(instance, tensors=tuple(tensors))


def _shaped(tensor: Tensor, shape: tuple[int, ...], last: bool = False) -> Tensor:
    """Explicit values are sliced, those at the end of each axis are kept if `last`; drawn ones are drawn anew."""
    if tensor.values is None:
        return replace(tensor, shape=shape)
    sizes = zip(tensor.shape, shape, strict=True)
    kept = tuple(slice(old - new, old) if last else slice(new) for old, new in sizes)
    positions = np.arange(len(tensor.values)).reshape(tensor.shape)[kept]
    return replace(tensor, shape=shape, values=tuple(tensor.values[at] for at in positions.ravel()))


def _fewer_axes(case: Case, instance: Instance) -> Iterator[Case]:
    """Without the first or last axis of all tensors of the highest rank, down to rank 1; its first or last element
    stays, and arguments that name axes follow.
    """
    rank = max((len(tensor.shape) for tensor in instance.tensors), default=0)
    found = []
    for axis in (0, rank - 1) if rank > 1 else ():
        following = without_axis(instance, axis, rank)
        for last in (False, True):
            tensors = tuple(_without(one, axis, last) if len(one.shape) == rank else one for one in instance.tensors)
            if tensors != instance.tensors:
                found += [replace(instance, tensors=tensors), replace(following, tensors=tensors)]
    yield from (with_instance(case, one) for at, one in enumerate(found) if one not in found[:at])


def _without(tensor: Tensor, axis: int, last: bool) -> Tensor:
    """The first or last of the tensors that this one consists of along an axis; an axis of no elements stays."""
    before, size, behind = tensor.shape[:axis], tensor.shape[axis], tensor.shape[axis + 1 :]
    if not size:
        return tensor
    return replace(_shaped(tensor, (*before, 1, *behind), last), shape=(*before, *behind))
