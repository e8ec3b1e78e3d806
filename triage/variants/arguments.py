"""Arguments of an operator instance left out or no longer empty, and its tensors ordinary, longer or full."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fuzz.case import Case
from fuzz.instance import Instance, Tensor, tensors
from triage import construct_keras, construct_torch
from triage.parameters_torch import Parameter, positional
from triage.passes._axes import AXES, parameter
from triage.passes._instances import Place, changed, dropped, parsed, places, tensor_name, with_instance
from triage.passes.instance_values import scalars
from triage.variants import Variant
from triage.variants.values import SPECIAL, special_numbers, uniform_numbers
from triage.wording import enumerated

#: Types of indices.
_INDICES = ("int32", "int64")
#: Defaults that are written among the arguments of an instance as they are.
_PLAIN = (bool, int, float, str, type(None))
#: How many elements an axis gets that has none.
_FILLED = 2
#: Of so many numbers that are zero all ways to be something else are tried.
_MOST_ZEROS = 3
#: How a title calls a tensor without dimensions, and several.
SCALAR, SCALARS = "0-D input", "0-D inputs"
#: How it calls tensors that are broadcast.
BROADCAST = "inputs of different shapes"
#: What docstrings call a single size.
_SIZES = ("size", "sizes", "shape")
#: What the numbers of a tensor are, by the kind of its dtype.
_WORDS = {"f": "values", "i": "integers", "u": "integers"}


def variants(case: Case) -> Iterator[Variant]:
    """Each argument left out that refers to no tensor; then the tensors with ordinary numbers and shapes."""
    instance = parsed(case)
    for place in places(instance):
        other = _without(instance, place)
        if other is not None:
            text = _text(instance, place)
            sentence = f"Without `{text}` the same call passes."
            yield Variant("attribute", text, sentence, (with_instance(case, other),))
    yield from _values(case, instance)
    for filled in full(case):
        yield Variant("value", *_emptiness(instance), (filled,))
    yield from _with_a_dimension(case, instance)
    yield from _of_one_shape(case, instance)
    yield from _with_a_batch(case, instance)
    yield from _with_rows(case, instance)
    yield from _with_a_number(case, instance)
    yield from _without_zeros(case, instance)
    yield from _uniform(case, instance)


def of_layers(case: Case) -> Iterator[Variant]:
    """Each argument of a layer left out, and its tensors ordinary or filled; their dimensions follow from its sizes."""
    return (one for one in variants(case) if one.kind in ("attribute", "value"))


def others(case: Case, text: str) -> Iterator[tuple[str, str, Case]]:
    """Calls with other numbers in the argument that a variant with this text leaves out.

    Each with what it has instead and the argument's bare name, in words. Flags and words have no other numbers.
    """
    instance = parsed(case)
    for place in places(instance):
        if not _has_tensor(place.of(instance)) and _text(instance, place) == text:
            name = _named(instance, place).rstrip(" =")
            for value in _other_numbers(place.of(instance)):
                other = changed(instance, place, value)
                yield f"`{_text(other, place)}`", name, with_instance(case, other)


def _other_numbers(encoded: Any) -> Iterator[Any]:
    """Numbers beside a number; of a list the same turned round, and each a little larger."""
    if isinstance(encoded, dict) and list(encoded) == ["tuple"]:
        yield from ({"tuple": found} for found in _other_numbers(encoded["tuple"]))
    elif isinstance(encoded, list) and encoded and all(type(item) is int for item in encoded):
        found = (encoded[::-1], [item + 1 for item in encoded], [item + 2 for item in encoded])
        yield from (one for one in found if one != encoded)
    elif type(encoded) is int:
        yield from (encoded + 1, encoded - 1, encoded + 3)
    elif type(encoded) is float and math.isfinite(encoded):
        yield from (one for one in (2 * encoded, encoded / 2, encoded + 1) if one != encoded)


def _text(instance: Instance, place: Place) -> str:
    """An argument as a title writes it: ``dim=1``."""
    source = construct_keras if instance.library == "keras" else construct_torch
    return f"{_named(instance, place)}{source.argument_text(place.of(instance))}"


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
    """The parameter that an argument by position is for; None where it is not known, or of another overload."""
    found = positional(instance.api, place.init) if instance.library == "torch" else ()
    known = found[place.key] if isinstance(place.key, int) and place.key < len(found) else None
    told_by_overload = known is not None and known.name in AXES and isinstance(place.of(instance), bool)
    return None if told_by_overload else known


def _values(case: Case, instance: Instance) -> Iterator[Variant]:
    """Each tensor without its NaN, infinities, negative numbers, zeros."""
    yield from _with_numbers(case, instance, lambda value: special_numbers(value, SPECIAL))


def _uniform(case: Case, instance: Instance) -> Iterator[Variant]:
    """Each tensor of which all numbers are of one special kind with others beside them."""
    yield from _with_numbers(case, instance, uniform_numbers)


def _with_numbers(
    case: Case, instance: Instance, numbers: Callable[[np.ndarray], Iterable[tuple[str, str, list[np.ndarray]]]]
) -> Iterator[Variant]:
    for at, (tensor, value) in enumerate(zip(instance.tensors, tensors(instance), strict=True)):
        if not isinstance(value, np.ndarray) or value.dtype.isbuiltin != 1 or value.dtype.kind not in "fiu":
            continue
        for text, said, found in numbers(value):
            cases = []
            for other in found:
                written = replace(tensor, values=tuple(other.ravel().tolist()))
                others = (*instance.tensors[:at], written, *instance.tensors[at + 1 :])
                cases.append(with_instance(case, replace(instance, tensors=others)))
            sentence = f"With {said} `{tensor_name(case, at)}` the same call passes."
            word = "indices" if instance.api.endswith("__getitem__") and at else _WORDS[value.dtype.kind]
            yield Variant("value", f"{text} {word}", sentence, tuple(cases))


def full(case: Case) -> Iterator[Case]:
    """With two elements along every axis that has none: counted, integers as zeros, then the sizes among arguments too.

    Zero is an index into anything that is not empty, and one is what anything can be divided by.
    """
    instance = parsed(case)
    if not any(0 in tensor.shape for tensor in instance.tensors):
        return
    larger = [replace(one, shape=tuple(size or _FILLED for size in one.shape)) for one in instance.tensors]
    filled = replace(instance, tensors=tuple(map(_counted, larger, instance.tensors)))
    zeros, ones = (
        replace(instance, tensors=tuple(map(partial(_of_one_number, number), filled.tensors, instance.tensors)))
        for number in (0, 1)
    )
    sized = filled
    for place in places(instance):
        is_size = parameter(instance, place) in _SIZES
        sized = changed(sized, place, _sizes_filled(place.of(instance), is_size=is_size))
    for other in (filled, *([zeros, ones] if zeros != filled else []), sized):
        yield with_instance(case, other)


def counted_full(case: Case) -> Iterator[Case]:
    """As `full`, with the numbers among the arguments that are zero, too: a function may be told its tensor's sizes.

    An axis is then another one, so where this passes nothing follows; where it fails alike, emptiness does not matter.
    """
    for other in full(case):
        instance = parsed(other)
        zeros = [place for place in places(instance) if type(place.of(instance)) is int and not place.of(instance)]
        for numbers in product((_FILLED, 1), repeat=len(zeros)) if 0 < len(zeros) <= _MOST_ZEROS else ():
            counted = instance
            for place, number in zip(zeros, numbers, strict=True):
                counted = changed(counted, place, number)
            yield with_instance(other, counted)


def _emptiness(instance: Instance) -> tuple[str, str]:
    """A title's words for the tensors that are empty, and the sentence for those that are not."""
    empty = [at for at, tensor in enumerate(instance.tensors) if 0 in tensor.shape]
    names = [
        _named(instance, place).rstrip(" =")
        for place in places(instance)
        if not place.init and [place.of(instance)] == [{"tensor": at} for at in empty]
    ]
    if len(empty) != 1 or len(names) != 1 or not names[0].isidentifier():
        return "empty tensors", "With tensors that are not empty the same call passes."
    name = "input" if names[0] == "self" else names[0]
    return f"empty {name}", f"With a non-empty `x{empty[0]}` ({name}) the same call passes."


def _with_a_dimension(case: Case, instance: Instance) -> Iterator[Variant]:
    """Each scalar as a tensor of one element, then all of them."""
    for at, tensor in enumerate(instance.tensors):
        if tensor.shape == ():
            longer = (*instance.tensors[:at], replace(tensor, shape=(1,)), *instance.tensors[at + 1 :])
            sentence = f"With a one-dimensional `x{at}` the same call passes."
            yield Variant("value", SCALAR, sentence, (with_instance(case, replace(instance, tensors=longer)),))
    scalars = [at for at, tensor in enumerate(instance.tensors) if tensor.shape == ()]
    if len(scalars) > 1:
        longer = tuple(replace(one, shape=(1,)) if one.shape == () else one for one in instance.tensors)
        sentence = f"With one-dimensional {enumerated([f'`x{at}`' for at in scalars])} the same call passes."
        yield Variant("value", SCALARS, sentence, (with_instance(case, replace(instance, tensors=longer)),))


def _of_one_shape(case: Case, instance: Instance) -> Iterator[Variant]:
    """Tensors that are broadcast to a common shape, with that shape; numbers repeat."""
    shapes = [tensor.shape for tensor in instance.tensors]
    if len(shapes) < 2 or len(set(shapes)) < 2 or any(0 in shape for shape in shapes):
        return
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        return
    spread = [
        (f"`x{at}`", replace(tensor, shape=common, values=scalars(np.broadcast_to(value, common)), low=None, high=None))
        for at, (tensor, value) in enumerate(zip(instance.tensors, tensors(instance), strict=True))
        if tensor.shape != common and isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    ]
    changed_ = dict(spread)
    others = tuple(changed_.get(f"`x{at}`", tensor) for at, tensor in enumerate(instance.tensors))
    if spread and all(tensor.shape == common for tensor in others):
        sentence = f"With {enumerated(list(changed_))} of the common shape {common} the same call passes."
        yield Variant("value", BROADCAST, sentence, (with_instance(case, replace(instance, tensors=others)),))


def _with_a_batch(case: Case, instance: Instance) -> Iterator[Variant]:
    """What a layer is called with, as a batch of one: most layers take both."""
    tensor = instance.tensors[0] if len(instance.tensors) == 1 and instance.init is not None else None
    if tensor is not None and tensor.shape and 0 not in tensor.shape:
        batch = replace(tensor, shape=(1, *tensor.shape))
        sentence = f"With a batch of one, `x0` of shape {batch.shape}, the same call passes."
        text = f"{len(tensor.shape)}-D input"
        yield Variant("value", text, sentence, (with_instance(case, replace(instance, tensors=(batch,))),))


def _with_rows(case: Case, instance: Instance) -> Iterator[Variant]:
    """Where no tensor has more than one dimension, those that have one as two rows: the numbers, and turned round."""
    ranks = [len(tensor.shape) for tensor in instance.tensors]
    if not ranks or max(ranks) != 1 or any(0 in tensor.shape for tensor in instance.tensors):
        return
    rows = []
    for tensor, value in zip(instance.tensors, tensors(instance), strict=True):
        if len(tensor.shape) == 1 and isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            both = np.stack([value, value[::-1]])
            tensor = replace(tensor, shape=both.shape, values=tuple(both.ravel().tolist()), low=None, high=None)
        rows.append(tensor)
    sentence = "With two-dimensional tensors the same call passes."
    yield Variant("value", "1-D input", sentence, (with_instance(case, replace(instance, tensors=tuple(rows))),))


def _with_a_number(case: Case, instance: Instance) -> Iterator[Variant]:
    """The neighbours with a number in a list that has none."""
    for place, longer in numbered(instance):
        text = f"empty {_named(instance, place).rstrip(' =')}"
        sentence = f"With `{_text(longer, place)}` the same call passes."
        yield Variant("value", text, sentence, (with_instance(case, longer),))


def numbered(instance: Instance) -> Iterator[tuple[Place, Instance]]:
    """Each list without numbers with one: a size of 1, or axis 0."""
    for place in places(instance):
        yield from ((place, changed(instance, place, other)) for other in _one_number(place.of(instance)))


def _without_zeros(case: Case, instance: Instance) -> Iterator[Variant]:
    """Each list of numbers some of which are zero without these: sizes of parts, say, one of which is empty."""
    empty = any(0 in tensor.shape for tensor in instance.tensors)
    for place in () if empty else places(instance):
        value = place.of(instance)
        numbers = value["tuple"] if isinstance(value, dict) and list(value) == ["tuple"] else value
        if not isinstance(numbers, list) or not all(type(one) is int for one in numbers):
            continue
        left = [one for one in numbers if one]
        if 0 < len(left) < len(numbers) and parameter(instance, place) not in AXES:
            shorter = changed(instance, place, {"tuple": left} if isinstance(value, dict) else left)
            text = f"0 in {_named(instance, place).rstrip(' =')}"
            sentence = f"With `{_text(shorter, place)}` the same call passes."
            yield Variant("value", text, sentence, (with_instance(case, shorter),))


def _one_number(encoded: Any) -> Iterator[Any]:
    """An empty list or tuple of an instance with one number in it."""
    if isinstance(encoded, dict) and list(encoded) == ["tuple"]:
        yield from ({"tuple": found} for found in _one_number(encoded["tuple"]))
    elif encoded == []:
        yield from ([1], [0])


def _sizes_filled(encoded: Any, *, is_size: bool) -> Any:
    """A list of sizes among the arguments, or what the docstring calls one, with the same number in place of zero."""
    if is_size and type(encoded) is int:
        return encoded or _FILLED
    if isinstance(encoded, dict) and list(encoded) == ["tuple"]:
        return {"tuple": _sizes_filled(encoded["tuple"], is_size=is_size)}
    if isinstance(encoded, list) and all(type(item) is int for item in encoded):
        return [item or _FILLED for item in encoded]
    return encoded


def _counted(larger: Tensor, tensor: Tensor) -> Tensor:
    """A tensor that had no elements with the first few numbers."""
    if larger.shape == tensor.shape or larger.values is None:
        return larger
    return replace(larger, values=tuple(at % 2 for at in range(math.prod(larger.shape))))


def _of_one_number(number: int, filled: Tensor, tensor: Tensor) -> Tensor:
    """A tensor of integers that had no elements with the same small number everywhere."""
    if filled.shape == tensor.shape or filled.dtype not in _INDICES:
        return filled
    return replace(filled, values=(number,) * math.prod(filled.shape))


def _has_tensor(encoded: Any) -> bool:
    if isinstance(encoded, dict):
        return list(encoded) == ["tensor"] or any(map(_has_tensor, encoded.values()))
    return isinstance(encoded, list) and any(map(_has_tensor, encoded))
