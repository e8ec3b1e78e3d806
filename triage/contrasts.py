"""Further neighbours of a failing case that try to refute a condition before a title names it. Pure.

"ReduceMin of an empty tensor is wrong" is what one passing neighbour says; that a tensor full of infinities is wrong as
well says that the condition was another one. So cases without the condition are made as unlike the passing neighbour as
they can be: other special numbers in the same places, other numbers and sizes wherever (`triage.mutants`), other values
of the same attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from onnx.defs import OpSchema

from fuzz.case import Case
from fuzz.wire import Value
from triage.construct_meaning import parsed
from triage.literals import Array
from triage.mutants import mutants
from triage.passes import _instances
from triage.schemas import (
    TYPE_ATTRIBUTES,
    attribute_text,
    default_text,
    formal_inputs,
    is_default,
    is_flag,
    quoted_words,
    schema_of,
)
from triage.submodel import with_tensors
from triage.variants import Variant, arguments, attributes, neighbour, relations, turned
from triage.variants.values import ALL, SPECIAL

#: Other witnesses that are proposed against one condition; of these the reference refuses some.
MOST_ELSEWHERE = 24
#: What may take the place of a special number, in words and by the kind of dtype; the numbers are in `_number`.
_LARGEST = "the largest integer"
#: Where negative numbers matter, the largest one may fail for being held in fewer bits, or as a fraction.
_LARGE = "100"
_FILLS = {
    "f": ("infinity", "minus infinity", "NaN", "the largest finite number", "negative numbers", "zeros"),
    "i": (_LARGEST, _LARGE, "negative numbers", "zeros"),
    "u": (_LARGEST, "zeros"),
}
#: The types of what may be nothing but indices, axes and sizes.
_COUNTS = {"tensor(int32)", "tensor(int64)"}
#: The fills that a condition on values itself speaks of, by its first word.
_SAME = {
    "infinite": ("infinity", "minus infinity"),
    "-inf": ("minus infinity",),
    "+inf": ("infinity",),
    "halfway": ("infinity", "minus infinity", "the largest finite number"),
    "large": ("infinity", "minus infinity", "the largest finite number"),
    "NaN": ("NaN",),
    "negative": ("negative numbers", "minus infinity"),
    "zero": ("zeros",),
}
#: What a type that an attribute names is tried as.
_TYPES = (TensorProto.INT32, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.FLOAT)
#: Between the word of a condition and the input that it speaks of, where an empty one fails as well.
OR_EMPTY = " or empty "
#: What covers both, where a number of another kind than the condition's fails as well.
_WIDER = {
    ("NaN", "infinity"): "NaN or infinite",
    ("NaN", "minus infinity"): "NaN or infinite",
    ("infinite", "NaN"): "NaN or infinite",
    ("+inf", "minus infinity"): "infinite",
    ("-inf", "infinity"): "infinite",
}
#: What else there is without such numbers, by the condition's first word: they are looked for in parameters only.
_ONLY = {"fractional": ("twos", "threes"), "non-zero": (), "odd": ("zeros", "twos")}


@dataclass(frozen=True)
class Contrast:
    """A case that lacks a condition: what it has instead, in words, and the title's words if that fails as well."""

    said: str
    case: Case
    wider: str = ""


def contrasts(case: Case, variant: Variant) -> Iterator[Contrast]:
    """Cases without what the variant lacks, those that would refute the condition before those that would widen it."""
    for one in relations.wider(case, variant) if case.kind == "onnx" else ():
        yield Contrast(one.said, one.case, one.text)
    for one in turned.wider(case, variant) if case.kind == "onnx" else ():
        yield Contrast(one.said, one.case, one.text)
    for said, other in relations.of_other_types(case, variant) if case.kind == "onnx" else ():
        yield Contrast(said, other)
    for said, other in turned.back(case, variant) if case.kind == "onnx" else ():
        yield Contrast(said, other)
    own = changed(case, variant) if variant.kind == "value" else ""
    if own:
        yield from _other_values(case, variant, own)
        yield from _emptied(variant, own)
    if variant.kind == "value" and variant.text.startswith(ALL):
        yield from _one_more(case, variant, own)
        return  # in other sizes a window or a slice may hold nothing but the one number
    found = (mutant for mutant in mutants(variant.cases[0]) if not own or mutant.name != own)
    for mutant in islice(found, MOST_ELSEWHERE):
        yield Contrast(mutant.said, mutant.case)
    if variant.kind == "attribute" and case.kind == "onnx":
        yield from _other_attributes(case, variant)
        for said, other in attributes.other_numbers(case, variant):
            yield Contrast(said, other, attributes.NUMBER)
    if variant.kind == "attribute" and case.kind in ("instance", "keras"):
        for said, wider, other in arguments.others(case, variant.text):
            yield Contrast(said, other, wider)


def changed(case: Case, variant: Variant) -> str:
    """The one tensor whose numbers a variant in values changes; "" where it is not one."""
    before, after = _arrays(case), _arrays(variant.cases[0])
    found = [name for name in after if name in before and not _equal(before[name], after[name])]
    return found[0] if len(found) == 1 else ""


def _other_values(case: Case, variant: Variant, name: str) -> Iterator[Contrast]:
    """Each other special number where the condition's stood; in all places where the condition is on the shape."""
    plain = variant.cases[0]
    old, new = _arrays(case)[name], _arrays(plain)[name]
    places = _differing(old, new) if old.shape == new.shape else np.ones(new.shape, np.bool_)
    word, _, formal = variant.text.partition(" ")
    fills = _ONLY.get(word, _FILLS.get(new.dtype.kind, ()))
    for fill in sorted(fills, key=lambda fill: (word, fill) in _WIDER):
        if fill in _SAME.get(word.removeprefix(ALL), ()) or (fill in (_LARGEST, _LARGE) and _configures(plain, name)):
            continue
        if fill == (_LARGE if new.dtype.itemsize < 8 or word != "negative" else _LARGEST):
            continue
        filled = np.where(places, _number(fill, new.dtype), new).astype(new.dtype)
        wider = f"{_WIDER[word, fill]} {formal}" if (word, fill) in _WIDER else ""
        yield Contrast(f"{fill} in `{name}`", _with(plain, name, filled), wider)


def _one_more(case: Case, variant: Variant, name: str) -> Iterator[Contrast]:
    """The case with an ordinary number behind a vector of special ones, of which a few may be enough."""
    word = variant.text.partition(" ")[0].removeprefix(ALL)
    special = next((one for one in SPECIAL if one.text == word), None)
    for longer in special.appended(_arrays(case)[name]) if special and name and case.kind == "onnx" else ():
        model = parsed(case.model)
        yield Contrast(f"an ordinary number behind those in `{name}`", with_tensors(case, model, {name: longer}))


def _configures(case: Case, name: str) -> bool:
    """Whether a tensor holds indices, axes or sizes, by its place: nothing else is of these types alone.

    The largest integer is none of them, and an evaluator that takes it for a size hangs.
    """
    model = parsed(case.model) if case.kind == "onnx" else onnx.ModelProto()
    for node in model.graph.node:
        pairs = zip(node.input, formal_inputs(node, model), strict=False)
        if any(read == name and set(formal.types) <= _COUNTS for read, formal in pairs):
            return True
    return False


def _emptied(variant: Variant, name: str) -> Iterator[Contrast]:
    """No numbers at all, along one axis after the other: what fails then as well stands beside the condition."""
    plain, (word, _, formal) = variant.cases[0], variant.text.partition(" ")
    if plain.kind != "onnx" or name not in plain.inputs or word == "empty":
        return
    array = _arrays(plain)[name]
    for axis in range(array.ndim):
        model = parsed(plain.model)
        empty = np.take(array, [], axis)
        yield Contrast(f"an empty `{name}`", with_tensors(plain, model, {name: empty}), f"{word}{OR_EMPTY}{formal}")


def _number(fill: str, dtype: np.dtype) -> Array:
    largest = np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max
    values = {
        "infinity": np.inf,
        "minus infinity": -np.inf,
        "NaN": np.nan,
        "the largest finite number": largest,
        _LARGEST: largest,
        _LARGE: 100,
        "negative numbers": -3,
        "twos": 2,
        "threes": 3,
        "zeros": 0,
    }
    return np.array(values[fill], dtype)


def _differing(one: Array, other: Array) -> Array:
    both = (one == other) | ((one != one) & (other != other))
    return np.asarray(~both)


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()


def _arrays(case: Case) -> dict[str, Array]:
    """The tensors of plain numbers by name, of a call by those of its script."""
    found: Mapping[str, Value] = _instances.named_tensors(case)
    if case.kind == "onnx":
        constants = {one.name: numpy_helper.to_array(one) for one in parsed(case.model).graph.initializer}
        found = {**constants, **case.inputs}
    plain = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    return {name: value for name, value in plain.items() if value.dtype.isbuiltin == 1 and value.dtype.kind in "fiu"}


def _with(case: Case, name: str, value: Array) -> Case:
    if case.kind != "onnx":
        return _instances.with_array(case, name, value)
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
        wider = variant.text if known.required else wider  # one of several values: that it is given says nothing
        for value in _others(given, known):
            other = parsed(case.model)
            attribute = next(one for one in other.graph.node[at].attribute if one.name == name)
            attribute.CopyFrom(helper.make_attribute(name, value))
            if name in TYPE_ATTRIBUTES:
                attributes.retyped(other)
            if not is_default(attribute, known):
                yield Contrast(f"`{attribute_text(attribute)}`", neighbour(case, other), wider)


def _others(given: AttributeProto, known: OpSchema.Attribute) -> Iterator[int | str | list[int]]:
    """Integers beside the given ones, other types; for a word those that the specification's text names in quotes."""
    if given.name in TYPE_ATTRIBUTES:
        yield from (kind for kind in _TYPES if kind != given.i)
    elif given.type == AttributeProto.INT and not is_flag(given.i, known):
        yield from (given.i + 1, given.i - 1)
    elif given.type == AttributeProto.STRING:
        yield from (word for word in quoted_words(known) if word != given.s.decode())
    elif given.type == AttributeProto.INTS:
        numbers = list(given.ints)
        found = (
            numbers[::-1],
            [one + 1 for one in numbers],
            [one + 2 for one in numbers],
            [max(numbers, default=0)] * len(numbers),
        )
        yield from (one for one in found if one != numbers)
