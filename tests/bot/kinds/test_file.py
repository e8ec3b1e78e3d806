"""Filing: the tracker is searched, the report arrives as an issue, limits and moderators are asked first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bot import kinds, working
from bot.desk import Desk
from bot.github.auth import Access
from bot.github.pace import Pace
from bot.life import human, saying
from bot.sending import sender_of
from bot.settings import Filing, Settings
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.life.support import BODY, DRAFT, moved
from tests.builds import tinyc
from tests.github.support import World
from triage.ledger import Ledger
from triage.ledger.outbox import Overtaken
from triage.ledger.records import Issue, NewWork, OutState, Work, WorkState
from triage.lifecycle import State
from triage.records import Bug, NewFailure, StoredDraft
from triage.store import open_store

TITLE = "[Bug] Sub of int8 returns 2 instead of -2"
OURS = replace(DRAFT, title=TITLE)
#: How somebody else has told of it.
THEIRS = "[ONNX] Sub with int8 returns wrong values"


@dataclass
class Office:
    """GitHub, a configuration for it, and a ledger with one drafted bug of the operator Sub."""

    world: World
    settings: Settings
    ledger: Ledger

    def bug(self) -> Bug:
        return self.ledger.store.bug(1)

    def configure(self, **filing: Any) -> None:
        project = self.settings.projects["compiler"].model_copy(update={"filing": Filing(**filing)})
        self.settings = self.settings.model_copy(update={"projects": {"compiler": project}})

    def file(self, bug_id: int = 1, **payload: Any) -> Work:
        """File the bug as the bot's loop does; the row afterwards."""
        new = saying.to_file(bug_id, "compiler")
        added = self.ledger.work.add(replace(new, payload={**new.payload, **payload}))
        work = self.ledger.work.claim(["file"])
        assert work is not None and work.id == added
        access = Access(self.settings, Pace(lambda: 0.0))
        working.do(work, Desk(self.settings, self.ledger, access.client))
        return self.ledger.work.get(added)

    def send(self) -> None:
        """Everything that is ready goes out."""
        access = Access(self.settings, Pace(lambda: 0.0))
        sender = sender_of(self.ledger, access.client, access.pace, settled=0)
        for _ in range(50):
            if sender.step() is None:
                return
        pytest.fail("the outbox does not become empty")


@pytest.fixture
def office(github_world: World) -> Iterator[Office]:
    settings = github_world.settings()
    configuration = github_world.folder / "tinyc.toml"
    configuration.write_text(
        f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "wheel"\nfolder = "{github_world.folder}"'
    )
    project = settings.projects["compiler"].model_copy(
        update={"compiler": str(configuration), "filing": Filing(moderation=False, labels=("found by a tool",))}
    )
    settings = settings.model_copy(update={"projects": {"compiler": project}})
    with open_store(settings.database, create=True) as store:
        ledger = Ledger(store)
        add(ledger, "one")
        yield Office(github_world, settings, ledger)


def add(ledger: Ledger, name: str, draft: StoredDraft = OURS) -> Bug:
    """Another drafted bug."""
    case = Case("onnx", name.encode(), {}, Origin("file", name))
    target = Target(str(tinyc.BACKEND), Revision("1.0"))
    failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "")
    ledger.store.record(0, [], [NewFailure(failure, f"f-{name}", "convert_sub", ("Sub",), "values differ")])
    bug = ledger.store.bugs()[-1]
    moved(ledger.store, bug, State.DRAFTED, draft)
    return ledger.store.bug(bug.id)


def test_a_drafted_bug_becomes_one_issue_with_its_report_labels_and_mark(office: Office) -> None:
    assert office.file().state is WorkState.DONE
    office.send()
    assert office.file().note == f"bug 1 is not filed: it is {office.world.repository}#1 already"
    office.send()
    [issue] = office.world.issues()
    assert issue["title"] == TITLE and issue["body"].startswith(BODY.rstrip())
    assert issue["body"].rstrip().endswith("<!-- graphwarden:issue:f-one -->")
    assert {each["name"] for each in issue["labels"]} == {"type: bug", "found by a tool"}
    assert office.bug().state is State.REPORTED
    assert office.ledger.issues.of_bug(1) == Issue(1, office.world.repository, 1, ours=True)


def test_the_mark_that_a_report_has_on_disk_is_not_shown_as_text(office: Office) -> None:
    body = f"{BODY.rstrip()}\n<!-- graphwarden:bug:f-two -->\n"
    bug = add(office.ledger, "two", StoredDraft("[Bug] Neg raises", body, "print('PASS')\n"))
    office.file(bug.id)
    office.send()
    assert "bug:f-two" not in office.world.issues()[-1]["body"]


def test_a_script_that_is_too_long_lies_on_a_branch_and_is_linked(office: Office) -> None:
    script = "print('PASS')\n" * 4000
    words = "The script is long (4000 lines) and is attached as `repro.py`. It prints `PASS` once the bug is gone."
    bug = add(office.ledger, "long", StoredDraft("[Bug] Neg raises", f"{words}\n\n{BODY}", script))
    office.file(bug.id)
    office.send()
    body = office.world.issues()[-1]["body"]
    assert f"/{office.world.repository}/blob/graphwarden/reproducers/bugs/f-long.py)" in body
    assert office.world.file("graphwarden/reproducers", "bugs/f-long.py").decode() == script


@pytest.mark.parametrize(("lines", "words"), [(3000, "stands at the end"), (6000, "is kept with the bug")])
def test_a_file_that_github_refuses_is_not_linked_by_its_issue(office: Office, lines: int, words: str) -> None:
    office.world.proxy.refuse("PUT", r".*/contents/.*")
    bug = long(office, lines)
    office.file(bug.id)
    office.send()
    [issue] = office.world.issues()
    assert f"The script is long ({lines} lines) and {words}" in issue["body"] and "/blob/" not in issue["body"]
    assert issue["body"].count("print('PASS')") == (lines if lines == 3000 else 0)
    assert "left out" not in issue["body"] and office.ledger.store.bug(bug.id).state is State.REPORTED


def test_a_file_that_a_moderator_rejects_is_not_linked_by_its_issue(office: Office) -> None:
    office.configure()
    bug = long(office, 3000)
    office.file(bug.id)
    file, issue = office.ledger.outbox.listed([OutState.HELD])
    office.ledger.outbox.reject(file.id, "ada")
    office.ledger.outbox.approve(issue.id, "ada")
    office.send()
    assert "stands at the end" in office.world.issues()[0]["body"] and "/blob/" not in office.world.issues()[0]["body"]


def long(office: Office, lines: int) -> Bug:
    """A drafted bug whose script is too long for its report."""
    words = f"The script is long ({lines} lines) and is attached as `repro.py`. It prints `PASS` once the bug is gone."
    draft = StoredDraft("[Bug] Neg raises", f"{words}\n\n{BODY}", "print('PASS')\n" * lines)
    return add(office.ledger, "long", draft)


def test_with_moderation_nothing_goes_out_before_somebody_has_approved_it(office: Office) -> None:
    office.configure()
    assert "waits for a moderator" in office.file().note
    office.send()
    assert not office.world.issues() and office.bug().state is State.DRAFTED
    [held] = office.ledger.outbox.listed([OutState.HELD])
    assert "its issue is held in the outbox" in office.file().note
    office.ledger.outbox.approve(held.id, "ada")
    office.send()
    assert len(office.world.issues()) == 1


def test_what_a_moderator_rejected_is_filed_only_when_a_person_asks(office: Office) -> None:
    office.configure()
    office.file()
    [held] = office.ledger.outbox.listed([OutState.HELD])
    office.ledger.outbox.reject(held.id, "ada")
    assert office.file().note == "bug 1 is not filed: a moderator has rejected its issue"
    asked = office.world.ask("/issues", "POST", {"title": "Please", "body": ""})["number"]
    office.file(answer={"number": asked, "comment": 99})
    office.send()
    assert office.bug().state is State.REPORTED and len(office.world.issues()) == 2
    [answer] = office.world.comments(asked)
    assert "Bug 1 is filed." in answer["body"]


def test_what_waits_for_a_moderator_goes_out_when_a_person_with_write_permission_asks(office: Office) -> None:
    office.configure()
    office.file()
    asked = office.world.ask("/issues", "POST", {"title": "Please", "body": ""})["number"]
    assert "was waiting for a moderator" in office.file(answer={"number": asked, "comment": 99}).note
    office.send()
    assert office.bug().state is State.REPORTED and len(office.world.issues()) == 2


def test_an_issue_that_says_the_same_gets_a_comment_instead(office: Office) -> None:
    known = office.world.ask("/issues", "POST", {"title": THEIRS, "body": "It is wrong."})["number"]
    assert office.file().note == f"bug 1 is known: #{known} names Sub and int8"
    office.send()
    [comment] = office.world.comments(known)
    assert "looks like this issue" in comment["body"] and "print('PASS')" in comment["body"]
    assert [each["number"] for each in office.world.issues()] == [known]
    linked = office.ledger.issues.of_bug(1)
    assert linked is not None and (linked.number, linked.ours, linked.linked_by) == (known, False, "")
    assert office.bug().state is State.REPORTED


def test_a_second_bug_of_that_issue_is_its_duplicate(office: Office) -> None:
    number = office.world.ask("/issues", "POST", {"title": THEIRS, "body": ""})["number"]
    other = add(office.ledger, "other")
    office.ledger.issues.link(Issue(other.id, office.world.repository, number, ours=False))
    assert "same issue as bug 2" in office.file().note
    office.send()
    assert office.bug().state is State.DUPLICATE and not office.world.comments(number)


def test_an_issue_of_the_bots_own_from_another_database_is_taken_up(office: Office) -> None:
    office.file()
    office.send()
    with open_store(office.world.folder / "other.db", create=True) as store:
        office.ledger = Ledger(store)
        add(office.ledger, "one")
        assert office.file().note == "bug 1 is #1, which the bot had filed"
        office.send()
        assert office.bug().state is State.REPORTED and len(office.world.issues()) == 1


def test_of_one_component_one_issue_a_day_is_filed(office: Office) -> None:
    second = add(office.ledger, "two")
    office.file()
    done = office.file(second.id)
    assert "the limit is reached: 1 of 1 a day for convert_sub" in done.note
    [later] = office.ledger.work.listed([WorkState.QUEUED], "file")
    assert later.not_before is not None and later.not_before > done.updated
    office.send()
    assert len(office.world.issues()) == 1


def test_two_processes_that_count_at_the_same_moment_file_no_more_than_one(office: Office) -> None:
    second = add(office.ledger, "two")
    access = Access(office.settings, Pace(lambda: 0.0))
    desk, works, outbox = Desk(office.settings, office.ledger, access.client), office.ledger.work, office.ledger.outbox
    both = []
    for bug_id in (1, second.id):
        works.add(saying.to_file(bug_id, "compiler"))
        work = works.claim(["file"])
        assert work is not None
        answer = kinds.load("file").run(work, desk)  # each before the other has said anything
        assert isinstance(answer, kinds.Done) and answer.note.endswith("is filed")
        both.append((work, answer))
    (one, first), (other, late) = both
    assert works.done(one, first.note, first.works, first.outgoing, first.counted)
    with pytest.raises(Overtaken, match="issue:f-one was said meanwhile"):
        works.done(other, late.note, late.works, late.outgoing, late.counted)
    assert [each.key for each in outbox.listed()] == ["issue:f-one"] and works.get(other.id).state is WorkState.RUNNING


def test_a_bug_of_the_reference_is_not_filed_at_the_compiler(office: Office) -> None:
    case = Case("onnx", b"r", {}, Origin("file", "r"))
    failure = Failure(
        case,
        Target("reference", Revision("1.0")),
        Outcome(Status.WRONG, Stage.RUN),
        None,
        "inconsistency",
        "wrong:nan",
        "",
    )
    office.ledger.store.record(0, [], [NewFailure(failure, "f-ref")])
    bug = office.ledger.store.bugs()[-1]
    moved(office.ledger.store, bug, State.DRAFTED)
    assert office.file(bug.id).note == f"bug {bug.id} is not filed: it is another project's bug"


def test_a_bug_that_a_person_has_linked_is_reported_and_not_filed(office: Office) -> None:
    office.ledger.issues.link(Issue(1, office.world.repository, 5, ours=False, linked_by="ada"))
    assert "already" in office.file().note
    assert office.bug().state is State.REPORTED and not office.ledger.outbox.listed()


def test_titles_and_texts_from_outside_mention_and_close_nothing_in_a_comment(office: Office) -> None:
    title = "[Bug] Sub of int8 returns 2 instead of -2 @everyone Fixes #1 </details> <!-- graphwarden:issue:x -->"
    bug = add(office.ledger, "evil", StoredDraft(title, BODY, "print('PASS')\n"))
    office.world.ask("/issues", "POST", {"title": THEIRS, "body": ""})
    office.file(bug.id)
    [one] = office.ledger.outbox.listed(bug_id=bug.id)
    body = one.payload["body"]
    assert "@everyone" not in body and "Fixes #1" not in body
    assert re.findall(r"(?<!\\)<[!/]?\w*", body) == ["<details", "<summary", "</summary", "</details"]


def test_the_row_of_new_work_names_its_bug(office: Office) -> None:
    assert saying.to_file(4, "compiler") == NewWork("file", "bug:4", "compiler", {"project": "compiler", "bug": 4})


@pytest.mark.parametrize(
    ("reason", "state"),
    [("not_planned", State.INVALID), ("completed", State.CLOSED)],
)
def test_an_issue_of_the_bots_own_that_was_closed_is_taken_up_as_closed(
    office: Office, reason: str, state: State
) -> None:
    office.file()
    office.send()
    office.world.ask("/issues/1", "PATCH", {"state": "closed", "state_reason": reason})
    with open_store(office.world.folder / "other.db", create=True) as store:
        office.ledger = Ledger(store)
        add(office.ledger, "one")
        assert f"closed as {reason.replace('_', ' ')}" in office.file().note
        issue = office.ledger.issues.of_bug(1)
        assert issue is not None and (issue.ours, issue.open) == (True, False)
        assert human.read(issue.human).forbids_reopening("") and office.bug().state is state
        assert human.refused(issue.human) is (reason == "not_planned")


def test_the_status_comment_of_another_database_is_edited(office: Office) -> None:
    office.file()
    office.send()
    [status] = saying.status(office.ledger, 1, held=False)
    office.ledger.outbox.add(status)
    office.send()
    with open_store(office.world.folder / "other.db", create=True) as store:
        office.ledger = Ledger(store)
        add(office.ledger, "another")
        bug = add(office.ledger, "one")
        office.file(bug.id)
        [again] = saying.status(office.ledger, bug.id, held=False)
        office.ledger.outbox.add(again)
        office.send()
        [comment] = office.world.comments(1)
        assert f"(bug {bug.id})" in comment["body"]
