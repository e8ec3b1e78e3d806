"""A failure with the signature of a known bug is that bug only if the bug itself is there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.checks import known, landing
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage.lifecycle import State
from triage.records import Bug, NewFailure, Result
from triage.store import Store, open_store
from triage.suite.running import Ran

JOURNEY = (
    *(State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.JUDGED, State.DRAFTED, State.REPORTED),
    *(State.FIXED, State.CLOSED),
)
REDUCED, OTHER, THIRD = (Case("onnx", name, {}, Origin("file", name.decode())) for name in (b"mul", b"int64", b"int8"))


@dataclass
class Shelf:
    """Failures of one operator, which read alike, on one build after the other."""

    store: Store

    def fails(self, case: Case, revision: str) -> tuple[Failure, list[Bug]]:
        """A suite finds the failure; the bugs that it seems to show."""
        target = Target("onnxruntime", Revision(revision))
        failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "")
        campaign = self.store.begin_campaign({"commit": revision})
        new = NewFailure(failure, "mul", "convert_mul", ("Mul",), why="one place")
        result = Result(case.id, target.id, case.origin, Status.WRONG, Stage.RUN, "", 0.1, 1.0)
        self.store.record(campaign.id, [result], [new])
        return failure, self.store.bugs(campaign_id=campaign.id)

    def moved(self, number: int, state: State) -> None:
        for old, new in itertools.pairwise(JOURNEY[: JOURNEY.index(state) + 1]):
            self.store.advance(number, old, new)

    def apart(self, passing: Case, found: tuple[Failure, list[Bug]]) -> list[Bug]:
        """What a failure turns out to be where another case passes."""
        ran = [Ran("bug", passing.id, "P", Status.OK)]
        bugs, cases = (find(self.store, "onnxruntime") for find in (known.by_case, known.by_any_case))
        return landing.apart(self.store, ran, bugs, cases, [found[0]], found[1])


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with open_store(tmp_path / "bot.db", create=True) as store:
        made = Shelf(store)
        made.fails(REDUCED, "1.0")
        yield made


@pytest.mark.parametrize("state", [State.REPORTED, State.FIXED, State.CLOSED])
def test_what_fails_while_the_known_bug_passes_is_a_bug_of_its_own(shelf: Shelf, state: State) -> None:
    shelf.moved(1, state)
    [bug] = shelf.apart(REDUCED, shelf.fails(OTHER, "3.0"))
    assert bug.id != 1 and (bug.state, bug.count) == (State.NEW, 1)
    assert bug.target.revision.version == "3.0"
    assert shelf.store.bug(1).count == 1


def test_a_known_bug_that_does_not_pass_is_met_itself(shelf: Shelf) -> None:
    shelf.moved(1, State.CLOSED)
    assert [bug.id for bug in shelf.apart(THIRD, shelf.fails(OTHER, "3.0"))] == [1]


def test_a_bug_that_is_still_worked_on_is_left_whole(shelf: Shelf) -> None:
    shelf.moved(1, State.CONFIRMED)
    assert [bug.id for bug in shelf.apart(REDUCED, shelf.fails(OTHER, "3.0"))] == [1]


def test_done_twice_it_is_the_same_bug(shelf: Shelf) -> None:
    """Killed after it was made, the suite saves its failures again."""
    shelf.moved(1, State.CLOSED)
    [made] = shelf.apart(REDUCED, shelf.fails(OTHER, "3.0"))
    assert [bug.id for bug in shelf.apart(REDUCED, shelf.fails(OTHER, "3.0"))] == [made.id]
    assert [(bug.id, bug.count) for bug in shelf.store.bugs()] == [(1, 1), (made.id, 1)]


def test_one_that_was_taken_apart_before_is_met_again(shelf: Shelf) -> None:
    shelf.moved(1, State.CLOSED)
    [made] = shelf.apart(REDUCED, shelf.fails(OTHER, "3.0"))
    shelf.moved(made.id, State.CLOSED)
    assert [bug.id for bug in shelf.apart(REDUCED, shelf.fails(OTHER, "5.0"))] == [made.id]
    assert len(shelf.store.bugs()) == 2
