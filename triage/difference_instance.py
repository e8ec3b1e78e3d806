"""What is different between two operator instances: arguments by position or keyword, then their tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuzz import instance as instances
from fuzz.instance import Instance, Tensor

#: A change of what is to be told: what differs, before and after; None where it is not given.
Change = tuple[str, Any, Any]


def changes(before: bytes, after: bytes) -> Iterator[Change]:
    """Every change between two instances. Raises fuzz.instance.InstanceError.

    Tensors are compared where the same argument refers to one in both; what follows from another shape or dtype
    (other values) or from an argument that is left out (its tensors) is no change of its own.
    """
    one, other = instances.parse(before), instances.parse(after)
    old, new = _arguments(one), _arguments(other)
    for key in sorted(old.keys() | new.keys()):
        was, becomes = _masked(old.get(key)), _masked(new.get(key))
        if key not in old or key not in new or was != becomes:
            yield key, was, becomes
    places, others = _tensors(old), _tensors(new)
    for at, after_at in dict.fromkeys((places[place], others[place]) for place in places if place in others):
        yield from _of_tensor(at, one.tensors[at], other.tensors[after_at])


def _arguments(instance: Instance) -> dict[str, Any]:
    """Every argument under a name that people understand."""
    found: dict[str, Any] = {}
    for word, args, kwargs in (("argument", instance.args, instance.kwargs), ("init", *(instance.init or ((), {})))):
        found |= {f"{word} {at}": value for at, value in enumerate(args)}
        found |= {f"{word} {name}": value for name, value in kwargs.items()}
    return found


def _masked(encoded: Any) -> Any:
    """An argument without the numbers of its tensors, which change when one before them is left out."""
    if isinstance(encoded, list):
        return [_masked(item) for item in encoded]
    if isinstance(encoded, dict):
        return "a tensor" if list(encoded) == ["tensor"] else {key: _masked(item) for key, item in encoded.items()}
    return encoded


def _tensors(arguments: Mapping[str, Any]) -> dict[str, int]:
    """The places where a tensor is referred to, and its number."""
    found: dict[str, int] = {}

    def look(encoded: Any, place: str) -> None:
        if isinstance(encoded, list):
            for at, item in enumerate(encoded):
                look(item, f"{place}[{at}]")
        elif isinstance(encoded, dict) and list(encoded) == ["tensor"]:
            found[place] = encoded["tensor"]
        elif isinstance(encoded, dict):
            for key, item in encoded.items():
                look(item, f"{place}.{key}")

    for name, value in arguments.items():
        look(value, name)
    return found


def _of_tensor(at: int, one: Tensor, other: Tensor) -> Iterator[Change]:
    if one.dtype != other.dtype:
        yield f"dtype of tensor {at}", one.dtype, other.dtype
    elif one.shape != other.shape:
        yield f"shape of tensor {at}", list(one.shape), list(other.shape)
        if not _shares_values(one, other):
            yield f"values of tensor {at}", _values(one), _values(other)
    elif _values(one) != _values(other):
        yield f"values of tensor {at}", _values(one), _values(other)
    if one.constant != other.constant:
        given = {True: "a constant", False: "an input"}
        yield f"tensor {at}", given[one.constant], given[other.constant]


def _shares_values(one: Tensor, other: Tensor) -> bool:
    """Whether nothing but the shape differs: the values of the smaller are among those of the larger."""
    if one.values is None or other.values is None:
        return bool(_values(one) == _values(other))
    fewer, more = sorted(({repr(value) for value in tensor.values or ()} for tensor in (one, other)), key=len)
    return fewer <= more


def _values(tensor: Tensor) -> Any:
    if tensor.values is not None:
        return list(tensor.values)
    bounds = [bound for bound in (tensor.low, tensor.high) if bound is not None]
    return f"drawn with seed {tensor.seed}" + (f" within {bounds}" if bounds else "")
