"""A sweep: the same cases on many builds of one compiler, and which of them flip back and forth."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fuzz.case import Revision
from triage.revisions.environments import Untestable
from triage.suite.entries import PASS, UNKNOWN, UNTESTABLE, Entry, Expected
from triage.suite.journal import Journal
from triage.suite.running import Ran, Replays, ran

#: Letters that say nothing of the compiler's own behaviour.
_SILENT = frozenset({UNKNOWN, UNTESTABLE, "F"})


class Makes(Protocol):
    """Makes the environment of a revision. Raises Untestable."""

    def __call__(self, revision: Revision, /) -> Revision: ...


class Releases(Replays, Protocol):
    """A replay that can let go of a build."""

    def close(self, revision: Revision) -> None: ...


@dataclass
class Swept:
    """The table so far: by revision and case name a letter, and why revisions were untestable."""

    revisions: tuple[str, ...]
    names: tuple[str, ...]
    letters: dict[str, dict[str, str]] = field(default_factory=dict)
    untestable: dict[str, str] = field(default_factory=dict)

    def row(self, name: str) -> str:
        """One letter a revision; what has not been run is `UNKNOWN`."""
        return "".join(self._letter(revision, name) for revision in self.revisions)

    def rows(self) -> dict[str, str]:
        """Case name -> one letter a revision."""
        return {name: self.row(name) for name in self.names}

    def _letter(self, revision: str, name: str) -> str:
        if revision in self.untestable:
            return UNTESTABLE
        return self.letters.get(revision, {}).get(name, UNKNOWN)


def sweep(
    entries: Sequence[Entry],
    revisions: Sequence[Revision],
    replay: Releases,
    make: Makes,
    journal: Journal,
    tell: Callable[[Revision, Swept], None] = lambda revision, swept: None,
) -> Swept:
    """Run the entries on every revision; what the journal holds is not run again."""
    swept = Swept(tuple(each.version for each in revisions), tuple(entry.name for entry in entries))
    for record in journal.records:
        _take(swept, record)
    for revision in revisions:
        done = swept.letters.get(revision.version, {})
        todo = [entry for entry in entries if entry.name not in done]
        if todo and revision.version not in swept.untestable:
            for found in _column(todo, revision, replay, make):
                journal.add(found)
                _take(swept, found)
        tell(revision, swept)
    return swept


def _column(entries: Sequence[Entry], revision: Revision, replay: Releases, make: Makes) -> Iterable[Mapping[str, str]]:
    """The records of one revision. What cannot be tested says so and nothing else."""
    try:
        ready = make(revision)
        try:
            for entry, found in zip(entries, replay.run([entry.case for entry in entries], ready), strict=True):
                yield _record(revision, ran(entry, found))
        finally:
            replay.close(ready)
    except Untestable as problem:
        yield {"revision": revision.version, "untestable": problem.reason}


def _record(revision: Revision, found: Ran) -> Mapping[str, str]:
    return {"revision": revision.version, "name": found.name, "letter": found.letter}


def _take(swept: Swept, record: Mapping[str, str]) -> None:
    if "untestable" in record:
        swept.untestable[record["revision"]] = record["untestable"]
    else:
        swept.letters.setdefault(record["revision"], {})[record["name"]] = record["letter"]


def steps(row: str) -> list[int]:
    """The places in a row of letters where the outcome differs from the one before, silent letters left out. Pure."""
    found, before = [], ""
    for at, letter in enumerate(row):
        if letter in _SILENT:
            continue
        if before and letter != before:
            found.append(at)
        before = letter
    return found


def flips_back(row: str) -> bool:
    """Whether a row returns to an outcome that it has left: passes, fails and passes again, or the other way round."""
    spoken = [letter == PASS for letter in row if letter not in _SILENT]
    turns = sum(one != other for one, other in itertools.pairwise(spoken))
    return turns > 1


def history(swept: Swept, name: str, compiler: str) -> Expected:
    """What a row says of a case, as the expectation of a committed entry. Letters that may vary are left out."""
    row = swept.row(name)
    told = {one: letter for one, letter in zip(swept.revisions, row, strict=True) if letter not in _SILENT}
    changes = [f"{_before(row, at)}→{row[at]} in {swept.revisions[at]}" for at in steps(row)]
    title = f"{compiler}: {', '.join(changes) or 'the same in all releases'}."
    why = f"Found by a sweep over {compiler} {swept.revisions[0]} to {swept.revisions[-1]}."
    return Expected(title, why, {compiler: told})


def _before(row: str, at: int) -> str:
    """The last letter before a place that says something."""
    return next(letter for letter in reversed(row[:at]) if letter not in _SILENT)
