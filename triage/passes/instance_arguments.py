"""Arguments of an operator instance left out, or made simpler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fuzz.case import Case
from fuzz.wire import Value
from triage.passes._instances import changed, dropped, is_tensor, parsed, places, with_instance

KINDS = ("instance", "keras")


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """No keywords at all, then without each argument, then each argument simpler."""
    instance = parsed(case)
    if len(instance.kwargs) > 1:
        yield with_instance(case, replace(instance, kwargs={}))
    for place in places(instance):
        yield with_instance(case, dropped(instance, place))
    for place in places(instance):
        given = place.of(instance)
        for simpler in _simpler(given):
            yield with_instance(case, changed(instance, place, simpler))


def _simpler(given: Any) -> Iterator[Any]:
    """Simpler values for one encoded argument; tensors are other passes' work."""
    if isinstance(given, bool):
        yield from [False] if given else []
    elif isinstance(given, int):
        yield from (number for number in (0, 1, given // 2) if abs(number) < abs(given))
    elif isinstance(given, float):
        yield from (number for number in (0.0, 1.0, round(given, 1)) if len(repr(number)) < len(repr(given)))
    elif isinstance(given, list):
        yield from _simpler_list(given)
    elif isinstance(given, dict) and "tuple" in given:
        yield from ({"tuple": simpler} for simpler in _simpler_list(given["tuple"]))
    elif isinstance(given, str) or (isinstance(given, dict) and not is_tensor(given)):
        yield None


def _simpler_list(given: list[Any]) -> Iterator[list[Any]]:
    """Shorter from the end, then item by item."""
    if given:
        yield given[:-1]
    for at, item in enumerate(given):
        for simpler in _simpler(item):
            yield [*given[:at], simpler, *given[at + 1 :]]
