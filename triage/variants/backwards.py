"""Axes and positions that a call counts from the end, counted from the front: compilers forget to wrap them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.case import Case
from fuzz.instance import Instance, Tensor, tensors
from triage.passes._axes import AXES, each_whole, parameter
from triage.passes._instances import changed, is_tensor, parsed, places, tensor_name, with_instance
from triage.variants import Variant

#: Parameters that name positions along the axis ``dim``.
_POSITIONS = ("index", "indices", "start", "end")
_GETITEM = "__getitem__"


def variants(case: Case) -> Iterator[Variant]:
    """Each argument with such numbers, and the tensors of indices that have some, all at once."""
    instance = parsed(case)
    if not instance.tensors:
        return
    shape = instance.tensors[0].shape
    for place in places(instance):
        name = "" if place.init else parameter(instance, place)
        sizes = _sizes(instance, name, shape)
        cases = [
            with_instance(case, changed(instance, place, other))
            for size in sizes
            if (other := _wrapped(place.of(instance), size)) != place.of(instance)
        ]
        if cases:
            told = _wrapped(place.of(instance), sizes[0])
            sentence = f"With `{name}={_text(told)}`, counted from the front, the same call passes."
            yield Variant("value", f"negative {name}", sentence, tuple(cases))
    yield from _indices(case, instance)


def _sizes(instance: Instance, name: str, shape: tuple[int, ...]) -> list[int]:
    """What is added to a negative number of a parameter; of an axis it may be one more: some calls make an axis."""
    if name in AXES:
        return [len(shape), len(shape) + 1] if instance.api.endswith(("unsqueeze", "stack")) else [len(shape)]
    dim = _given(instance, "dim")
    along = name in _POSITIONS and isinstance(dim, int) and -len(shape) <= dim < len(shape)
    return [shape[dim]] if along else []


def _given(instance: Instance, wanted: str) -> Any:
    return next((p.of(instance) for p in places(instance) if not p.init and parameter(instance, p) == wanted), None)


def _wrapped(encoded: Any, size: int) -> Any:
    """Whole numbers, alone or listed, with `size` added to those below zero."""
    return each_whole(encoded, lambda number: number + size if number < 0 else number)


def _text(encoded: Any) -> str:
    return repr(encoded["tuple"] if isinstance(encoded, dict) else encoded)


def _indices(case: Case, instance: Instance) -> Iterator[Variant]:
    """All tensors of indices without negative numbers."""
    along = _along_getitem(instance) if instance.api.endswith(_GETITEM) else _along_dim(instance)
    front = list(instance.tensors)
    values = tensors(instance)
    for at, size in along.items():
        value = values[at]
        if isinstance(value, np.ndarray) and value.dtype.kind == "i" and (value < 0).any():
            front[at] = _counted(instance.tensors[at], value, size)
    moved = [at for at, (one, other) in enumerate(zip(front, instance.tensors, strict=True)) if one is not other]
    if moved:
        names = " and ".join(f"`{tensor_name(case, at)}`" for at in moved)
        sentence = f"With the indices in {names} counted from the front the same call passes."
        other = with_instance(case, replace(instance, tensors=tuple(front)))
        yield Variant("value", "negative indices", sentence, (other,))


def _counted(tensor: Tensor, value: np.ndarray, size: int) -> Tensor:
    wrapped = np.where(value < 0, value + size, value)
    return replace(tensor, values=tuple(wrapped.ravel().tolist()), low=None, high=None)


def _along_dim(instance: Instance) -> dict[int, int]:
    """The tensors of indices of a call such as index_select, with the size of the axis that they are for."""
    shape, dim = instance.tensors[0].shape, _given(instance, "dim")
    index = _given(instance, "index")
    if not is_tensor(index) or not isinstance(dim, int) or not -len(shape) <= dim < len(shape):
        return {}
    return {index["tensor"]: shape[dim]}


def _along_getitem(instance: Instance) -> dict[int, int]:
    """The tensors in an index with the sizes of their axes; none where it has more than tensors, numbers, slices."""
    key = instance.args[1] if len(instance.args) > 1 else None
    parts = key["tuple"] if isinstance(key, dict) and list(key) == ["tuple"] else [key]
    plain = all(is_tensor(part) or type(part) is int or _is_slice(part) for part in parts)
    shape = instance.tensors[0].shape
    if not plain or len(parts) > len(shape):
        return {}
    return {part["tensor"]: size for part, size in zip(parts, shape, strict=False) if is_tensor(part)}


def _is_slice(part: Any) -> bool:
    return isinstance(part, dict) and list(part) == ["slice"]
