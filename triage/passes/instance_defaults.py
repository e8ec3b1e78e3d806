"""Arguments of a call that say the default: what a test suite writes out and a person would not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from fuzz.case import Case
from fuzz.instance import Instance
from fuzz.wire import Value
from triage.parameters_torch import UNKNOWN, Parameter, named, positional
from triage.passes._instances import parsed, with_instance

KINDS = ("instance",)
_Args: TypeAlias = tuple[Any, ...]
_Change: TypeAlias = Callable[[_Args, Mapping[str, Any], str, bool], tuple[_Args, dict[str, Any]]]


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without any such argument, of the call and of the constructor; then without each such keyword of the call.

    What follows one that goes is given by name, ``avg_pool2d(x, 2, divisor_override=1)``; where a call does not take
    names, only the last ones go.
    """
    instance = parsed(case)
    bare = _changed(instance, _without)
    by_name = _changed(bare, _by_name)
    if by_name != bare:
        yield with_instance(case, by_name)
    if bare != instance:
        yield with_instance(case, bare)
    for name in instance.kwargs:
        if name not in bare.kwargs:
            left = {other: given for other, given in instance.kwargs.items() if other != name}
            yield with_instance(case, replace(instance, kwargs=left))


def _changed(instance: Instance, change: _Change) -> Instance:
    """With other arguments: of the constructor, if there is one."""
    if instance.init is None:
        args, kwargs = change(instance.args, instance.kwargs, instance.api, False)
        return replace(instance, args=args, kwargs=kwargs)
    return replace(instance, init=change(*instance.init, instance.api, True))


def _without(args: _Args, kwargs: Mapping[str, Any], api: str, init: bool) -> tuple[_Args, dict[str, Any]]:
    """The arguments that say something: by position, the last ones go."""
    by_position = positional(api, init)
    while args and len(args) <= len(by_position) and _says_default(args[-1], by_position[len(args) - 1]):
        args = args[:-1]
    known = {each.name: each for each in (*by_position, *named(api, init))}
    left = {name: given for name, given in kwargs.items() if name not in known or not _says_default(given, known[name])}
    return args, left


def _by_name(args: _Args, kwargs: Mapping[str, Any], api: str, init: bool) -> tuple[_Args, dict[str, Any]]:
    """Those by name that follow one that says the default, and without that one."""
    known = positional(api, init)
    pairs = list(zip(args, known, strict=False))
    first = next((at for at, (given, one) in enumerate(pairs) if at and _says_default(given, one)), None)
    if first is None or len(args) > len(known):
        return args, dict(kwargs)
    told = {one.name: given for given, one in pairs[first:] if not _says_default(given, one)}
    return args[:first], {**told, **kwargs}


def _says_default(given: Any, parameter: Parameter) -> bool:
    """Whether an encoded argument is the default: of its type too, since True equals 1, but 2 may stand for 2.0."""
    if parameter.default is UNKNOWN or isinstance(given, bool) is not isinstance(parameter.default, bool):
        return False
    return bool(given == parameter.default)
