"""What follows when a person speaks to the bot, at the emulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.life import human
from bot.settings import Filing
from tests.bot.remarks.support import OVERLAY, Room
from tests.builds import tinyc
from triage.bisect.found import Found, Kind
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.ledger.records import Check, Issue, NewOutgoing, NewWork, OutKind, OutState, WorkState
from triage.lifecycle import State
from triage.localize.location import Location, Part
from triage.revisions import places

HEAD, OLD = "a" * 40, "b" * 40


def check(room: Room, head: str = HEAD, pull: int = 7, state: str = "waiting") -> Check:
    """A check run that the bot has in a pull request."""
    made = Check(room.world.repository, head, f"ours-{head}", "compiler", pull, base=OLD, state=state)
    room.ledger.checks.moved(made)
    return made


# Who is heard


@pytest.mark.parametrize("by", ["stranger", "nobody-at-all"])
def test_people_without_write_permission_are_neither_followed_nor_answered(room: Room, by: str) -> None:
    bug = room.bug()
    number = room.issue(bug)
    work = room.says("@graphwarden mute\n@graphwarden retest\n@graphwarden nonsense\n@graphwarden help", number, by)
    assert work.state is WorkState.DONE and by in work.note
    assert room.state(bug) is State.REPORTED and not room.queued() and not room.out()


def test_a_comment_that_is_delivered_twice_is_followed_once(room: Room) -> None:
    number = room.issue(room.bug())
    work = room.says("@graphwarden retest", number)
    twin = NewWork(work.kind, work.key, work.project, work.payload)
    room.ledger.work.claim(["retest"])  # the first is being worked on
    added = room.ledger.work.add(twin)
    claimed = room.ledger.work.claim(["command"])
    assert claimed is not None and claimed.id == added
    from bot.kinds import command

    assert command.run(claimed, room.desk).note.startswith("done before")


# Requests


def test_retest_is_queued_and_answered_by_its_own_work(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    work = room.says("@graphwarden retest on 1.22.0", number)
    answer = {"number": number, "comment": work.payload["comment"]}
    assert room.queued() == [("retest", f"bug:{bug}", {"bug": bug, "revision": "1.22.0", "answer": answer})]
    assert not room.out()


def test_a_bug_can_be_named_from_anywhere_in_the_repository(room: Room) -> None:
    bug = room.bug()
    room.says(f"@graphwarden retest bug {bug}", room.issue())
    assert [(kind, key) for kind, key, _ in room.queued()] == [("retest", f"bug:{bug}")]


def test_a_bug_of_another_compiler_is_not_told_of(room: Room) -> None:
    other = room.bug(backend="openvino")
    number = room.issue()
    for text in (f"explain bug {other}", f"retest bug {other}", f"link bug {other}", "mute bug 4711"):
        room.says(f"@graphwarden {text}", number)
    assert not room.queued() and room.state(other) is State.REPORTED
    assert {each.partition("\n")[0] for each in room.answers(number)} == {
        f"I know no bug {other} of this repository's compiler.",
        "I know no bug 4711 of this repository's compiler.",
    }


def test_an_issue_of_no_bug_is_told_how_to_link_one(room: Room) -> None:
    number = room.issue()
    room.says("@graphwarden retest", number)
    [answer] = room.answers(number)
    assert "`@graphwarden link bug N`" in answer


def test_bisect_looks_for_the_break_and_in_a_fixed_bug_for_the_fix(room: Room) -> None:
    first, second = room.bug(), room.bug(State.CLOSED)
    room.says("@graphwarden bisect", room.issue(first))
    room.says("@graphwarden bisect", room.issue(second))
    assert [(key, payload["fix"]) for _, key, payload in room.queued()] == [
        (f"bug:{first}", False),
        (f"bug:{second}", True),
    ]


def test_reduce_works_on_a_bug_only_while_there_is_something_to_do(room: Room) -> None:
    new, reported = room.bug(State.CONFIRMED), room.bug()
    number = room.issue(reported)
    room.says(f"@graphwarden reduce bug {new}", number)
    assert [(kind, key) for kind, key, _ in room.queued()] == [("triage", f"bug:{new}")]
    room.says("@graphwarden reduce", number)
    [answer] = room.answers(number)
    assert f"Bug {reported} is reduced already, to one node." in answer


def test_file_queues_an_issue_and_names_one_that_is_there(room: Room) -> None:
    drafted, reported = room.bug(State.DRAFTED), room.bug()
    number = room.issue(reported)
    room.says(f"@graphwarden file bug {drafted}", number)
    assert [(kind, key) for kind, key, _ in room.queued()] == [("file", f"bug:{drafted}")]
    room.says("@graphwarden file", number)
    [answer] = room.answers(number)
    assert f"Bug {reported} is #{number} already." in answer


def test_file_lets_go_what_waits_for_a_moderator(room: Room) -> None:
    bug = room.bug(State.DRAFTED)
    payload = {"title": "Sub is wrong", "body": "So."}
    held = NewOutgoing(OutKind.ISSUE, "issue:f", room.world.repository, payload, f"bug:{bug}", bug_id=bug, held=True)
    room.ledger.outbox.add(held)
    number = room.issue()
    room.says(f"@graphwarden file bug {bug}", number)
    [answer] = room.answers(number)
    assert "it goes out now" in answer and not room.queued()
    assert room.state(bug) is State.REPORTED
    sent = room.ledger.outbox.by_key("issue:f")
    assert sent is not None and sent.state is OutState.SENT


def test_retest_in_a_pull_request_checks_its_newest_head_again(room: Room) -> None:
    room.says("@graphwarden retest", 7, pull=True)
    check(room)
    room.says("@graphwarden retest", 7, pull=True)
    [(kind, key, payload)] = room.queued()
    assert (kind, key, payload["commit"], payload["again"]) == ("gate", f"compiler#7@{HEAD}", HEAD, True)


# Decisions


def test_not_a_bug_is_kept_with_who_said_it_and_closes_the_issue(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.ledger.work.add(NewWork("close", f"bug:{bug}", "compiler", {"bug": bug}))
    room.says("@graphwarden not a bug: NaN is <b>allowed</b>, @everyone", number)
    assert room.state(bug) is State.INVALID
    assert room.ledger.store.bug(bug).note == "not a bug, says maintainer: NaN is allowed, @everyone"
    assert not room.queued(), "what was to be done about it is pointless now"
    room.answers(number)
    seen = room.world.ask(f"/issues/{number}")
    assert (seen["state"], seen["state_reason"]) == ("closed", "not_planned")
    issue = room.ledger.issues.of_bug(bug)
    assert issue is not None and not issue.open
    assert human.read(issue.human).forbids_reopening(HEAD) == "maintainer closed it as not planned"


def test_closing_by_command_waits_for_the_moderator_like_any_other(room: Room) -> None:
    room.configure(filing=Filing(moderation=True))
    bug = room.bug()
    number = room.issue(bug)
    room.says("@graphwarden not a bug", number)
    assert len(room.answers(number)) == 1, "the answer does not wait"
    assert [one.kind for one in room.out() if one.state is OutState.HELD] == [OutKind.STATE]
    assert room.world.ask(f"/issues/{number}")["state"] == "open"


def test_an_issue_that_is_not_the_bots_is_not_closed(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug, ours=False)
    room.says("@graphwarden not a bug", number)
    room.answers(number)
    assert room.state(bug) is State.INVALID
    assert room.world.ask(f"/issues/{number}")["state"] == "open"


def test_a_duplicate_of_a_known_issue_is_merged_with_its_bug(room: Room) -> None:
    kept, given = room.bug(), room.bug()
    first, second = room.issue(kept), room.issue(given)
    work = room.says(f"@graphwarden duplicate of #{first}", second)
    assert room.state(given) is State.DUPLICATE and room.ledger.store.bug(kept).count == 2
    room.again(work)
    [answer] = room.answers(second)
    assert f"bug {given} is a duplicate of #{first}" in answer
    seen = room.world.ask(f"/issues/{second}")
    assert seen["state"] == "closed"
    issue = room.ledger.issues.of_bug(given)
    assert issue is not None and human.read(issue.human).duplicate_of == f"#{first}"


def test_a_duplicate_of_an_issue_that_the_bot_does_not_know_is_remembered(room: Room) -> None:
    bug = room.bug()
    other, number = room.issue(), room.issue(bug)
    room.says(f"@graphwarden duplicate of #{other}", number)
    assert room.state(bug) is State.DUPLICATE
    assert room.ledger.store.bug(bug).note == f"duplicate of {room.world.repository}#{other}, says maintainer"


def test_a_duplicate_in_another_repository_is_remembered_by_its_name(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.says("@graphwarden duplicate of acme/somewhere-else#12", number)
    room.answers(number)
    assert room.ledger.store.bug(bug).note == "duplicate of acme/somewhere-else#12, says maintainer"
    assert room.world.ask(f"/issues/{number}")["state"] == "closed"


def test_what_cannot_be_a_duplicate_is_declined_and_changes_nothing(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.says(f"@graphwarden duplicate of #{number}", number)
    room.says("@graphwarden duplicate of #4711", number)
    assert room.state(bug) is State.REPORTED
    first, second = room.answers(number)
    assert "no duplicate of itself" in first and "no issue #4711" in second


def test_mute_holds_and_is_remembered(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    room.says("@graphwarden mute", number)
    assert room.ledger.store.bug(bug).fingerprint in room.ledger.store.decisions().muted
    issue = room.ledger.issues.of_bug(bug)
    assert issue is not None and "does not want to hear" in human.read(issue.human).forbids_writing()


def test_a_closed_bug_cannot_be_called_none_any_more(room: Room) -> None:
    bug = room.bug(State.CLOSED)
    number = room.issue(bug)
    room.says("@graphwarden not a bug", number)
    [answer] = room.answers(number)
    assert answer.startswith("That cannot be:") and room.state(bug) is State.CLOSED


def test_linking_gives_the_right_to_write_in_somebody_elses_issue(room: Room) -> None:
    bug = room.bug(State.DRAFTED)
    payload = {"title": "Sub is wrong", "body": "So."}
    held = NewOutgoing(OutKind.ISSUE, "issue:f", room.world.repository, payload, f"bug:{bug}", bug_id=bug, held=True)
    room.ledger.outbox.add(held)
    number = room.issue()
    room.says(f"@graphwarden link bug {bug}", number)
    issue = room.ledger.issues.of_bug(bug)
    assert issue == Issue(bug, room.world.repository, number, ours=False, linked_by="maintainer")
    assert room.state(bug) is State.REPORTED
    waiting = room.ledger.outbox.by_key("issue:f")
    assert waiting is not None and waiting.state is OutState.WITHDRAWN, "it is not filed a second time"


def test_linking_what_the_bot_had_only_found_gives_the_right_too(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug, ours=False)
    room.says(f"@graphwarden link #{number} to bug {bug}", room.issue())
    issue = room.ledger.issues.of_bug(bug)
    assert issue is not None and issue.linked_by == "maintainer"


def test_a_bug_has_one_issue_and_no_pull_request(room: Room) -> None:
    first, second = room.bug(), room.bug()
    number = room.issue(first)
    room.says(f"@graphwarden link bug {second}", number)
    room.says(f"@graphwarden link bug {second}", 7, pull=True)
    room.says(f"@graphwarden link #4711 to bug {second}", number)
    assert room.ledger.issues.of_bug(second) is None
    said = room.answers(number)
    assert f"is the issue of bug {first} already" in said[0] and "no issue #4711" in said[-1]


# Forks


def test_a_word_is_given_for_one_commit_of_the_pull_request(room: Room) -> None:
    check(room, OLD), check(room)
    work = room.says(f"@graphwarden approve {HEAD[:10]}", 7, pull=True)
    assert work.state is WorkState.DONE
    [(kind, key, payload)] = room.queued()
    assert (kind, key, payload["commit"]) == ("gate", f"compiler#7@{HEAD}", HEAD)
    given = (places.root() / "approved").rglob("*.txt")
    assert [file.read_text() for file in given] == [f"{HEAD}\n"]


def test_no_word_is_given_for_a_head_that_the_pull_request_has_left(room: Room) -> None:
    check(room, OLD), check(room)
    room.says(f"@graphwarden approve {OLD}", 7, pull=True)
    assert not room.queued() and not (places.root() / "approved").exists()
    [answer] = [one for one in room.out() if one.kind is OutKind.COMMENT]
    assert f"is at {HEAD} now" in answer.payload["body"]


@pytest.mark.parametrize("text", [f"approve {'c' * 40}", "approve aaaaaaa"])
def test_no_word_is_given_for_what_is_unknown_or_ambiguous(room: Room, text: str) -> None:
    check(room), check(room, "a" * 39 + "b")
    room.says(f"@graphwarden {text}", 7, pull=True)
    assert not room.queued() and not (places.root() / "approved").exists()
    [answer] = [one for one in room.out() if one.kind is OutKind.COMMENT]
    assert "Give all 40 digits" in answer.payload["body"]


def test_a_word_is_given_in_a_pull_request_only(room: Room) -> None:
    check(room)
    number = room.issue()
    room.says(f"@graphwarden approve {HEAD}", number)
    assert not room.queued() and "pull request" in room.answers(number)[0]


# Answers


def test_help_comes_once_an_issue_for_what_is_not_understood(room: Room) -> None:
    number = room.issue()
    for _ in range(3):
        room.says("@graphwarden do `something` <!-- hidden --> @everyone", number)
    [answer] = room.answers(number)
    assert answer.startswith("I do not understand ``do `something`") and "| `@graphwarden bisect` |" in answer
    assert room.says("@graphwarden nonsense", room.issue()).state is WorkState.DONE
    assert len(room.out()) == 2


def test_help_that_is_asked_for_comes_every_time(room: Room) -> None:
    number = room.issue()
    for _ in range(2):
        room.says("@graphwarden help", number)
    assert len(room.answers(number)) == 2


def test_several_commands_have_one_answer(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    work = room.says("@graphwarden explain\n@graphwarden mute\n@graphwarden retest", number)
    assert work.note == "maintainer: explain, mute, retest"
    [answer] = room.answers(number)
    assert f"**Bug {bug}**" in answer and f"Bug {bug} is muted." in answer


def test_work_that_is_done_again_after_a_kill_says_nothing_twice(room: Room) -> None:
    bug = room.bug()
    number = room.issue(bug)
    work = room.says("@graphwarden mute\n@graphwarden explain\n@graphwarden nonsense", number)
    before = room.answers(number)
    room.again(work)
    assert room.answers(number) == before and len(before) == 2


def test_explain_tells_the_evidence(room: Room) -> None:
    bug = room.bug()
    evidence = Evidence("exact", Side.AGAINST, "In float64 it is `-2`, as the reference says </details>.")
    room.ledger.store.amend(
        bug,
        State.REPORTED,
        judgement=Judgement(Ruling.COMPILER_BUG, "Others agree.", (evidence,), "onnxruntime", "votes", 0.9),
        location=Location(Part.FRONTEND, "Sub", evidence=("Without `Sub` it passes.",)),
        bisected={Kind.BAD: Found("1.20", "1.19", 0.999)},
    )
    number = room.issue(bug)
    room.says("@graphwarden explain", number)
    [answer] = room.answers(number)
    for told in (
        "**The court**: compiler bug. Others agree.",
        "- against the compiler: In float64 it is `-2`, as the reference says \\</details\\>.",
        "- Without `Sub` it passes.",
        "- Its part: `frontend`",
        "- First bad revision: `1.20`; `1.19` passes (confidence 0.9990).",
    ):
        assert told in answer


def test_explain_names_a_backend_of_ones_own_and_not_where_it_lies(room: Room, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OVERLAY.replace('"onnxruntime"', f'"{tinyc.BACKEND}"', 1))
    room.configure(compiler=str(own))
    room.says("@graphwarden explain", room.issue(room.bug(backend=str(tinyc.BACKEND))))
    [answer] = room.out()
    assert f"Seen on `{tinyc.BACKEND.name}@1.20`" in answer.payload["body"]
    assert str(tinyc.BACKEND.parent) not in answer.payload["body"]


def test_explain_tells_why_and_what_happened_and_acts_on_nothing(room: Room) -> None:
    bug = room.bug(State.CONFIRMED)
    note = "it said </details> @everyone Fixes #1 <!-- graphwarden:x --> in /home/somebody/secret"
    room.ledger.store.advance(bug, State.CONFIRMED, State.FLAKY, note=note)
    number = room.issue(bug)
    room.acts("labeled", number, label="wontfix")
    room.says("@graphwarden explain", number)
    [answer] = room.answers(number)
    assert f"**Bug {bug}** is `flaky`" in answer and "**Why this is one bug.** one place" in answer
    assert "Its conversion function: `convert_sub`" in answer and "maintainer: labeled" in answer
    for bad in ("</details>", "@everyone", "Fixes #1", "/home/somebody", "<!-- graphwarden:x"):
        assert bad not in answer
