"""A delivery whose body comes again under another id, as only who has the secret can send it: nothing is done twice.

GitHub's own examples of every event that means something, made this repository's: handled, what follows done, and then
once more under a new id.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot import dispatch, events, kinds, working
from bot.checks.run import CheckRun, Words
from bot.life import saying
from tests.bot.remarks.conftest import room
from tests.bot.remarks.support import Room
from tests.github import hooks
from triage.ledger.records import NewDelivery, Work
from triage.lifecycle import State

__all__ = ["room"]
AT = "2026-01-02T03:04:05Z"
#: What people may write; each leaves something that a second time could be seen.
COMMANDS = (
    *("explain", "help", "reduce", "bisect", "retest", "mute", "not a bug: by design", "duplicate of #2", "file"),
    *("not a duplicate", "link #1 to bug 2", "sing"),
)
#: Work that runs compilers and may be done again: what it says has keys, or is what it said before (its own tests).
AGAIN = {"retest", "triage", "bisect"}
_STATES = ("queued", "waiting", "running", "done", "cancelled")


def examples(name: str) -> list[dict[str, Any]]:
    """An example of every action of an event; and every command in a comment."""
    found = {one.get("action", ""): one for one in reversed(hooks.examples()[name])}
    comments = [{"comment": {"body": f"@graphwarden {said}"}} for said in COMMANDS if name == "issue_comment"]
    return [*found.values(), *(hooks.payload(name, "created", each) for each in comments)]


def mine(room: Room, payload: dict[str, Any], number: int, head: str) -> dict[str, Any]:
    """The example as one of this room's repository, about its bug's issue, by its maintainer."""
    [ours] = [one.payload["external_id"] for one in room.out() if one.payload.get("head_sha") == head]
    person = {"login": room.world.maintainer, "type": "User"}
    known = {
        "repository": {"full_name": room.world.repository},
        "sender": person,
        "issue": {"number": number, "updated_at": AT},
        "comment": {"user": person},
        "pull_request": {"head": {"sha": head}, "base": {"ref": "main"}, "draft": False, "updated_at": AT},
        "check_run": {"head_sha": head, "external_id": ours, "completed_at": AT},
        "check_suite": {"head_sha": head, "updated_at": AT},
        "after": head,
        "merge_group": {"head_sha": head, "base_ref": "refs/heads/main"},
        "ref": "refs/heads/main",
    }
    return hooks.changed(payload, {name: value for name, value in known.items() if name in payload})


def arrives(room: Room, guid: str, name: str, payload: dict[str, Any]) -> set[str]:
    """It is delivered, and all that follows is done; the heavy work that would be done, which is only ended."""
    room.ledger.deliveries.add_many([NewDelivery(guid, name, json.dumps(payload).encode())])
    assert dispatch.once(room.ledger, room.settings) == 1
    heavy = set()
    while (work := room.ledger.work.claim()) is not None:
        if kinds.load(work.kind).HEAVY and not _known(room, work):
            heavy.add(work.kind)
            assert room.ledger.work.done(work)
        else:
            working.do(work, room.desk)
    return heavy


def _known(room: Room, work: Work) -> bool:
    """Whether heavy work is of those that see themselves whether they were done before."""
    return work.kind in ("gate", "suite") and room.ledger.work.done_before(work)


def seen(room: Room) -> tuple[Any, ...]:
    """All that people can see, or will."""
    out = [(one.key, one.state, one.version, dict(one.payload)) for one in room.out()]
    bugs = [(bug.id, bug.state, bug.note) for bug in room.ledger.store.bugs()]
    checks = [(one.head_sha, one.state, one.conclusion) for one in room.ledger.checks.in_state(*_STATES)]
    return out, bugs, checks, [(one.open, dict(one.human)) for one in room.ledger.issues.listed()]


@pytest.mark.parametrize("name", events.names())
def test_a_body_that_comes_again_under_another_id_changes_nothing(room: Room, name: str) -> None:
    project = room.settings.projects["compiler"]
    for at, example in enumerate(examples(name)):
        bug, head = room.bug(State.FIXED), f"{at + 10:040x}"
        number = room.issue(bug)
        issue = room.ledger.issues.by_number(project.repository, number)
        assert issue is not None
        room.ledger.outbox.add(saying.state(f"close:bug:{bug}:x", issue, False, "x", held=True))
        CheckRun(room.ledger, project, head, at + 1, "", fork=False).ends("success", Words("Fine", "So."))
        told = mine(room, example, number, head)
        arrives(room, f"first-{at}", name, told)
        before = seen(room)
        heavy = arrives(room, f"second-{at}", name, told)
        assert seen(room) == before, example
        assert heavy <= AGAIN, example
