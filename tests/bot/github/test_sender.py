"""Everything that the outbox can hold reaches GitHub as it is meant, once."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from collections.abc import Mapping
from typing import NoReturn

import pytest

from bot.github.access import PerThread
from bot.github.errors import Later, Limited
from bot.github.markers import keys, marker
from bot.github.sender import ANSWERING, LONGEST, Sender
from tests.bot.github.outgoing import HEAD, Post, bugs, check_payload, hurry
from triage.ledger.records import Issue, NewOutgoing, Outgoing, OutKind, OutState


def issue(post: Post, key: str = "issue/1", **more: object) -> int:
    """Files an issue; its number."""
    sent = post.deliver(OutKind.ISSUE, key, {"title": "IsInf is wrong", "body": "It is.", "labels": ["bug"], **more})
    assert sent.state is OutState.SENT
    return int(sent.result["number"])


def test_an_issue_is_filed_with_its_labels_and_a_hidden_mark(post: Post) -> None:
    number = issue(post, labels=["bug", "frontend: onnx"])
    (found,) = post.world.issues()
    assert (found["number"], found["title"], found["user"]["login"]) == (number, "IsInf is wrong", post.world.bot)
    assert found["body"] == f"It is.\n\n{marker('issue/1')}\n"
    assert {label["name"] for label in found["labels"]} == {"bug", "frontend: onnx"}


def test_the_issue_of_a_bug_is_linked_with_the_bug_and_what_follows_finds_it(post: Post) -> None:
    (bug,) = bugs(post.ledger, 1)
    post.deliver(OutKind.ISSUE, "issue/7", {"title": "t", "body": "b"}, bug_id=bug)
    linked = post.ledger.issues.of_bug(bug)
    assert linked is not None and linked.ours and linked.repository == post.world.repository
    post.deliver(OutKind.COMMENT, "comment/7", {"body": "Bisected."}, bug_id=bug)
    assert len(post.world.comments(linked.number)) == 1


def test_a_bug_that_somebody_linked_meanwhile_is_not_filed(post: Post) -> None:
    (bug,) = bugs(post.ledger, 1)
    post.ledger.issues.link(Issue(bug, post.world.repository, 3, ours=False, linked_by="maintainer"))
    refused = post.deliver(OutKind.ISSUE, "issue/7", {"title": "t", "body": "b"}, bug_id=bug)
    assert refused.state is OutState.FAILED and "#3" in refused.note
    assert not post.world.issues()


def test_a_comment_that_belongs_to_no_issue_is_refused_and_says_so(post: Post) -> None:
    refused = post.deliver(OutKind.COMMENT, "comment/8", {"body": "b"}, bug_id=8)
    assert refused.state is OutState.FAILED and "no issue" in refused.note


def test_the_status_comment_is_written_once_and_then_edited_in_place(post: Post) -> None:
    number = issue(post)
    for text in ("Reducing.", "Reduced.", "Bisected."):
        post.deliver(OutKind.EDIT_COMMENT, "status/1", {"body": text}, number)
    (comment,) = post.world.comments(number)
    assert comment["body"].startswith("Bisected.")


def test_a_status_comment_whose_id_was_forgotten_is_found_by_its_mark(post: Post) -> None:
    number = issue(post)
    post.access.client(post.world.repository).comment(number, f"Reducing.\n\n{marker('status/1')}\n")
    post.deliver(OutKind.EDIT_COMMENT, "status/1", {"body": "Reduced."}, number)
    (comment,) = post.world.comments(number)
    assert comment["body"].startswith("Reduced.")


def test_a_status_comment_that_a_person_deleted_is_not_written_again(post: Post) -> None:
    number = issue(post)
    sent = post.deliver(OutKind.EDIT_COMMENT, "status/1", {"body": "Reducing."}, number)
    post.world.ask(f"/issues/comments/{sent.result['comment']}", "DELETE")
    refused = post.deliver(OutKind.EDIT_COMMENT, "status/1", {"body": "Reduced."}, number)
    assert refused.state is OutState.FAILED and "404" in refused.note
    assert not post.world.comments(number)


def test_another_persons_comment_with_a_forged_mark_is_not_taken_for_the_bots(post: Post) -> None:
    number = issue(post)
    forged = {"body": f"mine\n\n{marker('status/1')}\n"}
    post.world.ask(f"/issues/{number}/comments", "POST", forged, by=post.world.stranger)
    post.deliver(OutKind.EDIT_COMMENT, "status/1", {"body": "Reduced."}, number)
    assert [each["user"]["login"] for each in post.world.comments(number)] == [post.world.stranger, post.world.bot]


def test_a_foreign_mark_within_a_text_of_the_bot_marks_nothing(post: Post) -> None:
    number = issue(post, body=f"The operator is called {marker('issue/2')}")
    (found,) = post.world.issues()
    assert keys(found["body"]) == {"issue/1"}
    assert issue(post, key="issue/2") != number


def test_issues_are_closed_and_reopened_with_the_reason(post: Post) -> None:
    number = issue(post)
    post.deliver(OutKind.STATE, "close/1", {"open": False, "reason": "completed"}, number)
    assert [(each["state"], each["state_reason"]) for each in post.world.issues()] == [("closed", "completed")]
    post.deliver(OutKind.STATE, "reopen/1", {"open": True, "reason": "reopened"}, number)
    assert [(each["state"], each["state_reason"]) for each in post.world.issues()] == [("open", "reopened")]


def test_a_duplicate_is_closed_with_the_id_of_the_other_issue(post: Post) -> None:
    first, second = issue(post), issue(post, key="issue/2")
    other = post.access.client(post.world.repository).issue(first).id
    post.world.proxy.calls.clear()
    post.deliver(OutKind.STATE, "close/2", {"open": False, "reason": "duplicate", "duplicate_of": first}, second)
    told = next(call.told for call in post.world.proxy.calls if call.verb == "PATCH")
    assert told == {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": other}


def test_labels_are_added_made_where_they_are_missing_and_removed(post: Post) -> None:
    number = issue(post)
    wanted = {"add": ["regression", "needs triage"], "remove": ["bug", "never there"]}
    assert post.deliver(OutKind.LABELS, "labels/1", wanted, number).state is OutState.SENT
    (found,) = post.world.issues()
    assert {label["name"] for label in found["labels"]} == {"regression", "needs triage"}


def test_a_check_run_is_made_once_and_updated_in_place_with_every_annotation_once(post: Post) -> None:
    waiting = check_payload("gate/1", count=0, status="queued")
    del waiting["conclusion"]
    post.deliver(OutKind.CHECK, "check/1", waiting)
    post.deliver(OutKind.CHECK, "check/1", check_payload("gate/1", count=120))
    post.deliver(OutKind.CHECK, "check/1", check_payload("gate/1", count=121, title="4 new failures"))
    (run,) = post.world.checks(HEAD)
    assert (run["status"], run["conclusion"], run["output"]["title"]) == ("completed", "failure", "4 new failures")
    assert [each["start_line"] for each in run["annotations"]] == list(range(1, 122))


def test_two_checks_of_one_commit_are_told_apart_by_their_external_id(post: Post) -> None:
    for name in ("gate/1", "gate/2"):
        post.deliver(OutKind.CHECK, f"check/{name}", check_payload(name, count=1))
    assert {run["external_id"] for run in post.world.checks(HEAD)} == {"gate/1", "gate/2"}


def test_texts_longer_than_github_takes_are_cut_and_keep_their_mark(post: Post) -> None:
    number = issue(post, body="```text\n" + "a line of output\n" * 9000 + "```", title="t" * 400)
    (found,) = post.world.issues()
    assert len(found["body"]) <= 65_536 and len(found["title"]) <= 256
    assert keys(found["body"]) == {"issue/1"} and "```\n\n*(The text was longer" in found["body"]
    post.deliver(OutKind.COMMENT, "comment/1", {"body": "😀" * 40_000}, number)
    (comment,) = post.world.comments(number)
    assert len(comment["body"].encode("utf-16-le")) // 2 <= 65_536 and keys(comment["body"]) == {"comment/1"}
    post.deliver(OutKind.CHECK, "check/1", check_payload("gate/1", summary="s\n" * 50_000, text="t" * 70_000))
    assert all(len(run["output"]["text"]) <= 65_535 for run in post.world.checks(HEAD))


@pytest.mark.parametrize("text", ["half \ud83d a pair", "nul \0 byte", "\r\n", "é" * 10])
def test_text_that_no_json_document_should_hold_is_sent_all_the_same(post: Post, text: str) -> None:
    assert issue(post, body=text, title=f"a {text} b") and len(post.world.issues()) == 1


def test_a_file_goes_on_a_branch_of_its_own_and_is_replaced_there(post: Post) -> None:
    told = {"branch": "graphwarden/models", "path": "bugs/7/model ü.onnx", "message": "Model of bug 7"}
    for version, content in enumerate((b"\0first\xff", b"second", b"second")):
        payload = {**told, "content_base64": b64encode(content).decode()}
        assert post.deliver(OutKind.FILE, f"file/{version}", payload).state is OutState.SENT
        assert post.world.file("graphwarden/models", "bugs/7/model%20%C3%BC.onnx") == content
    assert len(post.world.commits("graphwarden/models")) == 3  # the first commit, and one for each content
    assert len(post.world.commits("main")) == 1


def test_what_github_refuses_is_kept_with_the_reason_and_holds_nothing_up(post: Post) -> None:
    refused = post.deliver(OutKind.COMMENT, "comment/1", {"body": "b"}, number=999)
    assert refused.state is OutState.FAILED and "404" in refused.note
    assert issue(post) == 1


def test_nothing_is_sent_while_the_emergency_stop_is_set(post: Post) -> None:
    post.put(OutKind.ISSUE, "issue/1", {"title": "t", "body": "b"})
    post.ledger.switches.set("stop", "too many issues", by="maintainer")
    assert post.sender.step() is None and not post.world.issues()
    post.ledger.switches.set("stop", "", by="maintainer")
    post.empty()
    assert len(post.world.issues()) == 1


def test_an_issue_that_is_another_bugs_already_is_filed_and_not_linked_twice(post: Post) -> None:
    one, other = bugs(post.ledger, 2)
    post.ledger.issues.link(Issue(one, post.world.repository, 1, ours=True))
    sent = post.deliver(OutKind.ISSUE, "issue/2", {"title": "t", "body": "b"}, bug_id=other)
    assert sent.state is OutState.SENT and post.ledger.issues.of_bug(other) is None


def test_a_thing_whose_sending_is_a_fault_of_ours_is_given_up_and_holds_nothing_up(post: Post) -> None:
    number = issue(post)
    broken = post.ledger.outbox.add(NewOutgoing(OutKind.COMMENT, "broken", post.world.repository, {}, "a", number))
    post.ledger.outbox.add(NewOutgoing(OutKind.COMMENT, "good", post.world.repository, {"body": "b"}, "b", number))
    post.empty()
    assert [comment["body"].startswith("b\n") for comment in post.world.comments(number)] == [True]
    assert post.ledger.outbox.get(broken).note == "internal error: KeyError: 'body'"
    assert post.ledger.outbox.get(broken).state is OutState.FAILED


def test_nothing_is_given_up_while_the_key_is_away(post: Post) -> None:
    key = post.world.folder / "app.pem"
    given = post.world.settings(private_key_file=key)
    absent = PerThread(given)
    post.sender = post.sender_with(absent.client)
    number = post.put(OutKind.ISSUE, "issue/1", {"title": "t", "body": "b"})
    for _ in range(10):
        assert post.sender.step() == 0 and not post.world.issues()
        post.clock.now += 60
        hurry(post.ledger)
    assert post.ledger.outbox.get(number).state is OutState.READY
    assert "app.pem: No such file" in post.ledger.outbox.get(number).note
    key.write_bytes(post.world.emulator.key_file.read_bytes())
    post.empty()
    assert post.ledger.outbox.get(number).state is OutState.SENT and len(post.world.issues()) == 1


def test_nothing_is_given_up_while_the_app_is_not_installed(post: Post) -> None:
    new = NewOutgoing(OutKind.ISSUE, "issue/1", "somebody/else", {"title": "t", "body": "b"}, stream="a")
    number = post.ledger.outbox.add(new)
    for _ in range(10):
        post.sender.step()
        hurry(post.ledger)
    waiting = post.ledger.outbox.get(number)
    assert waiting.state is OutState.READY and "the App cannot be used there" in waiting.note


def test_faults_of_ours_are_counted_apart_from_githubs(post: Post) -> None:
    number = post.put(OutKind.ISSUE, "issue/1", {"title": "t", "body": "b"})
    for _ in range(10):  # GitHub was away
        one = post.ledger.outbox.next()
        assert one is not None
        post.ledger.outbox.later(one, 0, "500")
    faults = iter([sqlite3.OperationalError("database is locked")])

    def after(one: Outgoing, result: Mapping[str, object]) -> None:
        for fault in faults:
            raise fault

    post.sender = Sender(post.ledger, post.access.client, post.pace, settled=0, after=after)
    post.empty()
    assert post.ledger.outbox.get(number).state is OutState.SENT and len(post.world.issues()) == 1


def waits(post: Post, errors: list[Exception], answered: bool) -> list[float]:
    """For how long a thing is left alone after each of these errors; `answered`: other calls of it succeeded."""
    before = post.ledger.outbox.later
    found: list[float] = []

    def client(repository: str) -> NoReturn:
        if answered:
            post.pace.answered()
        raise errors[len(found)]

    def later(one: Outgoing, seconds: float, why: str) -> None:
        found.append(seconds)
        before(one, 0, why)

    post.put(OutKind.COMMENT, "comment/1", {"body": "b"}, 1)
    sender = Sender(post.ledger, client, post.pace)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(post.ledger.outbox, "later", later)
        while len(found) < len(errors):
            post.clock.now += sender.step() or 0.0
    return found


def test_the_wait_doubles_with_each_failure_in_a_row_and_limits_are_none(post: Post) -> None:
    away, limit = Later("502", 10.0), Limited("429", 7.0)
    assert waits(post, [away, limit, limit, limit, away, away], answered=False) == [10, 7, 7, 7, 20, 40]


def test_while_github_answers_other_calls_a_thing_waits_two_minutes_at_most(post: Post) -> None:
    assert waits(post, [Later("502", 10.0)] * 12, answered=True)[-1] == ANSWERING


def test_while_github_is_away_a_thing_waits_a_quarter_of_an_hour_at_most(post: Post) -> None:
    assert waits(post, [Later("502", 10.0)] * 12, answered=False)[-1] == LONGEST
