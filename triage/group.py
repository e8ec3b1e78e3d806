"""Which raw failures are one bug, and why (issue 3, "Signature and grouping"; decision 005).

1. Failures that say the same in normalised words are counted together (`evidence.py`, `cells.py`).
2. The place is the innermost telling frame, with its caller or operator where many conversions reach it (`places.py`);
   where frames are lost, that of the whole stacks (`attach.py`).
3. At one place one difference is noise, two that go together are another bug (`partition.py`).
4. Failures without a trace join the bug that their message and operator point to, if it is one.
5. The others are grouped by message; by operator where the message says nothing or is about the operator.

The order of the failures and their ids change nothing. Pure.
"""

from __future__ import annotations

import gc
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from triage.attach import Index, complete
from triage.cells import Cell, cells
from triage.evidence import Report, gather
from triage.families import family
from triage.noted import broad
from triage.partition import Batch, batch, partition
from triage.poorer import Walks
from triage.sentences import tell
from triage.wrappers import unwrapped
from triage.wrongness import VALUED, wrong

_LONGEST_QUOTE = 120


@dataclass(frozen=True)
class Grouping:
    """`assignment` names the group of each failure by id, `groups` tells in one sentence what makes each one a bug."""

    assignment: Mapping[str, str]
    groups: Mapping[str, str]


def group(reports: Sequence[Report], jobs: int = 1) -> Grouping:
    """Group raw failures by bug; ids are unique. Large batches are read in up to `jobs` processes."""
    with _uncollected():
        return _group(reports, jobs)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles meanwhile: grouping makes none, and for 100,000 failures it took a sixth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _group(reports: Sequence[Report], jobs: int) -> Grouping:
    copies = _copies(unwrapped(reports))
    found = cells([[each.id for each in alike] for alike in copies], gather([alike[0] for alike in copies], jobs))
    complete(found)
    bugs = _placed([cell for cell in found if cell.place])
    bugs = _with_unplaced(bugs, [cell for cell in found if not cell.place])
    names = {key: _name(key) for key in bugs}
    return Grouping(
        {member: names[key] for key, part in bugs.items() for cell in part for member in cell.members},
        {names[key]: _why(part) for key, part in sorted(bugs.items(), key=lambda item: (-_size(item[1]), item[0]))},
    )


def _copies(reports: Sequence[Report]) -> list[list[Report]]:
    """Reports by what they say, to the last number: one sent many times is read, and counts, once."""
    found: defaultdict[tuple[object, ...], list[Report]] = defaultdict(list)
    for each in reports:
        found[each.message, each.trace, each.frames, each.operator, each.symptom, each.exception].append(each)
    return list(found.values())


def _placed(found: Sequence[Cell]) -> dict[str, list[Cell]]:
    usual = batch(found)
    at: defaultdict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in found:
        at[broad(cell.symptom), cell.place, family(cell.operator) if cell.refused else ""].append(cell)
    parts = [part for _, together in sorted(at.items()) for part in partition(together, usual)]
    return {_key(part): part for part in parts}


def _with_unplaced(bugs: dict[str, list[Cell]], found: Sequence[Cell]) -> dict[str, list[Cell]]:
    index = Index(bugs)
    joined = {key: list(part) for key, part in bugs.items()}
    left: defaultdict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    tell([cell for cell in found if wrong(cell.symptom)])
    for cell in found:
        if key := index.bug(cell):
            joined[key].append(cell)
        else:
            left[_topic(cell)].append(cell)
    for _, together in sorted(left.items()):
        for of_one in _compilers(together):
            for alike in _ways(of_one):
                for part in partition(alike, Batch()):
                    joined[_key(part)] = part
    return _with_silent(joined)


def _with_silent(bugs: dict[str, list[Cell]]) -> dict[str, list[Cell]]:
    """The bugs, those that say nothing with the one that says something of the same."""
    walks = Walks(bugs)
    for key, part in list(bugs.items()):
        found = {walks.bug(cell) for cell in part}
        if len(found) == 1 and (name := found.pop()):
            bugs[name] += bugs.pop(key)
    return bugs


def _compilers(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Failures by the compiler whose they are: what says the same of two is two bugs. Whose is not known goes along
    with the commonest."""
    found: list[tuple[set[str], list[Cell]]] = []
    for cell in sorted(cells, key=lambda cell: (not cell.compilers, -cell.weight, cell.key)):
        of_it = [each for each in found if not cell.compilers or not each[0].isdisjoint(cell.compilers)]
        if not of_it:
            found.append((set(cell.compilers), [cell]))
            continue
        best = max(of_it, key=lambda each: _weight(each[1]))
        best[0].update(cell.compilers)
        best[1].append(cell)
    return [together for _, together in found]


def _ways(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Wrong results of one operator by the way in which they are wrong, where they tell it.

    What tells less goes along with the commonest of those that tell more.
    """
    ways: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        ways[cell.way].append(cell)
    for vague, of in (("finite", _finite), (VALUED, _of_elements), ("", bool)):
        told = [way for way in ways if way != vague and of(way)]
        if vague in ways and told:
            most = max(told, key=lambda way: (_weight(ways[way]), way))
            ways[most] += ways.pop(vague)
    return [ways[way] for way in sorted(ways)]


def _finite(way: str) -> bool:
    return way.startswith("finite")


def _of_elements(way: str) -> bool:
    return way not in ("", "shape", "type")


def _topic(cell: Cell) -> tuple[str, str, str]:
    """What a failure without any place is about: its message, or the operator where the message does not tell.

    Where nothing at all is said, it is the class of the exception.
    """
    if cell.sentence:
        return cell.symptom, f"words: {cell.sentence}", ""
    if cell.weak and (cell.site or cell.operator):
        return (
            cell.symptom,
            f"{cell.message} at {cell.site}",
            family(cell.operator) if cell.names_operator or not cell.site else "",
        )
    if cell.operator and (cell.empty or wrong(cell.symptom)):
        return cell.symptom, "", family(cell.operator)
    if not cell.message:
        return cell.symptom, f"an {cell.exception}", ""
    return cell.symptom, cell.message, family(cell.operator) if cell.names_operator else ""


def _weight(part: Sequence[Cell]) -> int:
    return sum(cell.weight for cell in part)


def _size(part: Sequence[Cell]) -> int:
    return sum(len(cell.members) for cell in part)


def _key(part: Sequence[Cell]) -> str:
    """What a group is named by: its place, and its commonest words; never its members."""
    first = min(part, key=lambda cell: (-cell.weight, cell.key))
    return "\0".join((first.place, *map(str, first.key)))  # no two cells have the same key


def _name(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _why(part: Sequence[Cell]) -> str:
    """One sentence."""
    count = _size(part)
    first = min(part, key=lambda cell: (-cell.weight, cell.key))
    placed = [cell for cell in part if cell.place]
    clauses = [_where(part, first)]
    messages = {cell.message for cell in part if cell.message and not cell.empty}
    if len(messages) == 1:
        clauses.append(f'the message reads "{next(iter(messages))[:_LONGEST_QUOTE]}" without numbers, shapes and names')
    elif messages:
        clauses.append(
            f"nothing else tells the {len(messages)} messages apart, of which the commonest reads "
            f'"{first.message[:_LONGEST_QUOTE]}"'
        )
    if placed and len(placed) < len(part):
        lost = count - _size(placed)
        clauses.append(f"{lost} without a trace {'joins' if lost == 1 else 'join'} by message and operator")
    if count == 1:
        return "alone: " + " and ".join(clauses)
    return "same because " + ", and ".join(clauses)


def _where(part: Sequence[Cell], first: Cell) -> str:
    operators = sorted({cell.operator for cell in part if cell.operator})
    symptom = f" (symptom: {first.symptom})" if first.symptom else ""
    if first.place:
        named = f", which many conversions reach, for {', '.join(operators[:4])}" if first.shared and operators else ""
        return f"the innermost telling frame is {first.place}{named}{symptom}"
    if first.sentence:
        return f"what is said to be wrong is the same ({first.sentence[:_LONGEST_QUOTE]}){symptom}"
    if operators and _topic(first)[2]:
        return f"without a trace the operator decides: {', '.join(operators[:4])}{symptom}"
    return f"there is no trace that tells them apart{symptom}"
