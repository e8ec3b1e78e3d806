"""Numbers of an operator instance made simpler together: a window of one element stands no padding of one.

What is possible for one number alone is `instance_arguments`' work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fuzz.case import Case
from fuzz.instance import Instance
from fuzz.wire import Value
from triage.passes._instances import Place, changed, parsed, places, with_instance

KINDS = ("instance", "keras")


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """All numbers at most one, also with zeros for one argument; each argument alone; one number for equal ones."""
    instance = parsed(case)
    numbers = [place for place in places(instance) if _whole(place.of(instance))]
    small = _with(instance, numbers, _ones)
    yield with_instance(case, small)
    for place in numbers:
        yield with_instance(case, _with(small, [place], _zeros))
    for place in numbers:
        yield with_instance(case, _with(instance, [place], _ones))
    for place in numbers:
        yield with_instance(case, _with(instance, [place], _once))


def _with(instance: Instance, chosen: list[Place], change: Callable[[list[int]], list[int] | int]) -> Instance:
    for place in chosen:
        given = place.of(instance)
        instance = changed(instance, place, _encoded(given, change(_whole(given))))
    return instance


def _encoded(given: Any, simpler: list[int] | int) -> Any:
    """Simpler numbers in the form that the argument has: a tuple, a list or a number."""
    if isinstance(simpler, int):
        return simpler
    if isinstance(given, int):
        return simpler[0]
    return {"tuple": simpler} if isinstance(given, dict) else simpler


def _ones(items: list[int]) -> list[int]:
    return [min(item, 1) for item in items]


def _zeros(items: list[int]) -> list[int]:
    return [0 for _ in items]


def _once(items: list[int]) -> list[int] | int:
    return items[0] if len(set(items)) == 1 else items


def _whole(given: Any) -> list[int]:
    """The whole numbers that an encoded argument consists of; none where it holds anything else."""
    items = given["tuple"] if isinstance(given, dict) and list(given) == ["tuple"] else given
    items = items if isinstance(items, list) else [items]
    return items if all(type(item) is int for item in items) else []
