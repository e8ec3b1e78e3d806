"""Operator instances as data: changed arguments and tensors, unused tensors dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz import instance as instances
from fuzz.case import Case
from fuzz.instance import Instance
from fuzz.wire import Value

#: What scripts call the tensors of a call, by the kind of case, before their number.
_TENSOR_NAMES = {"instance": "x", "keras": "input_"}
#: Changes one encoded argument, given the tensors' new positions.
Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Place:
    """One argument: of the call or of the constructor (`init`), by position or by keyword."""

    init: bool
    key: int | str

    def of(self, instance: Instance) -> Any:
        """The encoded argument."""
        args, kwargs = _arguments(instance, self.init)
        return args[self.key] if isinstance(self.key, int) else kwargs[self.key]


def parsed(case: Case) -> Instance:
    """The instance of a case. Raises fuzz.instance.InstanceError."""
    return instances.parse(case.model)


def named_tensors(case: Case) -> dict[str, Value]:
    """The tensors of a call by the names that its script has for them, in their order; none of another kind of case."""
    if case.kind not in _TENSOR_NAMES:
        return {}
    return {tensor_name(case, at): value for at, value in enumerate(instances.tensors(parsed(case)))}


def tensor_name(case: Case, at: int) -> str:
    """What the script of a call names its tensor at a position."""
    return f"{_TENSOR_NAMES[case.kind]}{at}"


def with_array(case: Case, name: str, array: np.ndarray) -> Case:
    """A call with other numbers in one tensor, maybe in another shape; it is told by its name in `named_tensors`."""
    instance, at = parsed(case), list(named_tensors(case)).index(name)
    written = replace(instance.tensors[at], shape=array.shape, values=tuple(array.ravel().tolist()))
    return with_instance(
        case, replace(instance, tensors=(*instance.tensors[:at], written, *instance.tensors[at + 1 :]))
    )


def with_arrays(case: Case, arrays: Mapping[str, np.ndarray]) -> Case:
    """As `with_array`, for several tensors."""
    for name, array in arrays.items():
        case = with_array(case, name, array)
    return case


def with_instance(case: Case, instance: Instance) -> Case:
    """`case` with another instance, whose unused tensors are left out."""
    return replace(case, model=instances.canonical(_pruned(instance)), expected=None)


def places(instance: Instance) -> list[Place]:
    """Every argument: keywords first, then positions from the last to the first; the call before the constructor."""
    found = []
    for init in (False, True):
        args, kwargs = _arguments(instance, init)
        found += [Place(init, key) for key in kwargs]
        found += [Place(init, at) for at in reversed(range(len(args)))]
    return found


def dropped(instance: Instance, place: Place) -> Instance:
    """Without one argument; a positional one takes those behind it along."""
    args, kwargs = _arguments(instance, place.init)
    if isinstance(place.key, int):
        return _with_arguments(instance, place.init, args[: place.key], kwargs)
    return _with_arguments(instance, place.init, args, {k: v for k, v in kwargs.items() if k != place.key})


def changed(instance: Instance, place: Place, value: Any) -> Instance:
    """With another value for one argument."""
    args, kwargs = _arguments(instance, place.init)
    if isinstance(place.key, int):
        return _with_arguments(instance, place.init, (*args[: place.key], value, *args[place.key + 1 :]), kwargs)
    return _with_arguments(instance, place.init, args, {**kwargs, place.key: value})


def mapped(instance: Instance, change: Change) -> Instance:
    """With `change` applied to every plain number, and to every one-key object, in all arguments."""
    for place in places(instance):
        instance = changed(instance, place, _deep(place.of(instance), change))
    return instance


def _deep(encoded: Any, change: Change) -> Any:
    if isinstance(encoded, list):
        return [_deep(item, change) for item in encoded]
    if isinstance(encoded, dict) and "tuple" in encoded:
        return {"tuple": _deep(encoded["tuple"], change)}
    if isinstance(encoded, dict) and "dict" in encoded:
        return {"dict": {name: _deep(item, change) for name, item in encoded["dict"].items()}}
    if isinstance(encoded, dict) and "object" in encoded:
        held = encoded["object"]
        return {"object": {**held, "kwargs": {name: _deep(item, change) for name, item in held["kwargs"].items()}}}
    return change(encoded)


def _arguments(instance: Instance, init: bool) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    return (instance.init or ((), {})) if init else (instance.args, instance.kwargs)


def _with_arguments(instance: Instance, init: bool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Instance:
    if init:
        return replace(instance, init=(args, kwargs))
    return replace(instance, args=args, kwargs=kwargs)


def _pruned(instance: Instance) -> Instance:
    """Only the tensors that an argument refers to, renumbered."""
    used = sorted({at for place in places(instance) for at in _references(place.of(instance))})
    moved = {old: new for new, old in enumerate(used)}
    pruned = replace(instance, tensors=tuple(instance.tensors[at] for at in used))
    return mapped(pruned, lambda item: {"tensor": moved[item["tensor"]]} if is_tensor(item) else item)


def _references(encoded: Any) -> Iterator[int]:
    if is_tensor(encoded):
        yield encoded["tensor"]
    elif isinstance(encoded, dict):
        for item in encoded.values():
            yield from _references(item)
    elif isinstance(encoded, list):
        for item in encoded:
            yield from _references(item)


def is_tensor(encoded: Any) -> bool:
    """Whether an encoded argument is a reference to a tensor."""
    return isinstance(encoded, dict) and list(encoded) == ["tensor"]
