"""The same call of a related function: another number of dimensions, or another member of a family. Pure.

Libraries write one function for one, two and three dimensions, and compilers convert each of them; what is wrong in one
is often copied. Families are those of ``data/operators/families.toml`` by a function's last name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz import instance as instances
from fuzz import instance_names
from fuzz.case import Case
from fuzz.instance import Instance, Tensor
from triage.kinship import DIMENSIONS, related_names
from triage.passes._instances import parsed, with_instance
from triage.passes.instance_values import scalars

#: How many axes the tensors of a function have that takes no others.
_RANKS = {"mm": 2, "bmm": 3}


def related(case: Case) -> Iterator[tuple[str, Case]]:
    """(the other function's last name, the call of it) where the library has it under the same path.

    With more dimensions tensors repeat along a new last axis, with fewer they lose their last one. Whether the call is
    valid is left to the reference.
    """
    instance = parsed(case)
    path, _, name = instance.api.rpartition(".")
    known = instance_names.listed(instance.library)
    for other in related_names(name):
        spelled = f"{path}.{other}"
        if spelled in known:
            yield other, with_instance(case, _of_rank(replace(instance, api=spelled), _RANKS.get(other)))
    found = DIMENSIONS.search(name)
    for count in (1, 2, 3) if found else ():
        other = DIMENSIONS.sub(f"{count}d", name)
        spelled = f"{path}.{other}"
        if found and other != name and spelled in known:
            yield other, with_instance(case, _with_dimensions(instance, spelled, int(found[1]), count))


def _of_rank(instance: Instance, rank: int | None) -> Instance:
    """The call with tensors of a rank, where they have one axis more or less: one of size 1 comes first, or the first
    of the tensors along it is kept.
    """
    tensors = list(instance.tensors)
    for at, (tensor, array) in enumerate(zip(instance.tensors, instances.tensors(instance), strict=True)):
        if rank is None or not isinstance(array, np.ndarray) or abs(array.ndim - rank) != 1 or 0 in array.shape:
            continue
        fitted = array[None] if array.ndim < rank else array[0]
        tensors[at] = replace(tensor, shape=fitted.shape, values=scalars(fitted), low=None, high=None)
    return replace(instance, tensors=tuple(tensors))


def _with_dimensions(instance: Instance, api: str, before: int, after: int) -> Instance:
    def changed(given: Any) -> Any:
        if isinstance(given, dict) and "tuple" in given:
            return {"tuple": changed(given["tuple"])}
        sizes = isinstance(given, list) and len(given) == before and all(type(one) is int for one in given)
        return _fitted(given, after) if sizes else given

    arrays = instances.tensors(instance)
    tensors = tuple(_resized(*pair, before, after) for pair in zip(instance.tensors, arrays, strict=True))
    init = instance.init and (tuple(map(changed, instance.init[0])), _values(instance.init[1], changed))
    return replace(
        instance,
        api=api,
        args=tuple(map(changed, instance.args)),
        kwargs=_values(instance.kwargs, changed),
        tensors=tensors,
        init=init,
    )


def _values(given: Any, changed: Any) -> dict[str, Any]:
    return {name: changed(value) for name, value in given.items()}


def _fitted(sizes: list[int], count: int) -> list[int]:
    """As many sizes as there are dimensions, the last one repeated."""
    return [*sizes, *[sizes[-1]] * count][:count]


def _resized(tensor: Tensor, value: Any, before: int, after: int) -> Tensor:
    """A tensor with channels and `before` dimensions or more, with `after` of them; any other as it is."""
    if not isinstance(value, np.ndarray) or value.ndim <= before or 0 in value.shape:
        return tensor
    array = value
    for _ in range(before, after):
        array = np.repeat(array[..., None], array.shape[-1], axis=-1)
    for _ in range(after, before):
        array = array[..., 0]
    return replace(tensor, shape=array.shape, values=scalars(array), low=None, high=None)
