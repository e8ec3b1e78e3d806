"""Arguments of an operator instance left at their defaults, and its tensors in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.case import Case
from fuzz.instance import Instance, tensors
from triage.construct_torch import argument_text
from triage.passes._instances import dropped, parsed, places, with_instance
from triage.variants import Variant
from triage.variants.values import SPECIAL

_UNUSUAL = ("float16", "bfloat16", "float64")
#: What the numbers of a tensor are, by the kind of its dtype.
_WORDS = {"f": "values", "i": "integers", "u": "integers"}


def variants(case: Case) -> Iterator[Variant]:
    """Each argument left out that refers to no tensor; then the tensors in float32."""
    instance = parsed(case)
    for place in places(instance):
        value = place.of(instance)
        if _has_tensor(value) or (isinstance(place.key, int) and place.key == 0):
            continue
        name = f"{place.key}=" if isinstance(place.key, str) else f"argument {place.key + 1} = "
        text = f"{name}{argument_text(value)}"
        sentence = f"Without `{text}` the same call passes."
        yield Variant("attribute", text, sentence, (with_instance(case, dropped(instance, place)),))
    yield from _values(case, instance)
    for dtype in _UNUSUAL:
        if any(tensor.dtype == dtype for tensor in instance.tensors):
            plain = [replace(one, dtype="float32") if one.dtype == dtype else one for one in instance.tensors]
            sentence = f"In float32 instead of {dtype} the same call passes."
            yield Variant("dtype", dtype, sentence, (with_instance(case, replace(instance, tensors=tuple(plain))),))


def _values(case: Case, instance: Instance) -> Iterator[Variant]:
    """Each tensor without its NaN, infinities, negative numbers, zeros."""
    for at, (tensor, value) in enumerate(zip(instance.tensors, tensors(instance), strict=True)):
        if not isinstance(value, np.ndarray) or value.dtype.isbuiltin != 1 or value.dtype.kind not in "fiu":
            continue
        for special in SPECIAL:
            cases = []
            for other in special.replaced(value):
                written = replace(tensor, values=tuple(other.ravel().tolist()))
                changed = (*instance.tensors[:at], written, *instance.tensors[at + 1 :])
                cases.append(with_instance(case, replace(instance, tensors=changed)))
            if cases:
                sentence = f"With {special.said} `x{at}` the same call passes."
                word = "indices" if instance.api.endswith("__getitem__") and at else _WORDS[value.dtype.kind]
                yield Variant("value", f"{special.text} {word}", sentence, tuple(cases))


def _has_tensor(encoded: Any) -> bool:
    if isinstance(encoded, dict):
        return list(encoded) == ["tensor"] or any(map(_has_tensor, encoded.values()))
    return isinstance(encoded, list) and any(map(_has_tensor, encoded))
