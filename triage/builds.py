"""Places of which no more than offsets in a library are known: which of them are one, whatever the build. Pure.

An offset is the same in every run of one build and another in the next. Stacks that share an offset are of one build:
there two innermost offsets are two places. Between builds nothing can be compared: where each shows one place, it is
taken for the same, else each keeps its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.cells import Cell
from triage.stack import OFFSET


def one_place(cells: Sequence[Cell]) -> dict[tuple[object, ...], str]:
    """The place, by their keys, of cells that are known by offsets of one library in several builds."""
    found: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        library, stripped, _ = cell.place.partition(OFFSET)
        if stripped:
            found[cell.symptom, library].append(cell)
    moved: dict[tuple[object, ...], str] = {}
    for (_, library), together in found.items():
        builds = _builds(together)
        if len(builds) > 1 and all(len({cell.place for cell in build}) == 1 for build in builds):
            moved |= {cell.key: library for cell in together}
    return moved


def _builds(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells of one library by build: those that share an offset, with each other or through others."""
    builds: list[tuple[set[str], list[Cell]]] = []
    for cell in cells:
        offsets = {frame for frame in cell.stack if OFFSET in frame}
        apart = [build for build in builds if build[0].isdisjoint(offsets)]
        alike = [build for build in builds if not build[0].isdisjoint(offsets)]
        builds = [*apart, (offsets.union(*(build[0] for build in alike)), [*_all(alike), cell])]
    return [members for _, members in builds]


def _all(builds: Sequence[tuple[set[str], list[Cell]]]) -> list[Cell]:
    return [cell for _, members in builds for cell in members]
