"""The failures of a place that many conversions reach, by message and operator: there each is a bug of its own.

What a message quotes is a value. An operator that is met seldom may be noise; who called the place tells of those
whose operator is none, and what brings no message is told by both. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.cells import Cell, unquoted
from triage.families import OF_NO_OPERATOR, family

#: An operator counts that is met so often, and not this much less often than the commonest.
_SEEN, _NOISE = 2, 0.2


def apart(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells of one place, those first that say something."""
    by_sentence: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_sentence[unquoted(cell.message)].append(cell)
    silent = by_sentence.pop("", []) if len(by_sentence) > 1 else []
    return _with_silent([part for _, said in sorted(by_sentence.items()) for part in _by_operator(said)], silent)


def _by_operator(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that say one thing, by operator, the commonest first."""
    operators: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        operators[family(cell.converted)].append(cell)
    if len(operators.keys() - {""}) >= OF_NO_OPERATOR and not any(
        cell.names_operator and "OP" in cell.message.split() for cell in cells
    ):
        return [list(cells)]
    weights = {name: sum(cell.weight for cell in found) for name, found in operators.items()}
    least = max(_SEEN, _NOISE * max(weights.values()))
    ordered = sorted(operators, key=lambda name: (-weights[name], name))
    kept = [name for name in ordered if name and weights[name] >= least]
    parts = [operators[name] for name in kept] or [[]]
    callers = [{cell.caller for cell in part} for part in parts]
    for cell in [cell for name in ordered if name not in kept for cell in operators[name]]:
        at = next((at for at, known in enumerate(callers) if cell.caller and cell.caller in known), 0)
        parts[at].append(cell)  # reached by the same way, else the commonest
    return parts


def _with_silent(parts: list[list[Cell]], silent: Sequence[Cell]) -> list[list[Cell]]:
    """With those that said nothing: where just one part has their operator and their way, else by themselves."""
    ways = [{(family(cell.converted), caller) for cell in part for caller in (cell.caller, "")} for part in parts]
    alone: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in silent:
        mine = family(cell.converted), cell.caller
        like = [part for part, known in zip(parts, ways, strict=True) if mine in known]
        (like[0] if len(like) == 1 else alone[mine[0]]).append(cell)
    return [*parts, *alone.values()]
