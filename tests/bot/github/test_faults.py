"""GitHub fails in every way at every single call: nothing is said twice, and nothing is lost.

A scene is one thing to be sent. It is sent once undisturbed, which tells how many calls it takes; then again with the
first, the second, … call failing, each time from a state in which nothing of it had arrived.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from github.Requester import HTTPRequestsConnectionClass

from bot.github.errors import GitHubError
from bot.github.markers import keys
from tests.bot.github.outgoing import HEAD, Post, check_payload
from tests.github.faults import FAULTS, Fault, How
from triage.ledger.records import OutKind, OutState


@dataclass(frozen=True)
class Scene:
    """`before` prepares (a number for the scene's issue comes back), `payload` is what is sent, `after` looks."""

    kind: OutKind
    payload: Callable[[str], dict[str, Any]]
    after: Callable[[Post, str, int], None]
    before: Callable[[Post, str], int] = lambda post, key: 0


def _one_issue(post: Post, key: str, number: int) -> None:
    found = [each for each in post.world.issues() if key in keys(each["body"])]
    assert len(found) == 1 and {label["name"] for label in found[0]["labels"]} == {"bug", f"label {key}"}


def _issue(post: Post, key: str) -> int:
    """An issue of a person, for the scene alone."""
    return int(post.world.ask("/issues", "POST", {"title": key, "labels": ["bug"]})["number"])


def _one_comment(post: Post, key: str, number: int) -> None:
    assert [keys(each["body"]) for each in post.world.comments(number)] == [{key}]


def _with_comment(post: Post, key: str) -> int:
    number = _issue(post, key)
    post.deliver(OutKind.EDIT_COMMENT, key, {"body": "before"}, number)
    return number


def _edited(post: Post, key: str, number: int) -> None:
    _one_comment(post, key, number)
    assert post.world.comments(number)[0]["body"].startswith("after")


def _closed_issue(post: Post, key: str) -> int:
    number = _issue(post, key)
    post.world.ask(f"/issues/{number}", "PATCH", {"state": "closed"})
    return number


def _is(state: str) -> Callable[[Post, str, int], None]:
    def look(post: Post, key: str, number: int) -> None:
        assert post.world.ask(f"/issues/{number}")["state"] == state

    return look


def _relabelled(post: Post, key: str, number: int) -> None:
    assert [label["name"] for label in post.world.ask(f"/issues/{number}")["labels"]] == [f"label {key}"]


def _one_check(count: int) -> Callable[[Post, str, int], None]:
    def look(post: Post, key: str, number: int) -> None:
        (run,) = [run for run in post.world.checks(HEAD) if run["external_id"] == key]
        assert sorted(each["start_line"] for each in run["annotations"]) == list(range(1, count + 1))
        assert run["conclusion"] == "failure"

    return look


def _with_check(post: Post, key: str) -> int:
    post.deliver(OutKind.CHECK, key, check_payload(key, count=0, status="in_progress", conclusion="neutral"))
    return 0


def _one_file(post: Post, key: str, number: int) -> None:
    branch = f"models/{key}"
    assert post.world.file(branch, "model.onnx") == b"\0model"
    assert len(post.world.commits(branch)) == 2


SCENES = {
    "issue": Scene(
        OutKind.ISSUE, lambda key: {"title": "t", "body": "b", "labels": ["bug", f"label {key}"]}, _one_issue
    ),
    "comment": Scene(OutKind.COMMENT, lambda key: {"body": "b"}, _one_comment, _issue),
    "status comment": Scene(OutKind.EDIT_COMMENT, lambda key: {"body": "b"}, _one_comment, _issue),
    "edit": Scene(OutKind.EDIT_COMMENT, lambda key: {"body": "after"}, _edited, _with_comment),
    "close": Scene(OutKind.STATE, lambda key: {"open": False, "reason": "completed"}, _is("closed"), _issue),
    "reopen": Scene(OutKind.STATE, lambda key: {"open": True, "reason": "reopened"}, _is("open"), _closed_issue),
    "labels": Scene(OutKind.LABELS, lambda key: {"add": [f"label {key}"], "remove": ["bug"]}, _relabelled, _issue),
    "check": Scene(OutKind.CHECK, lambda key: check_payload(key, count=120), _one_check(120)),
    "check update": Scene(OutKind.CHECK, lambda key: check_payload(key, count=60), _one_check(60), _with_check),
    "file": Scene(
        OutKind.FILE,
        lambda key: {
            "branch": f"models/{key}",
            "path": "model.onnx",
            "content_base64": b64encode(b"\0model").decode(),
            "message": "A model",
        },
        _one_file,
    ),
}


@pytest.fixture(autouse=True)
def impatient(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is to be silent is given up after 0.4 s, and nobody else: a busy machine may be as slow.

    What is given up may not even have arrived by then; the proxy is told of each call, and idle only after it.
    PyGithub takes whole seconds only.
    """
    post.world.proxy.patience = 0.6

    def seconds(self: HTTPRequestsConnectionClass) -> float:
        fault = post.world.proxy.promise()
        return 0.4 if fault is not None and fault.how in (How.SILENCE, How.LATE) else 600.0

    monkeypatch.setattr(
        HTTPRequestsConnectionClass, "timeout", property(seconds, lambda self, given: None), raising=False
    )


def _play(post: Post, name: str, key: str, fault: Fault | None, at: int) -> int:
    """One scene, with its call number `at` failing; how many calls it took."""
    scene = SCENES[name]
    number = scene.before(post, key)
    post.world.proxy.calls.clear()
    post.world.proxy.restart({} if fault is None else {at: fault})
    outgoing_id = post.put(scene.kind, key, scene.payload(key), number or None)
    post.empty()
    sent = post.ledger.outbox.get(outgoing_id)
    assert sent.state is OutState.SENT, sent.note
    scene.after(post, key, number)
    return len(post.world.proxy.calls)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_call_repeats_nothing_and_loses_nothing(post: Post, fault: str) -> None:
    post.access.login()
    post.access.client(post.world.repository).default_branch()  # has its token now
    post.world.ask("/labels", "POST", {"name": "bug", "color": "ededed"})
    for name in SCENES:
        calls = _play(post, name, f"{name.replace(' ', '-')}/whole", None, 0)
        assert calls, name
        for at in range(calls):
            _play(post, name, f"{name.replace(' ', '-')}/{at}", FAULTS[fault], at)
            assert any(call.fault for call in post.world.proxy.calls), "the fault did not happen"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_while_the_bot_finds_out_who_it_is_loses_nothing(post: Post, fault: str) -> None:
    def beginnings() -> Iterator[tuple[str, Post]]:
        for at in range(3):
            yield str(at), Post(post.world, post.ledger)

    for key, fresh in beginnings():
        fresh.world.proxy.restart({int(key): FAULTS[fault]})
        fresh.sender = fresh.sender_with(fresh.access.client)
        fresh.deliver(OutKind.EDIT_COMMENT, f"status/{key}", {"body": "b"}, _issue(post, key))
        issue = fresh.world.issues()[-1]["number"]
        _one_comment(fresh, f"status/{key}", issue)


@pytest.mark.parametrize("how", [How.LOST, How.LATE])
def test_an_answer_that_is_lost_again_and_again_repeats_nothing(post: Post, how: How) -> None:
    number = _issue(post, "again")
    post.world.proxy.restart(dict.fromkeys(range(1, 8, 2), Fault(how)))
    post.deliver(OutKind.COMMENT, "again", {"body": "b"}, number)
    _one_comment(post, "again", number)


def test_errors_are_told_in_one_line_that_names_the_call_and_no_secret(post: Post) -> None:
    post.world.proxy.restart({0: FAULTS["502"], 1: FAULTS["502"], 2: FAULTS["502"]})
    client = post.access.client
    with pytest.raises(GitHubError) as caught:
        client(post.world.repository)
    assert "\n" not in str(caught.value) and "GET /repos/" in str(caught.value) and "502" in str(caught.value)
