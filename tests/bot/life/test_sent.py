"""What follows when something has arrived, however often that is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.life import sent
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.life.support import moved
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, Outgoing, OutKind
from triage.lifecycle import State
from triage.records import NewFailure
from triage.store import open_store


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_store(tmp_path / "bot.db", create=True) as store:
        for name in ("one", "two"):
            case = Case("onnx", name.encode(), {}, Origin("file", name))
            target = Target("tvm", Revision("1.0"))
            failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "")
            store.record(0, [], [NewFailure(failure, f"f-{name}")])
        yield Ledger(store)


def arrive(ledger: Ledger, kind: OutKind, key: str, number: int | None = None, **payload: object) -> None:
    """It is sent, and its arrival told three times, as after kills."""
    ledger.outbox.add(NewOutgoing(kind, key, "octo/tiny", payload, "bug:1", number, 1))
    one = ledger.outbox.next()
    assert isinstance(one, Outgoing)
    for _ in range(3):
        sent.after(one, {"number": 12}, ledger)
    ledger.outbox.sent(one, {"number": 12})


def test_a_filed_bug_is_reported_and_knows_its_issue(ledger: Ledger) -> None:
    moved(ledger.store, ledger.store.bug(1), State.DRAFTED)
    arrive(ledger, OutKind.ISSUE, "issue:f-one", title="t", body="b")
    assert ledger.store.bug(1).state is State.REPORTED
    assert ledger.issues.of_bug(1) == Issue(1, "octo/tiny", 12, ours=True)


def test_an_issue_of_somebody_else_is_linked_and_never_the_bots(ledger: Ledger) -> None:
    moved(ledger.store, ledger.store.bug(1), State.DRAFTED)
    arrive(ledger, OutKind.COMMENT, "known:f-one:5", 5, body="b")
    assert ledger.store.bug(1).state is State.REPORTED
    assert ledger.issues.of_bug(1) == Issue(1, "octo/tiny", 5, ours=False)


def test_a_closed_issue_closes_the_bug_and_remembers_the_fix(ledger: Ledger) -> None:
    moved(ledger.store, ledger.store.bug(1), State.FIXED)
    ledger.issues.link(Issue(1, "octo/tiny", 12, ours=True))
    arrive(ledger, OutKind.STATE, "close:bug:1:abc", 12, open=False, reason="completed", fixed_by="abc")
    found = ledger.issues.of_bug(1)
    assert ledger.store.bug(1).state is State.CLOSED
    assert found is not None and (found.open, found.fixed_by) == (False, "abc")


def test_a_bug_that_moved_meanwhile_stays_where_it_is(ledger: Ledger) -> None:
    moved(ledger.store, ledger.store.bug(1), State.FIXED)
    ledger.store.advance(1, State.FIXED, State.REGRESSED)
    ledger.issues.link(Issue(1, "octo/tiny", 12, ours=True))
    arrive(ledger, OutKind.STATE, "close:bug:1:abc", 12, open=False, reason="completed", fixed_by="abc")
    assert ledger.store.bug(1).state is State.REGRESSED


def test_an_issue_that_belongs_to_another_bug_is_left_to_it(ledger: Ledger) -> None:
    ledger.issues.link(Issue(2, "octo/tiny", 12, ours=True))
    moved(ledger.store, ledger.store.bug(1), State.DRAFTED)
    arrive(ledger, OutKind.ISSUE, "issue:f-one", title="t", body="b")
    assert ledger.issues.of_bug(1) is None and ledger.store.bug(1).state is State.DRAFTED


def test_a_closing_without_a_fix_keeps_the_fix_that_is_known(ledger: Ledger) -> None:
    ledger.issues.link(Issue(1, "octo/tiny", 12, ours=True, fixed_by="abc"))
    arrive(ledger, OutKind.STATE, "duplicate:1", 12, open=False, reason="duplicate")
    found = ledger.issues.of_bug(1)
    assert found is not None and (found.open, found.fixed_by) == (False, "abc")
