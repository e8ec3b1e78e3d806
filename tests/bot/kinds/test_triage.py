"""A new bug of a landed commit goes through all steps to its report, is bisected to the commit, and put forward."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import Filing
from tests.bot.checks.support import Shop
from tests.bot.life.support import seen_on
from tests.builds import tinyc
from triage.bisect.found import Kind
from triage.ledger.records import WorkState
from triage.lifecycle import State

REPORTED = tinyc.BACKEND.with_name("tinyc_reported.py")


@pytest.fixture
def reporting(tiny_shop: Shop) -> Shop:
    """Its backend says how a bug is reproduced, so reports can be written."""
    configuration = Path(tiny_shop.project.compiler)
    configuration.write_text(configuration.read_text().replace(str(tinyc.BACKEND), str(REPORTED)))
    tiny_shop.configure(filing=Filing())
    tiny_shop.settings = tiny_shop.settings.model_copy(update={"reports": tiny_shop.folder / "reports"})
    return tiny_shop


def test_a_new_bug_is_reduced_reported_and_bisected_to_the_commit_that_broke_it(reporting: Shop) -> None:
    shop, store = reporting, reporting.ledger.store
    broken = shop.lands("sub swaps")
    tip = shop.lands("sub swaps", "neg raises")
    bug = seen_on(shop, "Sub", tip)
    done = shop.do("triage", bug=bug.id, good=shop.first, bad=tip)
    assert (done.state, done.note) == (WorkState.DONE, f"bug {bug.id} is drafted"), store.bug(bug.id).note
    draft, report = store.draft(bug.id), store.bug(bug.id).report_path
    assert draft is not None and "Sub" in draft.title and "import tinyc" in draft.script
    assert report is not None and Path(report).is_relative_to(shop.folder / "reports")
    [bisect] = shop.queued("bisect")
    assert (bisect.key, bisect.payload["from"], bisect.payload["to"]) == (f"bug:{bug.id}", shop.first, tip)
    assert not shop.queued("file")  # first it is known where it came
    done = shop.go_on(bisect.id, "bisect")
    assert f"first bad revision: {broken}" in done.note
    draft = store.draft(bug.id)
    assert store.bug(bug.id).bisected[Kind.BAD].first == broken
    assert draft is not None and f"First bad revision: {broken}." in draft.body
    [file] = shop.queued("file")
    assert file.payload["bug"] == bug.id


def test_a_bug_that_does_not_repeat_is_not_filed(reporting: Shop) -> None:
    shop, store = reporting, reporting.ledger.store
    tip = shop.lands("neg raises")
    bug = seen_on(shop, "Neg", tip)
    store.advance(bug.id, State.NEW, State.FLAKY, note="once in 3 runs")
    done = shop.do("triage", bug=bug.id, good=shop.first, bad=tip, answer={"number": 4, "comment": 9})
    assert done.note == f"bug {bug.id} is flaky: once in 3 runs"
    assert not shop.queued("file") and not shop.queued("bisect")
    [answer] = shop.ledger.outbox.listed()
    assert (answer.number, answer.state) == (4, "ready") and "once in 3 runs" in answer.payload["body"]


def test_a_bug_whose_build_is_not_where_it_was_is_told(reporting: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = seen_on(reporting, "Neg", reporting.lands("neg raises"))
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(reporting.folder / "elsewhere"))
    done = reporting.do("triage", bug=bug.id)
    assert done.state is WorkState.FAILED and "was seen in" in done.note
