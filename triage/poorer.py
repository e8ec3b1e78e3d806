"""Places of failures that tell less than others do: no caller of a helper, no line of code, no message.

Such a failure happened where those did whose evidence holds its own and more, if they all did in one place. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from triage.cells import Cell
from triage.families import family

#: So many fuller failures of one place are compared.
_MOST_COMPARED = 256


def fuller(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Counter[str]]]:
    """Each cell that tells less of its place, with the places of those that tell more, by their weight."""
    known: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        for poorer in {_uncoded(cell.place), cell.place.partition(" < ")[0]} - {cell.place}:
            known[cell.symptom, poorer].append(cell)
    for cell in cells:
        others = known.get((cell.symptom, cell.place)) if cell.place and not cell.quoted else None
        if others and (found := _places(cell, others[:_MOST_COMPARED])):
            yield cell, found


def _uncoded(frame: str) -> str:
    """A frame or a place without the line of code."""
    return frame.partition(": ")[0]


def _places(cell: Cell, others: Sequence[Cell]) -> Counter[str]:
    """The places of those of the others that may tell the same; of the same operator where there are such."""
    held = [other for other in others if _holds(other, cell)]
    mine = family(cell.operator)
    same = [other for other in held if mine and family(other.operator) == mine]
    found: Counter[str] = Counter()
    for other in same or [other for other in held if not mine or not other.operator]:
        found[other.place] += other.weight
    return found


def _holds(other: Cell, cell: Cell) -> bool:
    """Whether another cell's evidence holds what this one says: its message, if it has one, and its frames."""
    if cell.message != other.message if cell.message else not cell.operator:
        return False
    return list(map(_uncoded, cell.stack[1:])) == list(map(_uncoded, other.stack[1 : len(cell.stack)]))
