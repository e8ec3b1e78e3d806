"""What a wrong result of a call would be right for: the same call with another value of one argument.

As `triage.likeness` for attributes. That ``div`` rounds to -3 where -4 is right says little; that it is what
``rounding_mode="trunc"`` should give says which way was taken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fuzz.case import Case, Failure, Status
from fuzz.instance import Instance
from fuzz.judge import values
from fuzz.oracles import differential
from triage.docstrings_torch import docstring
from triage.inquiry import Condition, Inquiry
from triage.likeness import KIND, by_formula, fits_all
from triage.parameters_torch import UNKNOWN, named, positional
from triage.passes._instances import Place, changed, is_tensor, named_tensors, parsed, with_instance

#: An argument that is one plain value.
Scalar = bool | int | float | str
#: Words that a docstring gives as values: ``'trunc'``, ``"nearest-exact"``.
_QUOTED = re.compile(r"""['"]([a-z][a-z0-9_-]{1,20})['"]""")
#: Where the description of a parameter begins in a docstring: ``mode (str): ...``.
_PARAMETER = re.compile(r"^\s*(\w+) \(", re.MULTILINE)


@dataclass(frozen=True)
class _Change:
    """Another value for one argument. `right` is the one that the call gives, or the default of what it leaves out."""

    place: Place
    name: str
    right: Scalar
    wrong: Scalar


def likeness_of_call(inquiry: Inquiry) -> Condition | None:
    """The argument value that the compiler seems to have used instead of the right one; None where none fits.

    Only for a wrong result of a call, and none that just gives back an input: an operator that is dropped is like many
    arguments with which it would do nothing.
    """
    failure = inquiry.failure
    case = failure.case
    if case.kind != "instance" or not failure.symptom.startswith("wrong:") or _gives_back(failure):
        return None
    for change in _changes(parsed(case)):
        if fits_all(inquiry, partial(_with, change=change)) and _is_called_so(inquiry, change):
            return _by_formula(inquiry, change) or _told(change, _where_left_out(inquiry, change))
    return None


def _told(change: _Change, where: str) -> Condition:
    """`where` in words, if the call is right with the argument given."""
    right, wrong = (f"{change.name}={_text(value)}" for value in (change.right, change.wrong))
    text = f"{change.name} were {_text(change.wrong)} instead of {_text(change.right)}"
    sentence = f"The wrong result is what `{wrong}` should give, on other inputs as well."
    if not where:
        return Condition(KIND, text, sentence, needed=False)
    passes = f"With `{right}`, which is the default, the call passes."
    return Condition(KIND, f"{text} {where}", f"{sentence} {passes}", needed=False)


def _where_left_out(inquiry: Inquiry, change: _Change) -> str:
    """Where an argument is taken for another value that the call leaves out: it passes with what its default says.

    "" where the argument is given, or that fails as well.
    """
    call, case = parsed(inquiry.failure.case), inquiry.failure.case
    args, kwargs = _given(call, change.place.init)
    if change.place.key in kwargs or isinstance(change.place.key, int):
        return ""
    spelled = _by_name(call, change)
    if spelled is None or not inquiry.passes(with_instance(case, spelled)):
        return ""
    return "where it is left out" if kwargs or not all(map(is_tensor, args)) else "when called without arguments"


def _by_formula(inquiry: Inquiry, change: _Change) -> Condition | None:
    if not isinstance(change.right, float) or not isinstance(change.wrong, float):
        return None
    case = inquiry.failure.case
    pair = (round(change.right, 6), change.wrong)
    return by_formula(inquiry, change.name, pair, lambda number: _with(case, replace(change, wrong=number)))


def _with(case: Case, change: _Change) -> Case:
    return with_instance(case, changed(parsed(case), change.place, change.wrong))


def _gives_back(failure: Failure) -> bool:
    """Whether every result is one of the call's tensors, unchanged."""
    given = [value for value in named_tensors(failure.case).values() if isinstance(value, np.ndarray)]
    return all(any(differential.compare([one], [each]) is None for each in given) for one in values(failure.outcome))


def _is_called_so(inquiry: Inquiry, change: _Change) -> bool:
    """Whether the library takes the argument by that name: of overloads, the docstring's first line tells one."""
    call = parsed(inquiry.failure.case)
    key = change.place.key
    if isinstance(key, str) and key in _given(call, change.place.init)[1]:
        return True
    spelled = _by_name(call, change)
    reference = inquiry.failure.reference
    if spelled is None or reference is None:
        return False
    found = inquiry.judge.runner.run(with_instance(inquiry.failure.case, spelled), inquiry.judge.reference)
    return found.status is Status.OK and differential.compare(values(found), values(reference)) is None


def _by_name(call: Instance, change: _Change) -> Instance | None:
    """The call with the argument, and those behind it, by their names; None where one of these is not known."""
    args, kwargs = _given(call, change.place.init)
    at = change.place.key if isinstance(change.place.key, int) else len(args)
    names = [one.name for one in positional(call.api, change.place.init)][at : len(args)]
    if len(names) < len(args) - at:
        return None
    spelled = {**dict(zip(names, args[at:], strict=True)), change.name: change.right, **kwargs}
    return (
        replace(call, init=(args[:at], spelled)) if change.place.init else replace(call, args=args[:at], kwargs=spelled)
    )


def _given(call: Instance, init: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, kwargs = (call.init or ((), {})) if init else (call.args, call.kwargs)
    return tuple(args), dict(kwargs)


def _changes(call: Instance) -> Iterator[_Change]:
    """Every plain argument whose name is known with other values; of those left out, all but fractions."""
    for init in (False, True) if call.init else (False,):
        args, kwargs = _given(call, init)
        by_position, by_name = positional(call.api, init), named(call.api, init)
        found: list[tuple[int | str, str, Any]] = [
            *((at, one.name, value) for at, (one, value) in enumerate(zip(by_position, args, strict=False))),
            *((name, name, value) for name, value in kwargs.items()),
        ]
        left_out = [one for one in (*by_position[len(args) :], *by_name) if one.name not in kwargs]
        found += [(one.name, one.name, one.default) for one in left_out if isinstance(one.default, int | str)]
        for key, name, value in found:
            if isinstance(value, Scalar) and value is not UNKNOWN and not name.startswith("_"):
                others = dict.fromkeys(_others(value, call.api, name))
                yield from (_Change(Place(init, key), name, value, other) for other in others if other != value)


def _others(right: Scalar, api: str, name: str) -> Iterator[Scalar]:
    """The values that somebody may have used by mistake."""
    if isinstance(right, bool):
        yield not right
    elif isinstance(right, int):
        yield from (right + 1, right - 1, -right, 0, 1, -1)
    elif isinstance(right, float):
        numbers = (1 - right, -right, 0.0, 1.0, *([1 / right] if right else []))
        yield from (round(number, 6) for number in numbers if math.isfinite(number))
    else:
        yield from _QUOTED.findall(_description(api, name))


def _description(api: str, name: str) -> str:
    """What a docstring says of one parameter."""
    doc = docstring(api)
    starts = [(found[1], found.start()) for found in _PARAMETER.finditer(doc)]
    ends = [start for _, start in starts[1:]] + [len(doc)]
    return "".join(doc[start:end] for (told, start), end in zip(starts, ends, strict=True) if told == name)


def _text(value: Scalar) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
