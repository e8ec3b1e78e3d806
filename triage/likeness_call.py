"""What a wrong result of a call would be right for: the same call with another value of one argument.

As `triage.likeness` for attributes. That ``div`` rounds to -3 where -4 is right says little; that it is what
``rounding_mode="trunc"`` should give says which way was taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from fuzz.case import Case
from fuzz.instance import Instance
from triage.docstrings_torch import docstring
from triage.inquiry import Condition, Inquiry
from triage.likeness import KIND, fits_all
from triage.parameters_torch import UNKNOWN, named, positional
from triage.passes._instances import Place, changed, parsed, with_instance

#: An argument that is one plain value.
Scalar = bool | int | float | str
#: Words that a docstring gives as values: ``'trunc'``, ``"floor"``.
_QUOTED = re.compile(r"""['"]([a-z_]{2,20})['"]""")


@dataclass(frozen=True)
class _Change:
    """Another value for one argument. `right` is the one that the call gives, or the default of what it leaves out."""

    place: Place
    name: str
    right: Scalar
    wrong: Scalar


def likeness_of_call(inquiry: Inquiry) -> Condition | None:
    """The argument value that the compiler seems to have used instead of the right one; None where none fits.

    Only for a wrong result of a call.
    """
    case = inquiry.failure.case
    if case.kind != "instance" or not inquiry.failure.symptom.startswith("wrong:"):
        return None
    for change in _changes(parsed(case)):
        if fits_all(inquiry, partial(_with, change=change)):
            wrong = _text(change.wrong)
            sentence = f"The wrong result is what `{change.name}={wrong}` should give, on other inputs as well."
            text = f"{change.name} were {wrong} instead of {_text(change.right)}"
            return Condition(KIND, text, sentence, needed=False)
    return None


def _with(case: Case, change: _Change) -> Case:
    return with_instance(case, changed(parsed(case), change.place, change.wrong))


def _changes(instance: Instance) -> Iterator[_Change]:
    """Every plain argument whose name is known, and every one left out that has a plain default, with other values."""
    for init in (False, True) if instance.init else (False,):
        args, kwargs = instance.init if init and instance.init else (instance.args, instance.kwargs)
        by_position, by_name = positional(instance.api, init), named(instance.api, init)
        given: list[tuple[int | str, str, Any]] = [
            *((at, one.name, value) for at, (one, value) in enumerate(zip(by_position, args, strict=False))),
            *((name, name, value) for name, value in kwargs.items()),
        ]
        left_out = [one for one in (*by_position[len(args) :], *by_name) if one.name not in kwargs]
        given += [(one.name, one.name, one.default) for one in left_out if one.default is not UNKNOWN]
        for key, name, value in given:
            if isinstance(value, Scalar):
                others = dict.fromkeys(_others(value, instance.api))
                yield from (_Change(Place(init, key), name, value, other) for other in others if other != value)


def _others(right: Scalar, api: str) -> Iterator[Scalar]:
    """The values that somebody may have used by mistake."""
    if isinstance(right, bool):
        yield not right
    elif isinstance(right, int):
        yield from (right + 1, right - 1, -right, 0, 1, -1)
    elif isinstance(right, float):
        yield from (1 - right, -right, 0.0, 1.0, *([1 / right] if right else []))
    else:
        yield from _QUOTED.findall(docstring(api))


def _text(value: Scalar) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
