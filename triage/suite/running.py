"""The suite on one build: what each case does there. Results are in the journal before they are told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fuzz.case import Case, Revision, Status, Verdict
from triage.suite import memory
from triage.suite.entries import UNKNOWN, Entry
from triage.suite.journal import Journal
from triage.suite.turns import Deadline, turns


class Replayed(Protocol):
    """What a case did on a revision (`triage.replay`)."""

    @property
    def letter(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def symptom(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def verdict(self) -> Verdict | None: ...


class Replays(Protocol):
    """The part of `triage.replay.Replay` that suites need."""

    def run(self, cases: Sequence[Case], revision: Revision) -> Iterable[Replayed]: ...
    def once(self, case: Case, revision: Revision, perturb: int | None = None) -> Replayed: ...


#: What is not repeated before it is believed.
_SETTLED = frozenset({Status.OK, Status.UNSUPPORTED, Status.SKIPPED, Status.INVALID})


@dataclass(frozen=True)
class Ran:
    """What one entry did on one build; `name` and `id` are the entry's, `seconds` those of its first run.

    `tried` is what a confined build reached for and must not have (`fuzz.watching.KINDS`).
    """

    name: str
    id: str
    letter: str
    status: Status
    symptom: str = ""
    detail: str = ""
    seconds: float = 0.0
    tried: tuple[str, ...] = ()

    @property
    def remembered(self) -> str:
        """The letter that the memory keeps: honest refusals have one of their own there."""
        return memory.REFUSED if self.status is Status.UNSUPPORTED else self.letter

    @property
    def cost(self) -> float:
        """Seconds, with those of the repeat where it failed."""
        return self.seconds * (1 if self.status in _SETTLED else 2)

    @property
    def record(self) -> dict[str, str | float | list[str]]:
        """The line of a journal."""
        return {
            "name": self.name,
            "id": self.id,
            "letter": self.letter,
            "status": self.status.value,
            "symptom": self.symptom,
            "detail": self.detail,
            "seconds": round(self.seconds, 4),
            "tried": list(self.tried),
        }


def remember(compiler: str, revision: str, results: Iterable[Ran]) -> None:
    """What was seen decides on the order of later suites. Raises OSError."""
    found = list(results)
    letters = {one.id: one.remembered for one in found}
    memory.remember(compiler, revision, letters, {one.id: one.cost for one in found})


#: Of a compiler's message, what a journal keeps.
_MOST_DETAIL = 500


def ran(entry: Entry, found: Replayed) -> Ran:
    """What a replay says of an entry."""
    letter = found.letter if found.status is not Status.SKIPPED and found.status is not Status.INVALID else UNKNOWN
    outcome, detail = found.verdict.outcome if found.verdict else None, found.detail[:_MOST_DETAIL]
    tried = outcome.tried if outcome else ()
    return Ran(entry.name, entry.id, letter, found.status, found.symptom, detail, found.seconds, tried)


def read(record: Mapping[str, Any]) -> Ran:
    """What a line of a journal says."""
    told = {key: record[key] for key in ("name", "id", "letter", "symptom", "detail")}
    tried = tuple(record.get("tried", ()))
    return Ran(**told, status=Status(record["status"]), seconds=float(record["seconds"]), tried=tried)


@dataclass(frozen=True)
class Run:
    """A suite on a build: what ran, out of how many, and the seconds that it took, those before an interruption too."""

    results: tuple[Ran, ...]
    of: int
    seconds: float


def run(
    entries: Sequence[Entry],
    order: Iterator[int],
    replay: Replays,
    revision: Revision,
    journal: Journal,
    *,
    budget: float | None = None,
    jobs: int = 1,
    tell: Callable[[Ran], None] = lambda ran: None,
) -> Run:
    """Run the entries in `order` until they or `budget` (seconds) end; what the journal holds is not run again."""
    done = {record["id"]: read(record) for record in journal.records}
    spent = max((float(record["after"]) for record in journal.records), default=0.0)
    started = time.monotonic()
    todo = (at for at in order if entries[at].id not in done)

    def work(number: int, positions: Sequence[int]) -> list[Ran]:
        chosen = [entries[at] for at in positions]
        found = replay.run([entry.case for entry in chosen], revision)
        return [ran(entry, each) for entry, each in zip(chosen, found, strict=True)]

    deadline = Deadline.after(None if budget is None else budget - spent)
    for each in turns(todo, work, jobs, deadline):
        journal.add({**each.record, "after": round(spent + time.monotonic() - started, 3)})
        done[each.id] = each
        tell(each)
    mine = {entry.id for entry in entries}
    results = tuple(each for case, each in done.items() if case in mine)
    return Run(results, len(entries), spent + time.monotonic() - started)
