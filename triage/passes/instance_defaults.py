"""Arguments of a call that say the default: what a test suite writes out and a person would not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fuzz.case import Case
from fuzz.instance import Instance
from fuzz.wire import Value
from triage.parameters_torch import UNKNOWN, Parameter, named, positional
from triage.passes._instances import parsed, with_instance

KINDS = ("instance",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Without any such argument, of the call and of the constructor; then without each such keyword of the call."""
    instance = parsed(case)
    bare = _bare(instance)
    if bare == instance:
        return
    yield with_instance(case, bare)
    for name in instance.kwargs:
        if name not in bare.kwargs:
            left = {other: given for other, given in instance.kwargs.items() if other != name}
            yield with_instance(case, replace(instance, kwargs=left))


def _bare(instance: Instance) -> Instance:
    if instance.init is None:
        args, kwargs = _without(instance.args, instance.kwargs, instance.api)
        return replace(instance, args=args, kwargs=kwargs)
    return replace(instance, init=_without(*instance.init, instance.api, init=True))


def _without(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], api: str, init: bool = False
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that say something: by position, the last ones go."""
    by_position = positional(api, init)
    while args and len(args) <= len(by_position) and _says_default(args[-1], by_position[len(args) - 1]):
        args = args[:-1]
    known = {each.name: each for each in (*by_position, *named(api, init))}
    left = {name: given for name, given in kwargs.items() if name not in known or not _says_default(given, known[name])}
    return args, left


def _says_default(given: Any, parameter: Parameter) -> bool:
    """Whether an encoded argument is the default: of its type too, since True equals 1, but 2 may stand for 2.0."""
    if parameter.default is UNKNOWN or isinstance(given, bool) is not isinstance(parameter.default, bool):
        return False
    return bool(given == parameter.default)
