"""Which bugs a fixed case stands for: one model may have failed in several ways over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot import suitefile
from bot.checks import known
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.runner import Runner
from triage.ledger import Ledger
from triage.ledger.records import Issue
from triage.lifecycle import State
from triage.records import NewFailure
from triage.store import open_store
from triage.suite.telling import Told

CASE = Case("onnx", b"sub", {}, Origin("file", "sub"))
JOURNEY = (State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.JUDGED, State.DRAFTED, State.REPORTED)


@dataclass
class Shelf:
    """Bugs of one case, each with an issue of its own number."""

    ledger: Ledger

    def put(self, symptom: str, *further: State) -> int:
        target = Target("onnxruntime", Revision(f"1.{len(self.ledger.store.bugs())}"))
        failure = Failure(CASE, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", symptom, "")
        store = self.ledger.store
        store.record(0, [], [NewFailure(failure, f"f-{symptom}", "convert_sub", ("Sub",), why="one place")])
        number = store.bugs()[-1].id
        states = (*JOURNEY, *further)
        for old, new in itertools.pairwise(states):
            store.advance(number, old, new)
        self.ledger.issues.link(Issue(number, "octo/tiny", number + 10, ours=True))
        return number

    def told(self, symptom: str) -> list[int]:
        """The bugs that are named where the case failed so before, and passes now."""
        one = Told(CASE.id, "sub", "Sub", Status.WRONG, Status.OK, symptom)
        found = known.with_issues(self.ledger, known.by_case(self.ledger.store, "onnxruntime"), [one])
        assert set(found) <= known.no_news(known.by_any_case(self.ledger.store, "onnxruntime"), [one])
        return [each.bug.id for some in found.values() for each in some]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with open_store(tmp_path / "bot.db", create=True) as store:
        yield Shelf(Ledger(store))


def test_a_fix_names_the_bug_that_the_base_showed(shelf: Shelf) -> None:
    old, new = shelf.put("wrong:values", State.FIXED, State.CLOSED), shelf.put("exception:RuntimeError")
    assert shelf.told("exception:RuntimeError") == [new]
    assert shelf.told("wrong:values") == [old], "it is back, and nobody has said so yet"


def test_where_no_symptom_fits_the_bugs_that_are_open_are_named(shelf: Shelf) -> None:
    shelf.put("wrong:values", State.FIXED, State.CLOSED)
    assert shelf.told("crash:SIGSEGV") == []
    new = shelf.put("exception:RuntimeError")
    assert shelf.told("crash:SIGSEGV") == [new]


def test_all_bugs_of_a_case_are_kept(shelf: Shelf) -> None:
    numbers = [shelf.put("wrong:values"), shelf.put("exception:RuntimeError")]
    for found in (known.by_case, known.by_any_case):
        assert [bug.id for bug in found(shelf.ledger.store, "onnxruntime")[CASE.id]] == numbers


def test_a_case_of_several_bugs_bears_the_title_of_none(shelf: Shelf) -> None:
    """Which of them fails in it is known when it has run."""
    wanted = suitefile.Wanted(db=shelf.ledger.store.address, tests=("test_relu",))

    def titles() -> list[str]:
        with Runner(jobs=1) as runner:
            entries = suitefile.gather(wanted, "onnxruntime", runner)
        return [entry.title for entry in entries if entry.id == CASE.id]

    shelf.put("wrong:values", State.FIXED, State.CLOSED)
    assert titles() == ["Sub: wrong:values"]
    shelf.put("exception:RuntimeError")
    assert titles() == [""]
