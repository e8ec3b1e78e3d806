"""Failures whose place is not known in full: the innermost frames are lost or were inlined, or there is no trace.

Such a failure goes where its other words point to, when they point to one place; otherwise it stays by itself. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from triage.builds import one_place
from triage.cells import Cell
from triage.families import family
from triage.noted import broad
from triage.partition import alike
from triage.poorer import fuller
from triage.reading import of_python
from triage.sampled import one_loop
from triage.wrongness import wrong

#: One place is pointed to when this part of the like failures is there.
_CLEAR = 0.8
#: A stack that lacks its inner end is met no more often than the whole one; with a message that says nothing, far less.
_RARER, _RARER_WITHOUT_WORDS = 1.0, 0.25

#: So many stacks of a file are compared.
_MOST_COMPARED = 64

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
    places = {(cell.symptom, cell.place, cell.caller) for cell in cells if cell.place and not cell.cut}
    moved = {cell.key: place for cell in cells if cell.stack and (place := _whole(cell, deeper, here))}
    moved |= fuller(cells, _clear)
    moved |= {
        cell.key: ""
        for cell in cells
        if cell.cut and not cell.empty and cell.key not in moved and not _reached(cell, places)
    }
    moved |= one_place(cells)
    moved |= one_loop(cells)
    moved |= _uninlined(cells)
    moved |= _with_code(cells)
    moved |= _with_frames(cells)
    for cell in cells:
        cell.place = moved.get(cell.key, cell.place)


def _reached(cell: Cell, places: Collection[tuple[str, str, str]]) -> bool:
    """Whether whole stacks begin where this one does, and go on alike: what was cut off it told nothing."""
    return bool(cell.caller) and (cell.symptom, cell.place, cell.caller) in places


def _whole(cell: Cell, deeper: Mapping[_Key, Counter[str]], here: Mapping[tuple[str, str, str], int]) -> str:
    """The place whose stacks go on where this cell's begins, "" where there is none or more than one."""
    following = cell.stack[1] if len(cell.stack) > 1 else None
    first, _, own = cell.stack[0].partition(" < ")
    candidates = deeper.get((cell.symptom, cell.message, first, following), Counter())
    place = _clear(Counter({place: count for place, count in candidates.items() if place != cell.place}))
    if not place:
        return ""
    if own and place.endswith(f" < {own}"):
        return place  # a helper that another helper called, or that was inlined into it
    rarer = _RARER_WITHOUT_WORDS if cell.empty else _RARER
    mine, theirs = here[cell.symptom, cell.message, cell.place], here[cell.symptom, cell.message, place]
    return place if cell.cut or mine <= rarer * theirs else ""


def _uninlined(cells: Sequence[Cell]) -> dict[tuple[object, ...], str]:
    """The places of helpers whose caller was inlined into its own one, where whole stacks show what is in between."""
    between: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for cell in cells:
        if len(cell.stack) > 2 and " < " in cell.place and cell.whole and not cell.cut:
            between[broad(cell.symptom), cell.place.partition(" < ")[0], cell.stack[2]].add(cell.place)
    moved = {}
    for cell in cells:
        helper, _, caller = cell.place.partition(" < ")
        found = between.get((broad(cell.symptom), helper, caller), set()) - {cell.place} if caller else set()
        if len(found) == 1:
            moved[cell.key] = next(iter(found))
    return moved


def _with_code(cells: Sequence[Cell]) -> dict[tuple[object, ...], str]:
    """The places of cells whose trace does not print the line of code that tells functions of one name apart."""
    coded: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for cell in cells:
        bare, colon, _ = cell.place.partition(": ")
        if colon and not cell.cut:
            coded[cell.symptom, cell.message, bare][cell.place] += cell.weight
    return {
        cell.key: place
        for cell in cells
        if (place := _clear(coded.get((cell.symptom, cell.message, cell.place), Counter())))
    }


def _with_frames(cells: Sequence[Cell]) -> dict[tuple[object, ...], str]:
    """The places of cells whose message alone names one: where failures with frames say the same, or have that file."""
    framed: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    filed: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    named: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for cell in cells:
        if cell.place and not cell.quoted and not of_python(cell.place):
            framed[cell.symptom, cell.message][cell.place] += cell.weight
            for file in cell.files:
                filed[cell.symptom, file].append(cell)
        elif cell.quoted:
            named[cell.symptom, cell.message, _basename(cell.place)][cell.place] += cell.weight
    moved = {}
    for cell in cells:
        if cell.quoted and "::" not in cell.place:
            said = framed.get((cell.symptom, cell.message))
            found = _clear(said if said else _in_the_file(cell, filed))
            moved[cell.key] = found or _commonest(named[cell.symptom, cell.message, _basename(cell.place)])
    return moved


def _in_the_file(cell: Cell, filed: Mapping[tuple[str, str], Sequence[Cell]]) -> Counter[str]:
    """The places of stacks that go through the file which a message names, where they say much the same."""
    found: Counter[str] = Counter()
    for other in filed.get((cell.symptom, _basename(cell.place).partition(" ")[0]), ())[:_MOST_COMPARED]:
        if alike(cell.message, other.message):
            found[other.place] += other.weight
    return found


def _commonest(candidates: Counter[str]) -> str:
    """Of one file in several folders, which differ between versions, the one that is met most."""
    return max(candidates, key=lambda name: (candidates[name], name))


def _basename(place: str) -> str:
    """The file that a place is without its folder, and what called it."""
    file, space, rest = place.partition(" ")
    return file.rpartition("/")[2] + space + rest


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
        self._families = {
            name: {family(cell.operator) for cell in found if cell.operator} for name, found in bugs.items()
        }
        self._compilers = {
            name: frozenset[str]().union(*(cell.compilers for cell in found)) for name, found in bugs.items()
        }
        for name, found in bugs.items():
            speaks = any(cell.message for cell in found)
            for cell in found:
                if speaks and not cell.message:
                    continue  # what says nothing at all is no death without a word, where others say it
                self._by_message[cell.symptom, cell.message][name] += cell.weight
                if cell.operator:
                    self._by_operator[cell.symptom, cell.message, family(cell.operator)][name] += cell.weight
                if cell.exception:
                    self._by_exception[cell.symptom, cell.message, cell.exception][name] += cell.weight

    def bug(self, cell: Cell) -> str:
        """The one bug that a cell without a stack belongs to, "" where that is not clear."""
        said = "" if cell.empty else cell.message  # which those with a place are spelled by
        candidates = self._by_message.get((cell.symptom, said), Counter())
        with_exception = self._by_exception.get((cell.symptom, said, cell.exception))
        if cell.exception and with_exception:
            candidates = with_exception
        with_operator = self._by_operator.get((cell.symptom, said, family(cell.operator)))
        if cell.operator and with_operator:
            both = Counter({name: with_operator[name] for name in candidates if with_operator[name]})
            candidates = both or (with_operator if cell.names_operator else candidates)
        elif cell.empty or (cell.operator and (cell.weak or wrong(cell.symptom))):
            return ""  # a message that says nothing, or what is said of any fault, needs the operator beside it
        found = _clear(Counter({name: n for name, n in candidates.items() if self._may_be(cell, name)}))
        return "" if found and self._of_another(cell, found) else found

    def _may_be(self, cell: Cell, bug: str) -> bool:
        """Whether a failure may be of the compiler that has the bug, as far as both are known."""
        theirs = self._compilers[bug]
        return not cell.compilers or not theirs or not cell.compilers.isdisjoint(theirs)

    def _of_another(self, cell: Cell, bug: str) -> bool:
        """Whether a message is about its operator, and the bug that says the same about one other."""
        mine = family(cell.operator)
        return bool(mine) and cell.names_operator and len(self._families[bug]) == 1 and mine not in self._families[bug]
