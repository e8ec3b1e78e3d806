"""Arguments of an operator instance left at their defaults, and its tensors in float32, ordinary or filled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.case import Case
from fuzz.instance import Instance, Tensor, tensors
from triage.construct_torch import argument_text
from triage.parameters_torch import Parameter, positional
from triage.passes._instances import Place, changed, dropped, parsed, places, with_instance
from triage.variants import Variant
from triage.variants.values import SPECIAL

_UNUSUAL = ("float16", "bfloat16", "float64")
#: Defaults that are written among the arguments of an instance as they are.
_PLAIN = (bool, int, float, str, type(None))
#: How many elements an axis gets that has none.
_FILLED = 2
#: What the numbers of a tensor are, by the kind of its dtype.
_WORDS = {"f": "values", "i": "integers", "u": "integers"}


def variants(case: Case) -> Iterator[Variant]:
    """Each argument left out that refers to no tensor; then the tensors in float32."""
    instance = parsed(case)
    for place in places(instance):
        other = _without(instance, place)
        if other is not None:
            text = f"{_named(instance, place)}{argument_text(place.of(instance))}"
            sentence = f"Without `{text}` the same call passes."
            yield Variant("attribute", text, sentence, (with_instance(case, other),))
    yield from _values(case, instance)
    yield from _filled(case, instance)
    for dtype in _UNUSUAL:
        if any(tensor.dtype == dtype for tensor in instance.tensors):
            plain = [replace(one, dtype="float32") if one.dtype == dtype else one for one in instance.tensors]
            sentence = f"In float32 instead of {dtype} the same call passes."
            yield Variant("dtype", dtype, sentence, (with_instance(case, replace(instance, tensors=tuple(plain))),))


def _without(instance: Instance, place: Place) -> Instance | None:
    """The call without one argument; None where that cannot be left out alone.

    One by position takes those behind it along, so unless it is the last it is given as its default, where that is
    known and another value.
    """
    value, args = place.of(instance), (instance.init or ((),))[0] if place.init else instance.args
    if _has_tensor(value) or (place.key == 0 and not place.init):
        return None
    if isinstance(place.key, str) or place.key == len(args) - 1:
        return dropped(instance, place)
    known = _parameter(instance, place)
    if known is None or not isinstance(known.default, _PLAIN) or known.default == value:
        return None
    return changed(instance, place, known.default)


def _named(instance: Instance, place: Place) -> str:
    """What a title calls an argument: ``dim=``, ``argument 3 = `` where the name of the parameter is not known."""
    if isinstance(place.key, str):
        return f"{place.key}="
    known = _parameter(instance, place)
    return f"{known.name}=" if known else f"argument {place.key + 1} = "


def _parameter(instance: Instance, place: Place) -> Parameter | None:
    """The parameter that an argument by position is for."""
    found = positional(instance.api, place.init) if instance.library == "torch" else ()
    return found[place.key] if isinstance(place.key, int) and place.key < len(found) else None


def _values(case: Case, instance: Instance) -> Iterator[Variant]:
    """Each tensor without its NaN, infinities, negative numbers, zeros."""
    for at, (tensor, value) in enumerate(zip(instance.tensors, tensors(instance), strict=True)):
        if not isinstance(value, np.ndarray) or value.dtype.isbuiltin != 1 or value.dtype.kind not in "fiu":
            continue
        for special in SPECIAL:
            cases = []
            for other in special.replaced(value):
                written = replace(tensor, values=tuple(other.ravel().tolist()))
                others = (*instance.tensors[:at], written, *instance.tensors[at + 1 :])
                cases.append(with_instance(case, replace(instance, tensors=others)))
            if cases:
                sentence = f"With {special.said} `x{at}` the same call passes."
                word = "indices" if instance.api.endswith("__getitem__") and at else _WORDS[value.dtype.kind]
                yield Variant("value", f"{special.text} {word}", sentence, tuple(cases))


def _filled(case: Case, instance: Instance) -> Iterator[Variant]:
    """With two elements along every axis that has none; in another variant the sizes among the arguments as well."""
    if not any(0 in tensor.shape for tensor in instance.tensors):
        return
    larger = [replace(one, shape=tuple(size or _FILLED for size in one.shape)) for one in instance.tensors]
    full = replace(instance, tensors=tuple(map(_counted, larger, instance.tensors)))
    sentence = "With tensors that are not empty the same call passes."
    sized = full
    for place in places(instance):
        sized = changed(sized, place, _sizes_filled(place.of(instance)))
    for other in (full, sized):
        yield Variant("value", "empty tensors", sentence, (with_instance(case, other),))


def _sizes_filled(encoded: Any) -> Any:
    """A list of sizes among the arguments, with the same number in the place of zero."""
    if isinstance(encoded, dict) and list(encoded) == ["tuple"]:
        return {"tuple": _sizes_filled(encoded["tuple"])}
    if isinstance(encoded, list) and all(type(item) is int for item in encoded):
        return [item or _FILLED for item in encoded]
    return encoded


def _counted(larger: Tensor, tensor: Tensor) -> Tensor:
    """A tensor that had no elements with the first few numbers."""
    if larger.shape == tensor.shape or larger.values is None:
        return larger
    return replace(larger, values=tuple(at % 2 for at in range(math.prod(larger.shape))))


def _has_tensor(encoded: Any) -> bool:
    if isinstance(encoded, dict):
        return list(encoded) == ["tensor"] or any(map(_has_tensor, encoded.values()))
    return isinstance(encoded, list) and any(map(_has_tensor, encoded))
