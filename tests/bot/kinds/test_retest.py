"""Known bugs are run again: when somebody asks, when a release appears, and when nothing was heard of them for long."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import update

from tests.bot import suites
from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of, said, text
from triage.bisect.found import Kind
from triage.ledger.records import NewWork, WorkState
from triage.lifecycle import State
from triage.rows import BugRow

ASKED = {"number": 7, "comment": 99}


@pytest.fixture
def releases(tiny_shop: Shop, tiny: suites.Builds) -> Shop:
    """Its builds are releases; Sub is wrong in 1.0 alone, 1.2 and 1.4 cannot be tested."""
    tiny_shop.configure(compiler=tiny.compiler)
    return tiny_shop


def test_whoever_asks_is_told_what_the_newest_build_does_and_a_fix_is_looked_at(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    fix = tiny_shop.lands()
    done = tiny_shop.do("retest", bug=bug.id, answer=ASKED)
    assert done.note == f"bug {bug.id} on {fix}: passes (3 of 3 fresh runs)"
    told = text(tiny_shop, "answer:99:retest")
    assert f"Bug {bug.id} on {fix}: it passes (3 of 3 fresh runs)." in told and "a fix is looked at now" in told
    [close] = tiny_shop.queued("close")
    assert (close.key, close.payload["commit"]) == (f"bug:{bug.id}", fix)
    assert f"| Last checked | {fix}: passes (3 of 3 fresh runs), " in text(tiny_shop, "status:")


def test_a_revision_that_there_is_not_is_told(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    done = tiny_shop.do("retest", bug=bug.id, revision="v99 @everyone", answer=ASKED)
    assert done.state is WorkState.DONE and "is gone" in done.note
    told = text(tiny_shop, "answer:99:retest")
    assert "`v99 @everyone`" in told and told.count("@everyone") == 1  # as code, where it calls nobody
    assert not tiny_shop.queued("close")


def test_a_closed_bug_that_fails_is_looked_at_again(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    bug = bug_of(tiny_shop, "Sub", broken, State.CLOSED)
    tiny_shop.do("retest", bug=bug.id)
    assert [work.payload["commit"] for work in tiny_shop.queued("reopen")] == [broken]


def test_of_an_issue_that_a_person_closed_the_first_passing_build_is_remembered(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"), State.CLOSED)
    fix = tiny_shop.lands()
    tiny_shop.do("retest", bug=bug.id)
    issue = tiny_shop.ledger.issues.of_bug(bug.id)
    assert issue is not None and issue.fixed_by == fix
    tiny_shop.lands("sub swaps")
    tiny_shop.do("retest", bug=bug.id)
    [reopen] = tiny_shop.queued("reopen")
    done = tiny_shop.go_on(reopen.id, "reopen")
    assert "reopen octo/tiny#7" in done.note


def test_a_release_has_every_known_bug_run_on_it_once(releases: Shop) -> None:
    bug = bug_of(releases, "Sub", "1.0")
    other = bug_of(releases, "Neg", "1.1", State.NEW, None)  # not known well enough to speak of
    done = releases.do("release", version="v1.3")
    assert done.note == "1.3: 1 known bugs are run on it"
    [retest] = releases.queued("retest")
    assert (retest.payload["bug"], retest.payload["revision"]) == (bug.id, "1.3") and other.id != bug.id
    assert releases.do("release", version="1.3").note == "1.3 has been looked at"
    done = releases.go_on(retest.id, "retest")
    [close] = releases.queued("close")
    done = releases.go_on(close.id, "close")
    assert done.note == "fixed by 1.1; close octo/tiny#7"
    assert text(releases, "fixed:").startswith("Fixed by `1.1`: the reproducer passes there and still fails on `1.0`")
    assert releases.ledger.store.bug(bug.id).bisected[Kind.GOOD].first == "1.1"


def test_a_release_that_is_not_there_yet_is_looked_for_later_and_not_for_ever(releases: Shop) -> None:
    assert releases.do("release", version="v9.9").note == "v9.9 is not there yet"
    [later] = releases.queued("release")
    assert later.not_before is not None and later.not_before > datetime.now(UTC) + timedelta(minutes=50)
    assert releases.do("release", version="v9.9", looks=23).note == "v9.9 did not come"


def test_commits_are_not_looked_for_as_releases(tiny_shop: Shop) -> None:
    assert "pushes tell of them" in tiny_shop.do("release", version="").note


def test_old_bugs_are_run_again_and_fresh_ones_are_not(tiny_shop: Shop) -> None:
    old = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    bug_of(tiny_shop, "Neg", tiny_shop.lands("neg raises"), number=8)
    with tiny_shop.ledger.store.writing() as session:
        past = update(BugRow).where(BugRow.id == old.id).values(updated=datetime.now(UTC) - timedelta(days=31))
        session.connection().execute(past)
    for _ in range(2):
        assert tiny_shop.do("collect").state is WorkState.DONE
    assert [work.payload["bug"] for work in tiny_shop.queued("retest")] == [old.id]
    tiny_shop.go_on(tiny_shop.queued("retest")[0].id, "retest")
    tiny_shop.do("collect")
    assert not tiny_shop.queued("retest")  # that was news


def test_nobody_who_muted_a_bug_hears_of_it_again(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    tiny_shop.ledger.issues.update(bug.id, human={"muted": True, "by": "ada"})
    tiny_shop.do("retest", bug=bug.id)
    assert not said(tiny_shop)


def test_what_cannot_be_bisected_is_answered_with_the_reason(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    payload = {"bug": bug.id, "from": bug.revision, "to": bug.revision}
    done = tiny_shop.do("bisect", answer=ASKED, **payload)
    assert done.state is WorkState.DONE
    assert "It could not be bisected: \\--from and --to are both" in text(tiny_shop, "answer:99:bisect")


def test_an_answer_does_not_tell_where_the_repository_lies(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    tiny_shop.repository.rename(tiny_shop.folder / "elsewhere")
    assert str(tiny_shop.repository) in tiny_shop.do("bisect", bug=bug.id, answer=ASKED).note
    answer = text(tiny_shop, "answer:99:bisect")
    assert (
        "It could not be bisected: repository: fatal: cannot change" in answer and str(tiny_shop.folder) not in answer
    )


def test_what_an_installer_said_is_told_to_who_asked_and_not_in_the_status(tiny_shop: Shop) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"))
    configuration = tiny_shop.folder / "tinyc.toml"
    configuration.write_text(re.sub(r"tinyc-[\d.]+-", "tinyc-9.9-", configuration.read_text()))
    tiny_shop.do("retest", bug=bug.id, answer=ASKED)
    answer, status = text(tiny_shop, "answer:99:retest"), text(tiny_shop, "status:")
    assert (
        "cannot be tested: installing failed" in answer
        and "file:" not in answer
        and str(tiny_shop.folder) not in answer
    )
    assert "cannot be tested, 20" in status and "install" not in status


def test_bisect_without_ends_looks_from_the_oldest_build_on(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    tip = tiny_shop.lands("sub swaps", "neg raises")
    bug = bug_of(tiny_shop, "Sub", tip)
    tiny_shop.do("retest", bug=bug.id)
    tiny_shop.do("bisect", bug=bug.id, answer=ASKED)
    assert f"The first revision that fails is {broken}; {tiny_shop.first} before it passes" in text(
        tiny_shop, "answer:99:bisect"
    )
    status = text(tiny_shop, "status:")
    assert f"| Fails since | {broken} (passes on {tiny_shop.first}) |" in status
    assert status.count(f"| Last checked | {tip}: fails (3 of 3 fresh runs), ") == 1  # still


def test_bisect_names_the_commits_between_that_cannot_be_tested_and_blames_none(tiny_shop: Shop) -> None:
    hidden, seen = tiny_shop.lands("garbage", "sub swaps"), tiny_shop.lands("sub swaps")
    bug = bug_of(tiny_shop, "Sub", seen)
    tiny_shop.do("bisect", bug=bug.id, answer=ASKED)
    told = text(tiny_shop, "answer:99:bisect")
    assert told.startswith(f"It fails at the latest with {seen}; {tiny_shop.first} before it passes.")
    assert f"between them lie {hidden}, which could not be tested" in told
    assert tiny_shop.ledger.store.bug(bug.id).bisected[Kind.BAD].between == (hidden,)


def test_a_bisection_without_an_answer_says_why(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    bug = bug_of(tiny_shop, "Sub", broken)
    tip = tiny_shop.lands("sub swaps", "neg raises")
    tiny_shop.do("bisect", bug=bug.id, answer=ASKED, **{"from": broken, "to": tip})
    assert "do not differ" in text(tiny_shop, "answer:99:bisect")


def test_work_on_a_bug_that_failed_for_good_is_begun_again_daily_and_not_for_ever(tiny_shop: Shop) -> None:
    ledger = tiny_shop.ledger
    confirmed = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"), State.CONFIRMED, None)
    drafted = bug_of(tiny_shop, "Neg", tiny_shop.lands("neg raises"), State.DRAFTED, None)
    hunts = bug_of(tiny_shop, "Relu", tiny_shop.lands("neg dies"), State.NEW, None)  # nobody has asked for it
    payload = {"good": "a", "bad": "b", "answer": ASKED}
    for bug, kind in ((confirmed, "triage"), (drafted, "triage"), (drafted, "file")):
        ledger.work.add(NewWork(kind, f"bug:{bug.id}", "tiny", {**payload, "bug": bug.id}))
        work = ledger.work.claim([kind])
        assert work is not None and ledger.work.failed(work, "the configuration could not be read")
    for _ in range(2):  # the second finds them queued
        tiny_shop.do("collect")
        queued = ledger.work.listed([WorkState.QUEUED])
        assert {(work.kind, work.key) for work in queued} == {
            ("triage", f"bug:{confirmed.id}"),
            ("file", f"bug:{drafted.id}"),
        }
    assert hunts.id and tiny_shop.queued("triage")[0].payload == {"bug": confirmed.id, "good": "a", "bad": "b"}
    for _ in range(9):
        while (work := ledger.work.claim(["triage", "file"])) is not None:
            ledger.work.failed(work, "again")
        tiny_shop.do("collect")
    assert len(ledger.work.listed(kind="triage", key=f"bug:{confirmed.id}")) == 6
    assert not tiny_shop.queued("triage") and not tiny_shop.queued("file")
