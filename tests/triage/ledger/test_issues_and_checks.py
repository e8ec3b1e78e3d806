"""Which bug is which issue, and which commit has which check run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage.ledger import Ledger
from triage.ledger.issues import Taken
from triage.ledger.records import Check, Issue
from triage.records import NewFailure
from triage.store import Unknown


@pytest.fixture
def bugs(ledger: Ledger) -> list[int]:
    """Two bugs."""
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("ValueError", "bad axis"))
    target = Target("tvm", Revision("1"))
    failing = [Case("onnx", name.encode(), {"x": np.arange(3)}, Origin("x", name)) for name in "ab"]
    new = [
        NewFailure(Failure(case, target, outcome, None, "crash", "exception:ValueError", ""), case.id)
        for case in failing
    ]
    ledger.store.record(ledger.store.begin_campaign({}).id, [], new)
    return [bug.id for bug in ledger.store.bugs()]


def test_a_bug_has_one_issue_and_an_issue_one_bug(ledger: Ledger, bugs: list[int]) -> None:
    first = Issue(bugs[0], "a/b", 7, ours=True)
    ledger.issues.link(first)
    ledger.issues.link(first)
    with pytest.raises(Taken, match=f"a/b#7 is the issue of bug {bugs[0]} already"):
        ledger.issues.link(replace(first, bug_id=bugs[1]))
    with pytest.raises(Taken, match=f"bug {bugs[0]} is a/b#7 already"):
        ledger.issues.link(replace(first, number=8))
    assert ledger.issues.by_number("a/b", 7) == ledger.issues.of_bug(bugs[0]) == first
    assert ledger.issues.of_bug(bugs[1]) is None
    assert ledger.issues.listed("a/c") == []


def test_what_people_decided_is_kept(ledger: Ledger, bugs: list[int]) -> None:
    ledger.issues.link(Issue(bugs[0], "a/b", 7, ours=False, linked_by="ada"))
    ledger.issues.update(bugs[0], open=False, human={"closed": "not_planned", "by": "ada"})
    ledger.issues.update(bugs[0], fixed_by="abc")
    found = ledger.issues.of_bug(bugs[0])
    assert found == Issue(bugs[0], "a/b", 7, False, "ada", False, {"closed": "not_planned", "by": "ada"}, "abc")
    with pytest.raises(Unknown):
        ledger.issues.update(bugs[1], open=True)


def test_a_check_run_keeps_the_number_that_github_gave_it(ledger: Ledger) -> None:
    check = Check("a/b", "abc", "x1", "tvm", pull=3)
    ledger.checks.put(replace(check, run_id=1 << 40))
    ledger.checks.put(replace(check, state="running"))
    found = ledger.checks.get("x1")
    assert found == replace(check, run_id=1 << 40, state="running")
    assert ledger.checks.of_head("a/b", "abc") == ledger.checks.of_pull("a/b", 3) == [found]
    assert ledger.checks.in_state("waiting") == []


def test_a_pull_request_is_at_one_head_whatever_is_told_of_the_others(ledger: Ledger) -> None:
    old, new = Check("a/b", "abc", "x1", "tvm", pull=3), Check("a/b", "def", "x2", "tvm", pull=3, fork=False)
    elsewhere = [replace(new, external_id="x3", pull=4), replace(new, external_id="x4", project="xla")]
    for check in (old, *elsewhere, new):
        ledger.checks.moved(check)
    ledger.checks.put(replace(old, state="running", newest=True, fork=False))
    ledger.checks.put(replace(new, state="running", newest=False, fork=True))
    assert ledger.checks.get("x1") == replace(old, state="running", newest=False)
    assert ledger.checks.newest("a/b", "tvm", 3) == replace(new, state="running", newest=True)
    assert ledger.checks.newest("a/b", "tvm", 4) == replace(elsewhere[0], newest=True)
    assert ledger.checks.newest("a/b", "tvm", 5) is ledger.checks.newest("a/b", "tvm", None) is None
    ledger.checks.moved(old)
    found = ledger.checks.newest("a/b", "tvm", 3)
    assert found is not None and found.external_id == "x1"
