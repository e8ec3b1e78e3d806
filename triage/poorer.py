"""Failures that tell less than others do: no caller of a helper, no line of code, no message.

Such a failure happened where those did whose evidence holds its own and more, if they all did in one place; without any
place it is the one bug that says something of its operator at the same step of the walk over a program. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from triage.cells import Cell
from triage.families import family

#: So many fuller failures of one place are compared.
_MOST_COMPARED = 256


def fuller(cells: Sequence[Cell], clear: Callable[[Counter[str]], str]) -> dict[tuple[object, ...], str]:
    """The places, by their keys, of cells that tell less: what is `clear` of those that tell more, by their weight.

    Lines of code first, which callers are told by.
    """
    moved: dict[tuple[object, ...], str] = {}
    for poorer in (_uncoded, _uncalled):
        places = {cell.key: moved.get(cell.key, cell.place) for cell in cells if cell.place}
        known: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in cells:
            place = places.get(cell.key, "")
            if (less := poorer(place)) != place:
                known[cell.symptom, less].append(cell)
        for cell in cells:
            others = () if cell.quoted else known.get((cell.symptom, places.get(cell.key, "")), ())
            if others and (place := clear(_places(cell, others[:_MOST_COMPARED], places))):
                moved[cell.key] = place
    return moved


def _uncoded(frame: str) -> str:
    """A frame or a place without the line of code."""
    return frame.partition(": ")[0]


def _uncalled(place: str) -> str:
    """A helper's place without who called it."""
    return place.partition(" < ")[0]


def _places(cell: Cell, others: Sequence[Cell], places: Mapping[tuple[object, ...], str]) -> Counter[str]:
    """The places of those of the others that may tell the same; of the same operator where there are such."""
    held = [other for other in others if _holds(other, cell)]
    mine = family(cell.operator)
    same = [other for other in held if mine and family(other.operator) == mine]
    found: Counter[str] = Counter()
    for other in same or [other for other in held if not mine or not other.operator]:
        found[places[other.key]] += other.weight
    return found


def _holds(other: Cell, cell: Cell) -> bool:
    """Whether another cell's evidence holds what this one says: its message, if it has one, and its frames."""
    if cell.message != other.message if cell.message else not cell.operator:
        return False
    return list(map(_uncoded, cell.stack[1:])) == list(map(_uncoded, other.stack[1 : len(cell.stack)]))


class Walks:
    """The bugs without a place that say something of an operator, by where in the walk over a program they ended."""

    def __init__(self, bugs: Mapping[str, Sequence[Cell]]) -> None:
        self._known: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        for name, found in bugs.items():
            for cell in found:
                for walk in cell.walks if cell.message else ():
                    self._known[cell.symptom, family(cell.operator), walk].add(name)

    def bug(self, cell: Cell) -> str:
        """The one bug of a cell that says nothing, "" where there is none or more than one."""
        if cell.message or not cell.operator:
            return ""
        found = set().union(
            *(self._known.get((cell.symptom, family(cell.operator), walk), set()) for walk in cell.walks)
        )
        return found.pop() if len(found) == 1 else ""
