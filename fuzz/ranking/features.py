"""What in a test might be what a compiler gets wrong: its operators and the properties of their parameters.

Finer than OPERA's subspaces where compilers branch: element types, numbers of dimensions, empty and single-element
dimensions, negative, zero and unequal entries of lists, parameters that are given at all, broadcasting, mixed types.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from fuzz.ranking.item import Call, Tensor, Value
from fuzz.ranking.subspaces import MOST_DIMENSIONS, real, whole

#: Element types that most tests have.
COMMON = frozenset({"float", "float32"})
#: Parts of the names of types that few converters were written with in mind.
#: OPERA's files write sequences and optionals as "undefined".
RARE = (
    *("sequence", "optional", "nothing", "undefined"),
    *("float8", "float4", "int4", "int2", "string", "complex", "bfloat16"),
)
#: Longer values are compared by their beginning.
_LONGEST = 80


class Kind(StrEnum):
    """What a feature tells; strategies weigh kinds, not single features."""

    VALUE = "value"  # the class of a parameter's value, or a tensor's element type
    RARE = "rare"  # an element type that few tests have, a sequence, an optional
    PLAIN = "plain"  # the same, where it is the default or what most tests have
    DETAIL = "detail"  # the exact value, the number of dimensions or entries, which parameters are given
    CORNER = "corner"  # what code forgets: scalar, negative, unequal, mixed
    EMPTY = "empty"  # what code forgets most: a tensor without elements, or of which not even the rank is known
    TYPED = "typed"  # a tensor without elements of this type: kernels are by type, and each may forget it


class Feature(NamedTuple):
    """A property of one parameter, ``""`` being the call as a whole."""

    parameter: str
    property: str
    kind: Kind


def features(call: Call) -> list[Feature]:
    """The properties of all parameters of a call and of the call itself, without repetition."""
    found = [feature for name in sorted(call.parameters) for feature in _of(call, name, call.parameters[name])]
    left_out = [name for name in sorted(call.defaults) if name not in call.parameters]
    found += [Feature(name, _value(call.defaults[name]), Kind.PLAIN) for name in left_out]
    for name, value in sorted(call.contents.items()):
        found += [Feature(name, f"elements {_value(value)}", Kind.DETAIL), *_list(name, value)]
    given = {value.dtype for value in call.parameters.values() if isinstance(value, Tensor)}
    for at, tensor in enumerate(call.results):
        known = tensor.dtype in given  # a type that no parameter has was asked for
        found += [_detail(feature) if known else feature for feature in _tensor(f"result {at}", tensor)]
    return list(dict.fromkeys([*found, *_of_all(call)]))


def pairs(found: Sequence[Feature]) -> Iterator[tuple[Feature, Feature]]:
    """The pairs of features of different parameters that are more than details, but for two plain ones."""
    values = [feature for feature in found if feature.kind is not Kind.DETAIL]
    for one, other in combinations(values, 2):
        if one.parameter != other.parameter and not one.kind is other.kind is Kind.PLAIN:
            yield one, other


def _detail(feature: Feature) -> Feature:
    return feature._replace(kind=Kind.DETAIL) if feature.kind in (Kind.VALUE, Kind.RARE) else feature


def _of(call: Call, name: str, value: Value) -> Iterator[Feature]:
    if isinstance(value, Tensor):
        yield from _tensor(name, value)
        return
    default = name in call.defaults and _value(call.defaults[name]) == _value(value)
    yield Feature(name, _value(value), Kind.PLAIN if default else Kind.VALUE)
    yield Feature(name, f"= {_exact(value)}", Kind.DETAIL)
    if isinstance(value, list):
        yield from _list(name, value)


def _tensor(name: str, tensor: Tensor) -> Iterator[Feature]:
    yield Feature(name, tensor.dtype, _type(tensor.dtype))
    if tensor.constant:
        yield Feature(name, "constant", Kind.VALUE)
    if tensor.shape is None:
        yield Feature(name, "no shape", Kind.EMPTY)
        return
    yield Feature(name, f"{min(len(tensor.shape), MOST_DIMENSIONS)} dimensions", Kind.DETAIL)
    if not tensor.shape:
        yield Feature(name, "scalar", Kind.CORNER)
    if 0 in tensor.shape:
        yield Feature(name, "empty", Kind.EMPTY)
        yield Feature(name, f"empty {tensor.dtype}", Kind.TYPED)
    if 1 in tensor.shape:
        yield Feature(name, "dimension of 1", Kind.DETAIL)


def _type(dtype: str) -> Kind:
    if dtype in COMMON:
        return Kind.PLAIN
    return Kind.RARE if any(part in dtype for part in RARE) else Kind.VALUE


def _list(name: str, value: Sequence[Value]) -> Iterator[Feature]:
    numbers = [each for each in value if isinstance(each, int | float)]
    yield Feature(name, f"{min(len(value), MOST_DIMENSIONS)} entries", Kind.DETAIL)
    if not value:
        yield Feature(name, "no entries", Kind.CORNER)
    if any(number < 0 for number in numbers):
        yield Feature(name, "negative entry", Kind.CORNER)
    if 0 in numbers:
        yield Feature(name, "zero entry", Kind.DETAIL)
    if len(set(numbers)) > 1:
        yield Feature(name, "unequal entries", Kind.CORNER)


def _value(value: Value) -> str:
    """The class of a value that is no tensor."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return _exact(value)
    if isinstance(value, int):
        return f"int {whole(value)}"
    if isinstance(value, float):
        return f"float {real(value)}"
    if isinstance(value, list):
        kinds = {"tensor" if isinstance(each, Tensor) else _value(each) for each in value[:MOST_DIMENSIONS]}
        return f"list of {', '.join(sorted(kinds))}"
    return _exact(value)


def _exact(value: Value) -> str:
    return json.dumps(value, default=str, sort_keys=True)[:_LONGEST]


def _of_all(call: Call) -> Iterator[Feature]:
    """What the parameters are together."""
    tensors = [value for value in call.parameters.values() if isinstance(value, Tensor)]
    yield Feature("", f"given: {', '.join(sorted(call.parameters))}", Kind.DETAIL)
    yield Feature("", f"{len(call.results)} results", Kind.DETAIL)
    kinds = sorted({tensor.dtype for tensor in tensors})
    if len(kinds) > 1:
        yield Feature("", f"types: {', '.join(kinds)}", Kind.DETAIL)
    if len({tensor.shape for tensor in tensors if tensor.shape is not None}) > 1:
        yield Feature("", "shapes differ", Kind.DETAIL)
