"""Further neighbours of a failing case that try to refute a condition before a title names it. Pure.

"ReduceMin of an empty tensor is wrong" is what one passing neighbour says; that a tensor full of infinities is wrong as
well says that the condition was another one. So cases without the condition are made as unlike the passing neighbour as
they can be: other special numbers in the same places, other values of the same attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from onnx import AttributeProto, helper, numpy_helper
from onnx.defs import OpSchema

from fuzz.case import Case
from fuzz.instance import tensors
from fuzz.wire import Value
from triage.construct_meaning import parsed
from triage.literals import Array
from triage.passes import _instances
from triage.schemas import attribute_text, default_text, is_default, schema_of
from triage.variants import Variant, neighbour

#: What may take the place of a special number, in words and by the kind of dtype; the numbers are in `_number`.
_FILLS = {
    "f": ("infinity", "minus infinity", "NaN", "the largest finite number", "negative numbers", "zeros"),
    "i": ("the largest integer", "negative numbers", "zeros"),
    "u": ("the largest integer", "zeros"),
}
#: Words in the names of integer attributes that are more than flags, whatever their defaults.
_NUMBERS = frozenset(("axis", "dims", "group", "groups", "heads", "size"))
#: The fills that a condition on values itself speaks of, by its first word.
_SAME = {
    "infinite": ("infinity", "minus infinity"),
    "NaN": ("NaN",),
    "negative": ("negative numbers", "minus infinity"),
    "zero": ("zeros",),
}


_WORD = re.compile(r"[\"'`](\w+)[\"'`]")


@dataclass(frozen=True)
class Contrast:
    """A case that lacks a condition: what it has instead, in words, and the title's words if that fails as well."""

    said: str
    case: Case
    wider: str = ""


def contrasts(case: Case, variant: Variant) -> Iterator[Contrast]:
    """Cases without what the variant lacks; none for kinds of conditions that leave nothing open."""
    if variant.kind == "value":
        yield from _other_values(case, variant)
    elif variant.kind == "attribute" and case.kind == "onnx":
        yield from _other_attributes(case, variant)


def _other_values(case: Case, variant: Variant) -> Iterator[Contrast]:
    """Each other special number where the condition's stood; in all places where the condition is on the shape."""
    plain = variant.cases[0]
    before, after = _arrays(case), _arrays(plain)
    changed = [name for name in after if name in before and not _equal(before[name], after[name])]
    if len(changed) != 1:
        return
    [name] = changed
    old, new = before[name], after[name]
    places = _differing(old, new) if old.shape == new.shape else np.ones(new.shape, np.bool_)
    for fill in _FILLS.get(new.dtype.kind, ()):
        if fill in _SAME.get(variant.text.split()[0], ()):
            continue
        filled = np.where(places, _number(fill, new.dtype), new)
        yield Contrast(f"{fill} in `{name}`", _with(plain, name, filled.astype(new.dtype)))


def _number(fill: str, dtype: np.dtype) -> Array:
    largest = np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max
    values = {
        "infinity": np.inf,
        "minus infinity": -np.inf,
        "NaN": np.nan,
        "the largest finite number": largest,
        "the largest integer": largest,
        "negative numbers": -3,
        "zeros": 0,
    }
    return np.array(values[fill], dtype)


def _differing(one: Array, other: Array) -> Array:
    both = (one == other) | ((one != one) & (other != other))
    return np.asarray(~both)


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()


def _arrays(case: Case) -> dict[str, Array]:
    """The tensors of plain numbers by name; of an instance ``x0``, ``x1`` and so on."""
    found: Mapping[str, Value]
    if case.kind == "instance":
        found = {f"x{at}": value for at, value in enumerate(tensors(_instances.parsed(case)))}
    else:
        constants = {one.name: numpy_helper.to_array(one) for one in parsed(case.model).graph.initializer}
        found = {**constants, **case.inputs}
    plain = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    return {name: value for name, value in plain.items() if value.dtype.isbuiltin == 1 and value.dtype.kind in "fiu"}


def _with(case: Case, name: str, value: Array) -> Case:
    if case.kind == "instance":
        instance, at = _instances.parsed(case), int(name[1:])
        written = replace(instance.tensors[at], values=tuple(value.ravel().tolist()))
        changed = (*instance.tensors[:at], written, *instance.tensors[at + 1 :])
        return _instances.with_instance(case, replace(instance, tensors=changed))
    model = parsed(case.model)
    for tensor in model.graph.initializer:
        if tensor.name == name:
            tensor.CopyFrom(numpy_helper.from_array(value, name))
    fed = {**case.inputs, name: value} if name in case.inputs else dict(case.inputs)
    return neighbour(case, model, fed)


def _other_attributes(case: Case, variant: Variant) -> Iterator[Contrast]:
    """Other values than the attribute's own and its default: a flag has none."""
    model = parsed(case.model)
    name = variant.text.partition("=")[0]
    for at, node in enumerate(model.graph.node):
        schema = schema_of(node, model)
        known = schema.attributes.get(name) if schema else None
        given = next((one for one in node.attribute if one.name == name), None)
        if known is None or given is None:
            continue
        wider = f"{name} other than {default_text(known)}" if default_text(known) else name
        for value in _others(given, known):
            other = parsed(case.model)
            attribute = next(one for one in other.graph.node[at].attribute if one.name == name)
            attribute.CopyFrom(helper.make_attribute(name, value))
            if not is_default(attribute, known):
                yield Contrast(f"`{attribute_text(attribute)}`", neighbour(case, other), wider)


def _others(given: AttributeProto, known: OpSchema.Attribute) -> Iterator[int | str]:
    """Integers beside the given one; for a word those that the specification's text names in quotes."""
    if given.type == AttributeProto.INT and not _is_flag(given.i, known):
        yield from (given.i + 1, given.i - 1)
    elif given.type == AttributeProto.STRING:
        words = dict.fromkeys(_WORD.findall(known.description))
        yield from (word for word in words if word != given.s.decode())


def _is_flag(value: int, known: OpSchema.Attribute) -> bool:
    """Whether 0 and 1 are all that the attribute can be, as far as names and defaults tell."""
    if set(known.name.split("_")) & _NUMBERS:
        return False
    return known.default_value.type == AttributeProto.INT and {value, known.default_value.i} <= {0, 1}
