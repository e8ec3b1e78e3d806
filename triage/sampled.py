"""Where programs hang: such a stack is a sample of what runs, and ends here or there. Pure.

The innermost frame is wherever the loop happened to be; what samples of one loop share stands further out. Two are of
one bug if one ends in a call that the other is in, too, or if the innermost few of their frames meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from triage.cells import Cell
from triage.wrongness import sampled

#: So many of the innermost frames are of the loop itself.
_NEAR = 3


def one_loop(cells: Sequence[Cell]) -> dict[tuple[object, ...], str]:
    """The places of such failures, by the keys of their cells: the frame that most samples of one loop share."""
    found = [cell for cell in cells if cell.place and cell.stack and sampled(cell.symptom)]
    moved: dict[tuple[object, ...], str] = {}
    for together in _together(found):
        counts = Counter[str]()
        for cell in together:
            counts.update(dict.fromkeys(_frames(cell), cell.weight))
        depth = {frame: at for cell in together for at, frame in reversed(list(enumerate(_frames(cell))))}
        shared = min(counts, key=lambda frame: (-counts[frame], depth[frame], frame))
        moved |= {cell.key: shared for cell in together if len(together) > 1}
    return moved


def _frames(cell: Cell) -> list[str]:
    """The frames of a stack, a helper and the one that called it each by itself."""
    return list(dict.fromkeys(part for frame in cell.stack for part in frame.split(" < ")))


def _together(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """The samples of each loop."""
    groups: list[tuple[set[str], set[str], set[str], list[Cell]]] = []
    for cell in cells:
        frames = _frames(cell)
        inner, near, every = {frames[0]}, set(frames[:_NEAR]), set(frames)
        mine = (inner, near, every, [cell])
        apart = []
        for group in groups:
            of_one = group[3][0].symptom == cell.symptom and (
                not mine[1].isdisjoint(group[1]) or not mine[0].isdisjoint(group[2]) or not mine[2].isdisjoint(group[0])
            )
            if of_one:
                mine = (mine[0] | group[0], mine[1] | group[1], mine[2] | group[2], [*group[3], *mine[3]])
            else:
                apart.append(group)
        groups = [*apart, mine]
    yield from (group[3] for group in groups)
