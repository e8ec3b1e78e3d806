"""A sender is killed while GitHub does what it asked for: the next one finds it and says nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import update

from bot.github.sender import Sender
from tests.bot.github.outgoing import HEAD, Post, bugs, check_payload
from tests.github.faults import FAULTS
from triage.ledger.records import OutKind, OutState
from triage.ledger.rows import OutgoingRow

ROOT = Path(__file__).parents[3]


def _kill_while_sending(post: Post) -> None:
    """A sender in a process of its own, killed when its first POST of content has taken place and is not answered."""
    world = post.world
    settings = world.folder / "settings.json"
    settings.write_text(world.settings().model_dump_json())
    world.proxy.calls.clear()
    world.proxy.patience = 600.0
    # Two calls for the identity; then whatever comes first is answered by silence, until a POST of content.
    world.proxy.restart({})
    world.proxy.stall = lambda call: call.verb == "POST" and not call.path.endswith("/access_tokens")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bot.github.sending", str(settings), str(world.folder / "graphwarden.db")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        for _ in range(30_000):
            if world.proxy.stalled.is_set():
                break
            assert process.poll() is None, "the sender ended"
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
        world.proxy.stall = None
        world.proxy.stalled.clear()


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (OutKind.ISSUE, {"title": "t", "body": "b"}),
        (OutKind.COMMENT, {"body": "b"}),
        (OutKind.EDIT_COMMENT, {"body": "b"}),
        (OutKind.CHECK, check_payload("gate/1", count=70)),
    ],
)
def test_what_a_killed_sender_sent_is_not_sent_again(post: Post, kind: OutKind, payload: dict[str, Any]) -> None:
    number = int(post.world.ask("/issues", "POST", {"title": "a person's"})["number"])
    (bug,) = bugs(post.ledger, 1)
    outgoing_id = post.put(kind, "killed/1", payload, None if kind is OutKind.ISSUE else number, bug)
    _kill_while_sending(post)
    assert post.ledger.outbox.get(outgoing_id).state is OutState.SENDING
    post.empty()
    assert post.ledger.outbox.get(outgoing_id).state is OutState.SENT
    counts = (len(post.world.issues()), len(post.world.comments(number)), len(post.world.checks(HEAD)))
    assert counts == (1 + (kind is OutKind.ISSUE), int("comment" in kind), int(kind is OutKind.CHECK))
    assert [len(run["annotations"]) for run in post.world.checks(HEAD)] == [70] * (kind is OutKind.CHECK)
    if kind is OutKind.ISSUE:
        linked = post.ledger.issues.of_bug(bug)
        assert linked is not None and linked.ours


def test_the_next_sender_waits_until_what_the_killed_one_asked_for_is_settled(post: Post) -> None:
    number = int(post.world.ask("/issues", "POST", {"title": "a person's"})["number"])
    post.put(OutKind.COMMENT, "killed/1", {"body": "b"}, number)
    _kill_while_sending(post)
    post.world.proxy.calls.clear()
    patient = Sender(post.ledger, post.access.client, post.pace, settled=3600.0)
    assert patient.step() == 0.0 and patient.step() is None
    assert not post.world.proxy.calls


def test_the_sender_stops_at_the_limit_of_a_minute_and_all_waits_when_github_says_so(post: Post) -> None:
    number = int(post.world.ask("/issues", "POST", {"title": "a person's"})["number"])
    for at in range(83):
        post.put(OutKind.COMMENT, f"comment/{at}", {"body": "b"}, number)
    waits = [post.sender.step() for _ in range(81)]
    assert waits[:80] == [0.0] * 80 and waits[80] == 60.0
    post.clock.now += 60
    post.world.proxy.restart({0: FAULTS["429"]})
    assert post.sender.step() == 0.0 and post.sender.step() == 7.0
    assert post.empty() and len({each["body"] for each in post.world.comments(number)}) == 83


def test_a_limit_of_the_process_before_is_kept_after_a_restart(post: Post) -> None:
    number = int(post.world.ask("/issues", "POST", {"title": "a person's"})["number"])
    for at in range(80):
        post.put(OutKind.COMMENT, f"comment/{at}", {"body": "b"}, number)
    post.empty()
    just_now = datetime.now(UTC) + timedelta(minutes=30)  # however long that took, and the restart will
    with post.ledger.store.writing() as session:
        session.exec(update(OutgoingRow).values(updated=just_now))
    restarted = Post(post.world, post.ledger)
    wait = restarted.sender.step()
    assert wait is not None and 0 < wait <= 60


def test_faults_of_the_network_are_kept_apart_from_faults_of_our_own(post: Post) -> None:
    """What is no failure of GitHub's is told as what it is, and the thing is looked for before it is sent again."""
    number = int(post.world.ask("/issues", "POST", {"title": "a person's"})["number"])
    broken = post.put(OutKind.COMMENT, "comment/1", {"no body": "at all"}, number)
    assert post.sender.step() == 0.0
    waiting = post.ledger.outbox.get(broken)
    assert (waiting.state, waiting.attempts) == (OutState.READY, 1) and "internal error: KeyError" in waiting.note
    assert not post.world.comments(number)
