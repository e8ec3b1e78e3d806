"""Options that several commands share, as one dataclass: typer itself has no groups of options."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with the fields of its dataclass parameter as parameters of their own, after the other ones.

    The command gets them back as one object. It takes exactly one dataclass; its fields are `Annotated` as parameters
    of a command are.
    """
    hints = get_type_hints(command, include_extras=True)
    [group] = [name for name, hint in hints.items() if dataclasses.is_dataclass(hint)]
    kind = hints[group]
    own = inspect.signature(command).parameters.values()
    parameters = [
        *(each.replace(kind=each.KEYWORD_ONLY, annotation=hints[each.name]) for each in own if each.name != group),
        *_fields(kind),
    ]

    @functools.wraps(command)
    def gathering(**given: Any) -> Any:
        fields = {field.name: given.pop(field.name) for field in dataclasses.fields(kind)}
        return command(**given, **{group: kind(**fields)})

    told: Any = gathering
    told.__signature__ = inspect.Signature(parameters)
    told.__annotations__ = {each.name: each.annotation for each in parameters}
    return gathering


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name]
        )
        for field in dataclasses.fields(kind)
    ]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
