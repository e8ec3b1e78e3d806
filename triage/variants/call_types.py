"""The tensors of an operator instance in other types: float32, types that are handled alike, truths and positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.case import Case
from fuzz.instance import Instance, Tensor, tensors
from triage.passes._instances import parsed, with_instance
from triage.variants import Variant

#: Types in whose place float32 is tried; where they are indices or conditions, nothing can be called with it.
_UNUSUAL = (
    *("float16", "bfloat16", "float64", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
#: As many numbers stand among an instance's values.
_MOST_WRITTEN = 64
#: Types that are handled alike, so that a failure in one is to be expected in the others.
_INTEGERS, _FLOATS = ("int64", "int32", "uint8", "int8"), ("float16", "bfloat16", "float64")
#: Those of the other kind are asked too: a failure in all of them is of every type that is not float32.
_ACROSS = ((_INTEGERS, ("float64", "float16")), (_FLOATS, ("int64",)))
_KIN: Mapping[str, tuple[str, ...]] = {
    **{one: (*(other for other in kind if other != one), *across) for kind, across in _ACROSS for one in kind},
    "bool": ("int64", "uint8"),
    "float32": ("int64", "uint8"),
}
#: Functions that ask whether numbers are zero.
_OF_TRUTHS = ("all", "any", "count_nonzero", "logical_and", "logical_not", "logical_or", "logical_xor")


def variants(case: Case) -> Iterator[Variant]:
    """All tensors of one unusual type in float32, one type after the other; truths of numbers, positions of masks."""
    instance = parsed(case)
    yield from _as_truths(case, instance)
    for dtype in _UNUSUAL:
        if any(tensor.dtype == dtype for tensor in instance.tensors):
            pairs = zip(instance.tensors, tensors(instance), strict=True)
            plain = [_in_float32(one, value) if one.dtype == dtype else one for one, value in pairs]
            sentence = f"In float32 instead of {dtype} the same call passes."
            yield Variant("dtype", dtype, sentence, (with_instance(case, replace(instance, tensors=tuple(plain))),))
    yield from _in_int64(case, instance)
    yield from _as_positions(case, instance)


def _in_int64(case: Case, instance: Instance) -> Iterator[Variant]:
    """All tensors of another integer type in int64: of what takes no float32 nothing else tells."""
    for dtype in _UNUSUAL:
        if "int" in dtype and dtype != "int64" and any(tensor.dtype == dtype for tensor in instance.tensors):
            whole = tuple(_in_kin(one, "int64") if one.dtype == dtype else one for one in instance.tensors)
            sentence = f"In int64 instead of {dtype} the same call passes."
            yield Variant("dtype", dtype, sentence, (with_instance(case, replace(instance, tensors=whole)),))


def kin(case: Case, dtype: str) -> Iterator[tuple[str, Case]]:
    """Calls with the tensors of one type in the other types that are handled alike, and what these are called."""
    instance = parsed(case)
    for name in _KIN.get(dtype, ()):
        tensors_ = (_in_kin(one, name) if one.dtype == dtype else one for one in instance.tensors)
        yield name, with_instance(case, replace(instance, tensors=tuple(tensors_)))


def _as_truths(case: Case, instance: Instance) -> Iterator[Variant]:
    """What asks numbers for their truth, asked of truths."""
    if instance.api.rpartition(".")[2].rstrip("_") not in _OF_TRUTHS:
        return
    if {tensor.dtype for tensor in instance.tensors} == {"float32"}:
        values = [np.asarray(value) != 0 for value in tensors(instance)]
        pairs = zip(instance.tensors, values, strict=True)
        truths = [replace(t, dtype="bool", values=tuple(v.ravel().tolist()), low=None, high=None) for t, v in pairs]
        sentence = "In bool instead of float32 the same call passes."
        yield Variant("dtype", "float32", sentence, (with_instance(case, replace(instance, tensors=tuple(truths))),))


def _as_positions(case: Case, instance: Instance) -> Iterator[Variant]:
    """Masks behind the first tensor as positions: what takes indices takes both."""
    masks = [at for at, tensor in enumerate(instance.tensors) if at and tensor.dtype == "bool"]
    if masks:
        changed_ = [
            replace(tensor, dtype="int64", values=(0,) * math.prod(tensor.shape), low=None, high=None)
            if at in masks
            else tensor
            for at, tensor in enumerate(instance.tensors)
        ]
        sentence = "With zeros of int64 instead of bool the same call passes."
        yield Variant("dtype", "bool", sentence, (with_instance(case, replace(instance, tensors=tuple(changed_))),))


def _in_kin(tensor: Tensor, dtype: str) -> Tensor:
    """A tensor in another type; of whole numbers, before or after, those that it does not hold become small ones."""
    if "int" not in f"{dtype} {tensor.dtype}" or dtype == "bfloat16" or not tensor.values:
        return replace(tensor, dtype=dtype)
    values = tensor.values
    if not all(_holds(dtype, one) for one in values):
        values = tuple(at % 3 + 1 for at in range(len(values)))
    return replace(tensor, dtype=dtype, values=values)


def _holds(dtype: str, number: Any) -> bool:
    """Whether a type of NumPy's holds a number that is written as such."""
    if not isinstance(number, int | float):
        return False
    whole = "int" in dtype
    limits = np.iinfo(dtype) if whole else np.finfo(dtype)
    return float(limits.min) <= number <= float(limits.max) and (not whole or float(number).is_integer())


def _in_float32(tensor: Tensor, value: Any) -> Tensor:
    """The same whole numbers and truths; of a large tensor of drawn ones others, drawn alike."""
    whole = isinstance(value, np.ndarray) and value.dtype.kind in "biu"
    if whole and (tensor.values is not None or value.size <= _MOST_WRITTEN):
        values = tuple(value.ravel().astype(np.float64).tolist())
        return replace(tensor, dtype="float32", values=values, low=None, high=None)
    return replace(tensor, dtype="float32")
