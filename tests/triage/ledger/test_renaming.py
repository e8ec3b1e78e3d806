"""A repository that was renamed keeps its issues, and what was still to be said there is said."""

from __future__ import annotations

from bot.settings import Project, Settings
from tests.bot.github.outgoing import bugs
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, OutKind
from triage.ledger.renaming import rename


def test_issues_and_what_waits_go_along_and_what_was_said_stays(ledger: Ledger) -> None:
    first, second, third = bugs(ledger, 3)
    for bug, place in ((first, "octo/Tiny"), (second, "octo/other"), (third, "octo/new")):
        ledger.issues.link(Issue(bug, place, 7 if bug != third else 9, ours=True))
    for key in ("said", "waits"):
        ledger.outbox.add(NewOutgoing(OutKind.COMMENT, key, "octo/tiny", {"body": "b"}, key))
    one = ledger.outbox.next()
    assert one is not None
    ledger.outbox.sent(one, {"comment": 1})
    for expected in (1, 0):  # at every start
        assert rename(ledger.store, "Octo/tiny", "octo/new") == expected
    assert [each.repository for each in ledger.issues.listed()] == ["octo/new", "octo/other", "octo/new"]
    found = ledger.issues.by_number("octo/new", 7)
    assert found is not None and found.bug_id == first
    assert [each.repository for each in ledger.outbox.listed()] == ["octo/tiny", "octo/new"]


def test_an_issue_that_was_linked_anew_stays_with_its_bug(ledger: Ledger) -> None:
    first, second = bugs(ledger, 2)
    ledger.issues.link(Issue(first, "octo/tiny", 7, ours=True))
    ledger.issues.link(Issue(second, "octo/new", 7, ours=False))
    assert rename(ledger.store, "octo/tiny", "octo/new") == 0
    found = ledger.issues.by_number("octo/new", 7)
    assert found is not None and found.bug_id == second


def test_deliveries_that_name_the_former_name_are_the_projects(ledger: Ledger) -> None:
    project = Project(name="tiny", repository="octo/new", formerly=("octo/Tiny",), compiler="tiny")
    settings = Settings(projects={"tiny": project})
    assert settings.of_repository("Octo/tiny") == settings.of_repository("octo/new") == [project]
    assert settings.of_repository("octo/other") == []


def test_what_is_edited_in_place_is_edited_under_the_new_name(ledger: Ledger) -> None:
    def status(repository: str, body: str) -> None:
        new = NewOutgoing(OutKind.EDIT_COMMENT, "status", repository, {"body": body}, "bug", 7)
        ledger.outbox.add(new)

    status("octo/tiny", "reported")
    one = ledger.outbox.next()
    assert one is not None
    ledger.outbox.sent(one, {"comment": 5})
    rename(ledger.store, "octo/tiny", "octo/new")
    status("octo/new", "fixed")
    edit = ledger.outbox.next()
    assert edit is not None and edit.repository == "octo/new" and edit.number == 7
    assert edit.payload == {"body": "fixed"} and edit.result == {"comment": 5}
