"""What follows from commits that land, on real builds of the tiny compiler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import suitefile
from bot.kinds import Done, suite
from bot.suitefile import Wanted
from tests.bot import suites
from tests.bot.checks.support import Shop, git, overlay
from tests.builds import tinyc
from triage.ledger.records import NewWork, WorkState
from triage.lifecycle import State
from triage.revisions import installing
from triage.suite.entries import Entry


def moved(shop: Shop, *states: State) -> int:
    """Move the bug of Sub from state to state; its id."""
    bug = shop.bug("Sub")
    for before, after in zip([bug.state, *states], states, strict=False):
        shop.ledger.store.advance(bug.id, before, after)
    return bug.id


REPORTED = (
    State.CONFIRMED,
    State.REDUCED,
    State.LOCATED,
    State.JUDGED,
    State.DRAFTED,
    State.REPORTED,
)


def test_what_a_commit_breaks_becomes_a_bug_of_that_commit_and_work(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    done = tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    assert done.state is WorkState.DONE and "1 new failure" in done.note
    bug = tiny_shop.bug("Sub")
    assert (bug.state, bug.target.revision.version, bug.target.revision.commit) == (State.NEW, broken, broken)
    assert bug.target.revision.untrusted
    [work] = tiny_shop.queued("triage")
    assert work.key == f"bug:{bug.id}"
    assert dict(work.payload) == {"bug": bug.id, "good": tiny_shop.first, "bad": broken}


def test_the_same_suite_once_more_makes_no_second_bug_and_no_work_on_a_reported_one(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    for at in range(1, 3):
        done = tiny_shop.do("suite", commit=broken, before=tiny_shop.first, at=at)
        assert "1 new failure" in done.note
    assert len(tiny_shop.ledger.store.bugs()) == len(tiny_shop.queued("triage")) == 1
    tiny_shop.ledger.work.cancel("triage", "bug:*", "not here")
    moved(tiny_shop, *REPORTED)
    assert "1 new failure" in tiny_shop.do("suite", commit=broken, before=tiny_shop.first, at=3).note
    assert not tiny_shop.queued("triage")


def test_a_push_that_is_told_of_again_computes_nothing(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    there = {"commit": broken, "before": tiny_shop.first}
    back = {"commit": tiny_shop.first, "before": broken}
    for push in ({**there, "at": 1}, {**back, "at": 2}, {**there, "at": 3}, back, there, back):
        assert "delivered twice" not in tiny_shop.do("suite", **push).note, push
    for push in (back, {**there, "at": 1}, {**back, "at": 2}, {**there, "at": 3}):
        assert tiny_shop.do("suite", **push).note == "done before: it was delivered twice"


def test_a_reported_bug_is_closed_when_it_passes_and_reopened_when_it_is_back(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    number = moved(tiny_shop, *REPORTED)
    mended = tiny_shop.lands()
    tiny_shop.do("suite", commit=mended, before=broken)
    [close] = tiny_shop.queued("close")
    assert dict(close.payload) == {"bug": number, "commit": mended, "before": broken}
    moved(tiny_shop, State.FIXED, State.CLOSED)
    again = tiny_shop.lands("sub swaps")
    tiny_shop.do("suite", commit=again, before=mended)
    [reopen] = tiny_shop.queued("reopen")
    assert dict(reopen.payload) == {"bug": number, "commit": again, "before": mended}


def test_nothing_follows_from_what_only_varies(tiny_shop: Shop) -> None:
    frontend = tinyc.sources()["tinyc/frontend.py"]
    other = "raise type('E' + __import__('os').urandom(4).hex(), (RuntimeError,), {})('no')"
    (tiny_shop.repository / "tinyc/frontend.py").write_text(frontend.replace("return -x", other))
    tiny_shop.git("commit", "--quiet", "--all", "--message", "varies")
    done = tiny_shop.do("suite", commit=tiny_shop.git("rev-parse", "HEAD").strip(), before=tiny_shop.first)
    assert "1 flaky" in done.note and not tiny_shop.ledger.store.bugs()


def test_a_commit_that_computes_garbage_is_no_news_of_the_compiler(tiny_shop: Shop) -> None:
    done = tiny_shop.do("suite", commit=tiny_shop.lands("garbage"), before=tiny_shop.first)
    assert done.state is WorkState.DONE and "cannot be tested" in done.note
    assert not tiny_shop.ledger.store.bugs() and not tiny_shop.queued("triage")


def test_a_commit_that_could_not_be_installed_just_now_is_waited_for_and_not_lost(
    tiny_shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path / "away"
    away.write_text("#!/bin/sh\necho 'error: Could not connect' >&2\nexit 2\n")
    away.chmod(0o755)
    (tiny_shop.repository / "tinyc" / "new.py").write_text(f"# {tmp_path}")  # a build that no other test has made
    broken = tiny_shop.lands("sub swaps")
    with monkeypatch.context() as changed:
        changed.setattr(installing, "find_uv_bin", lambda: str(away))
        waits = tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    assert waits.state is WorkState.QUEUED and "Could not connect" in waits.note
    assert "1 new failure" in tiny_shop.do("suite", commit=broken, before=tiny_shop.first).note


def test_without_what_was_before_the_newest_tested_ancestor_is_compared_with(tiny_shop: Shop) -> None:
    garbage = tiny_shop.lands("garbage")
    tiny_shop.do("suite", commit=tiny_shop.first, before="")
    broken = tiny_shop.lands("sub swaps")
    for before in (garbage, "0123456789" * 4):
        done = tiny_shop.do("suite", commit=broken, before=before)
        assert "1 new failure" in done.note
    [work] = tiny_shop.queued("triage")
    assert work.payload["good"] == tiny_shop.first


@pytest.mark.parametrize("gated", [False, True])
def test_what_a_suite_could_not_test_is_looked_at_with_the_next_commit(tiny_shop: Shop, gated: bool) -> None:
    """Though a pull request's gate may have seen that commit: what a gate finds becomes no bug."""
    tiny_shop.do("suite", commit=tiny_shop.first, before="")
    broken = tiny_shop.lands("sub swaps")
    if gated:
        assert tiny_shop.gate(broken, base=tiny_shop.first)["conclusion"] == "failure"
    configuration = Path(tiny_shop.project.compiler)
    known = configuration.read_text()
    configuration.write_text("this is = no TOML [")
    waits = tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    assert waits.state is WorkState.QUEUED and waits.not_before is not None and "tinyc.toml" in waits.note
    configuration.write_text(known)
    harmless = tiny_shop.lands("sub swaps")
    assert "1 new failure" in tiny_shop.do("suite", commit=harmless, before=broken).note
    [work] = tiny_shop.queued("triage")
    assert (work.payload["good"], work.payload["bad"]) == (tiny_shop.first, harmless)
    tiny_shop.ledger.work.wake("suite", waits.key)
    assert tiny_shop.go_on(waits.id, "suite").state is WorkState.DONE
    assert len(tiny_shop.ledger.store.bugs()) == 1


def test_a_suite_that_concludes_nothing_does_not_count_as_one(tiny_shop: Shop) -> None:
    tiny_shop.do("suite", commit=tiny_shop.first, before="")
    broken = tiny_shop.lands("sub swaps")
    tiny_shop.configure(budget="0.000001s")
    done = tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    assert done.state is WorkState.FAILED and "budget" in done.note
    tiny_shop.configure(budget="1h")
    assert "1 new failure" in tiny_shop.do("suite", commit=tiny_shop.lands("sub swaps"), before=broken).note


def test_with_nothing_to_compare_a_known_bug_that_passes_is_news_all_the_same(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    number = moved(tiny_shop, *REPORTED)
    tiny_shop.git("checkout", "--quiet", "--orphan", "other")
    mended = tiny_shop.lands()
    tiny_shop.git("branch", "--force", "main", mended)
    done = tiny_shop.do("suite", commit=mended, before="")
    assert done.note.startswith(f"nothing to compare with; 3 of 3 cases ran on {mended[:12]}")
    [close] = tiny_shop.queued("close")
    assert (close.payload["bug"], close.payload["before"]) == (number, "")


def test_a_commit_that_landed_needs_no_word_though_the_clone_is_behind(
    tiny_shop: Shop, tmp_path: Path, tiny: suites.Builds
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(tiny_shop.repository), str(clone))
    Path(tiny_shop.project.compiler).write_text(overlay(clone, tiny.root.parent))
    broken = tiny_shop.lands("sub swaps")
    done = tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    assert "1 new failure" in done.note
    assert git(clone, "rev-parse", "origin/main").strip() == broken


def test_every_push_has_its_own_suite_in_the_order_of_the_pushes(tiny_shop: Shop) -> None:
    pushes = [(tiny_shop.first, tiny_shop.lands("sub swaps")), ("", tiny_shop.lands())]
    pushes[1] = (pushes[0][1], pushes[1][1])
    for before, commit in pushes:
        tiny_shop.ledger.work.add(NewWork("suite", f"tiny:{commit}", "tiny", {"commit": commit, "before": before}))
    for work, (_, commit) in zip(reversed(tiny_shop.queued("suite")), pushes, strict=True):
        assert work.payload["commit"] == commit
        assert tiny_shop.go_on(work.id, "suite").state is WorkState.DONE
    assert tiny_shop.bug("Sub").state is State.NEW


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("sliced", [False, True])
def test_what_an_interrupted_suite_has_found_is_not_lost(
    tiny_shop: Shop, monkeypatch: pytest.MonkeyPatch, sliced: bool
) -> None:
    """Nor where the case is in the suite only because the change touches its operator."""
    gather = suitefile.gather

    def without_subtraction(wanted: Wanted, *rest: Any) -> list[Entry]:
        return [each for each in gather(wanted, *rest) if wanted.touched or "Sub" not in each.name]

    if sliced:
        monkeypatch.setattr(suitefile, "gather", without_subtraction)
    broken = tiny_shop.lands("sub swaps")
    tiny_shop.ledger.work.add(NewWork("suite", "it", "tiny", {"commit": broken, "before": tiny_shop.first}))
    work = tiny_shop.ledger.work.claim(["suite"])
    assert work is not None

    def die_at_the_end(note: str) -> None:
        if note.endswith("3 of 3 cases"):
            raise Killed

    with pytest.raises(Killed):
        suite.run(work, replace(tiny_shop.desk, say=die_at_the_end))
    assert not tiny_shop.ledger.store.bugs()
    notes: list[str] = []
    answer = suite.run(work, replace(tiny_shop.desk, say=notes.append))
    assert not [note for note in notes if note.endswith("so far; 1 cases")]  # nothing was compared again
    assert isinstance(answer, Done) and [each.kind for each in answer.works] == ["triage"]
    assert tiny_shop.bug("Sub").target.revision.version == broken
