"""Failures whose place is not known in full: the innermost frames are lost or were inlined, or there is no trace.

Such a failure goes where its other words point to, when they point to one place; otherwise it stays by itself. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from triage.cells import Cell, family

#: One place is pointed to when this part of the like failures is there.
_CLEAR = 0.8
#: A stack that lacks its inner end is rarer than the whole one; with a message that says nothing, far rarer.
_RARER, _RARER_WITHOUT_WORDS = 1.0, 0.25

_Key = tuple[str, str, str, str | None]


def complete(cells: Sequence[Cell]) -> None:
    """Give cells whose innermost frames are missing the place that whole stacks with the same message have."""
    deeper: defaultdict[_Key, Counter[str]] = defaultdict(Counter)
    here: Counter[tuple[str, str, str]] = Counter()
    for cell in cells:
        if not cell.cut:
            here[cell.symptom, cell.message, cell.place] += cell.weight
        for at, frame in enumerate(cell.stack[1:], 1):
            after = cell.stack[at + 1] if at + 1 < len(cell.stack) else ""
            for following in (after, None):
                deeper[cell.symptom, cell.message, frame, following][cell.place] += cell.weight
    moved = {cell.key: place for cell in cells if cell.stack and (place := _whole(cell, deeper, here))}
    moved |= {cell.key: "" for cell in cells if cell.cut and not cell.empty and cell.key not in moved}
    moved |= _with_frames(cells)
    for cell in cells:
        cell.place = moved.get(cell.key, cell.place)


def _whole(cell: Cell, deeper: Mapping[_Key, Counter[str]], here: Mapping[tuple[str, str, str], int]) -> str:
    """The place whose stacks go on where this cell's begins, "" where there is none or more than one."""
    following = cell.stack[1] if len(cell.stack) > 1 else None
    candidates = deeper.get((cell.symptom, cell.message, cell.stack[0], following), Counter())
    place = _clear(Counter({place: count for place, count in candidates.items() if place != cell.place}))
    if not place:
        return ""
    rarer = _RARER_WITHOUT_WORDS if cell.empty else _RARER
    mine, theirs = here[cell.symptom, cell.message, cell.place], here[cell.symptom, cell.message, place]
    return place if cell.cut or mine < rarer * theirs else ""


def _with_frames(cells: Sequence[Cell]) -> dict[tuple[object, ...], str]:
    """The places of cells whose message alone names one, where failures with frames say the same at one place."""
    framed: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in cells:
        if cell.place and not cell.quoted:
            framed[cell.symptom, cell.message][cell.place] += cell.weight
    quoted = [cell for cell in cells if cell.quoted and (cell.symptom, cell.message) in framed]
    return {cell.key: place for cell in quoted if (place := _clear(framed[cell.symptom, cell.message]))}


def _clear(candidates: Counter[str]) -> str:
    """The candidate that has nearly all the weight, "" where there is none."""
    total = candidates.total()
    best = max(candidates, key=lambda name: (candidates[name], name), default="")
    return best if total and candidates[best] >= _CLEAR * total else ""


class Index:
    """The bugs that a message, and an operator with it, were seen with."""

    def __init__(self, bugs: Mapping[str, Sequence[Cell]]) -> None:
        self._by_message: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._by_operator: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        self._by_exception: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        for name, found in bugs.items():
            for cell in found:
                self._by_message[cell.symptom, cell.message][name] += cell.weight
                if cell.operator:
                    self._by_operator[cell.symptom, cell.message, family(cell.operator)][name] += cell.weight
                if cell.exception:
                    self._by_exception[cell.symptom, cell.message, cell.exception][name] += cell.weight

    def bug(self, cell: Cell) -> str:
        """The one bug that a cell without a stack belongs to, "" where that is not clear."""
        candidates = self._by_message.get((cell.symptom, cell.message), Counter())
        with_exception = self._by_exception.get((cell.symptom, cell.message, cell.exception))
        if cell.exception and with_exception:
            candidates = with_exception
        with_operator = self._by_operator.get((cell.symptom, cell.message, family(cell.operator)))
        if cell.operator and with_operator:
            candidates = (
                Counter({name: with_operator[name] for name in candidates if with_operator[name]}) or candidates
            )
        elif cell.empty:
            return ""  # a message that says nothing needs the operator beside it
        return _clear(candidates)
