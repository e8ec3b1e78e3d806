"""The coverage elements of a test: the parameter subspaces, single and in pairs, of the operators in it.

Statement coverage of a frontend (OPERA, section IV-B) needs a run of every test on an instrumented compiler;
these elements are known before anything runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

from fuzz.ranking.item import Call, Item
from fuzz.ranking.subspaces import subspace

Cell = tuple[str, Hashable]


def cells(call: Call) -> list[Cell]:
    """(parameter, subspace) of every parameter that is given, by name."""
    return [(name, subspace(call.parameters[name])) for name in sorted(call.parameters)]


def elements(item: Item) -> set[Hashable]:
    """What the item covers: each operator, each cell and each pair of cells of one operator."""
    found: set[Hashable] = set()
    for call in item.calls:
        own = cells(call)
        found.add(call.operator)
        found.update((call.operator, cell) for cell in own)
        found.update((call.operator, *pair) for pair in combinations(own, 2))
    return found


def numbered(items: Sequence[Item]) -> list[list[int]]:
    """The elements of every item as numbers, equal ones alike."""
    numbers: dict[Hashable, int] = {}
    return [[numbers.setdefault(element, len(numbers)) for element in elements(item)] for item in items]
