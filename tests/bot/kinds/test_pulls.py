"""Pull requests and checks as they change: which gates are queued, ended, repeated, woken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import working
from bot.checks.run import CheckRun
from bot.desk import Desk
from bot.github.auth import Access
from bot.github.client import Client
from bot.settings import Project, Settings
from tests.github.support import World
from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.ledger.records import Check, NewWork, OutKind, Work, WorkState
from triage.store import open_store

A, B, C = "a" * 40, "b" * 40, "c" * 40
EARLY, LATE = "2026-01-01T00:00:01Z", "2026-01-01T00:00:09Z"


def nobody(repository: str) -> Client:
    """GitHub, where nothing is asked of it."""
    raise AssertionError(f"{repository} was asked for")


def told(commit: str, at: str, number: int | None = 7, fork: bool = True) -> dict[str, Any]:
    """What is known of a pull request."""
    return {"pull": number, "commit": commit, "base": B, "base_ref": "main", "fork": fork, "at": at, "ended": ""}


@dataclass
class Desktop:
    """A ledger, and light work done in it."""

    desk: Desk
    repository: str = "acme/compiler"

    @property
    def ledger(self) -> Ledger:
        return self.desk.ledger

    def do(self, kind: str, key: str, payload: dict[str, Any]) -> Work:
        """Work of a kind is queued and done."""
        added = self.ledger.work.add(NewWork(kind, key, "compiler", payload))
        work = self.ledger.work.claim([kind])
        assert work is not None and work.id == added
        working.do(work, self.desk)
        return self.ledger.work.get(added)

    def pull(
        self, commit: str = A, at: str = EARLY, ended: str = "", number: int | None = 7, fork: bool = True
    ) -> Work:
        """A pull request changed."""
        key = f"{number}:{commit}:{at}:{ended}"
        return self.do("pull", key, told(commit, at, number, fork) | {"ended": ended})

    def check(self, commit: str = A, **more: Any) -> Check:
        """A check run of pull request 7."""
        fields: dict[str, Any] = {"repository": self.repository, "project": "compiler", "pull": 7, "base": B, **more}
        made = Check(head_sha=commit, external_id=f"ours-{commit}-{fields['project']}", **fields)
        self.ledger.checks.put(made)
        return made

    def recheck(self, commit: str) -> Work:
        """A person wants the check of a head again."""
        return self.do("recheck", f"compiler@{commit}", {"commit": commit, "external_id": "", "by": "ann"})

    def said(self, commit: str) -> Mapping[str, Any]:
        """What the check run of a head says."""
        [one] = [one for one in self.ledger.outbox.listed() if one.payload["head_sha"] == commit]
        return one.payload

    def gates(self, *states: WorkState) -> list[tuple[str, Any]]:
        """Gates in these states (queued): their keys and payloads."""
        found = self.ledger.work.listed(states or (WorkState.QUEUED,), "gate")
        return [(one.key, dict(one.payload)) for one in reversed(found)]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_store(tmp_path / "bot.db", create=True) as store:
        yield Ledger(store)


@pytest.fixture
def desktop(ledger: Ledger) -> Desktop:
    project = Project(name="compiler", repository="acme/compiler", compiler="tiny")
    return Desktop(Desk(Settings(projects={"compiler": project}), ledger, nobody))


@pytest.fixture
def online(ledger: Ledger, github_world: World) -> Desktop:
    settings = github_world.settings()
    return Desktop(Desk(settings, ledger, Access(settings).client), github_world.repository)


def opened(world: World) -> tuple[int, str]:
    """A pull request that is open at GitHub: its number and head."""
    head = world.ask("/git/ref/heads/main")["object"]["sha"]
    world.ask("/git/refs", "POST", {"ref": "refs/heads/change", "sha": head})
    world.ask("/contents/new.txt", "PUT", {"message": "m", "content": "eA==", "branch": "change"})
    found = world.ask("/pulls", "POST", {"title": "t", "head": "change", "base": "main"})
    return found["number"], world.ask(f"/pulls/{found['number']}")["head"]["sha"]


def test_a_new_head_takes_the_place_of_one_that_waits(desktop: Desktop) -> None:
    desktop.pull(A, EARLY)
    desktop.pull(B, LATE)
    [(key, payload)] = desktop.gates()
    assert key == f"compiler#7@{B}" and (payload["commit"], payload["fork"]) == (B, True)
    assert (desktop.said(A)["conclusion"], desktop.said(B)["status"]) == ("cancelled", "queued")
    assert B in desktop.said(A)["summary"]


def test_what_the_same_second_brings_is_taken_in_order(desktop: Desktop) -> None:
    """GitHub's times have seconds: an event is late only if another is surely later."""
    desktop.pull(A, EARLY)
    desktop.pull(B, EARLY)
    assert [payload["commit"] for _, payload in desktop.gates()] == [B]


def test_an_older_head_that_is_told_late_is_not_checked(online: Desktop, github_world: World) -> None:
    number, head = opened(github_world)
    online.pull(head, LATE, number=number)
    work = online.pull(B, EARLY, number=number)
    assert "came late" in work.note
    assert [payload["commit"] for _, payload in online.gates()] == [head]


def test_where_times_mislead_github_is_believed(online: Desktop, github_world: World) -> None:
    number, head = opened(github_world)
    online.pull(B, LATE, number=number)
    online.pull(head, EARLY, number=number)
    assert [payload["commit"] for _, payload in online.gates()] == [head]
    closed = online.pull(head, EARLY, ended="closed", number=number)
    assert "came late" in closed.note, "it is open"


def test_what_github_does_not_know_is_believed_as_it_is_told(online: Desktop) -> None:
    online.pull(B, LATE, number=4711)
    online.pull(A, EARLY, number=4711)
    assert [payload["commit"] for _, payload in online.gates()] == [A]


def test_a_closed_pull_request_ends_its_gate_and_its_check(desktop: Desktop) -> None:
    desktop.pull(A, EARLY)
    desktop.ledger.work.claim(["gate"])
    assert [one.payload["status"] for one in desktop.ledger.outbox.listed()] == ["queued"]
    desktop.check(B, state="done", conclusion="success")
    desktop.pull(A, LATE, ended="the pull request was closed")
    assert desktop.gates(WorkState.CANCELLED) and not desktop.gates(WorkState.RUNNING)
    [one] = desktop.ledger.outbox.listed()
    assert (one.kind, one.payload["head_sha"], one.payload["conclusion"]) == (OutKind.CHECK, A, "cancelled")


def test_a_merge_group_that_is_dropped_ends_its_own_gate_only(desktop: Desktop) -> None:
    desktop.ledger.work.add(NewWork("gate", f"compiler@{A}", "compiler", {"commit": A}))
    desktop.ledger.work.add(NewWork("gate", f"compiler@{B}", "compiler", {"commit": B}))
    desktop.pull(A, "", ended="dropped", number=None)
    assert [key for key, _ in desktop.gates()] == [f"compiler@{B}"]


def test_a_check_that_is_wanted_again_is_the_gate_as_it_was(desktop: Desktop) -> None:
    desktop.pull(A, EARLY)
    claimed = desktop.ledger.work.claim(["gate"])
    assert claimed is not None
    desktop.ledger.work.done(claimed)
    desktop.recheck(A)
    [(key, payload)] = desktop.gates()
    assert key == f"compiler#7@{A}"
    assert {**payload, "at": EARLY} == {**claimed.payload, "again": True}
    assert desktop.said(A)["status"] == "queued"


@pytest.mark.parametrize("fork", [True, False])
def test_where_a_head_lies_is_kept_with_its_check(desktop: Desktop, fork: bool) -> None:
    desktop.check(A, state="done", fork=fork)
    desktop.recheck(A)
    [(_, payload)] = desktop.gates()
    assert (payload["fork"], payload["pull"], payload["base"]) == (fork, 7, B)


def test_an_older_head_is_not_checked_again_in_place_of_the_newest(desktop: Desktop) -> None:
    desktop.pull(A, EARLY)
    desktop.pull(B, LATE)
    assert desktop.recheck(A).note == f"superseded: the pull request is at {B} now"
    assert [payload["commit"] for _, payload in desktop.gates()] == [B]
    said = desktop.said(A)
    assert (said["status"], said["conclusion"], said["title"]) == ("completed", "cancelled", "Superseded")
    assert B in said["summary"] and desktop.said(B)["status"] == "queued"
    desktop.recheck(B)
    assert desktop.said(B)["status"] == "queued"


def test_the_latest_event_tells_where_a_head_lies(desktop: Desktop) -> None:
    desktop.pull(A, EARLY, fork=True)
    desktop.pull(B, LATE, fork=True)
    desktop.pull(A, LATE, fork=False)
    desktop.recheck(A)
    assert [payload["fork"] for _, payload in desktop.gates()] == [False]


def test_a_head_that_waits_for_a_word_is_told_of_a_newer_one(desktop: Desktop) -> None:
    desktop.pull(A, EARLY)
    check = desktop.ledger.checks.newest("acme/compiler", "compiler", 7)
    assert check is not None
    desktop.ledger.checks.put(replace(check, state="waiting", conclusion="action_required"))
    desktop.pull(B, LATE)
    assert (desktop.said(A)["conclusion"], desktop.said(A)["title"]) == ("cancelled", "Superseded")


@pytest.mark.parametrize("step", ["moved", "ended", "queued"])
def test_a_head_whose_work_is_killed_at_a_step_is_checked_once(desktop: Desktop, step: str) -> None:
    """The work begins anew; what it had done before changes nothing."""
    desktop.pull(A, EARLY)
    added = desktop.ledger.work.add(NewWork("pull", "later", "compiler", told(B, LATE)))
    work = desktop.ledger.work.claim(["pull"])
    assert work is not None
    project = desktop.desk.settings.projects["compiler"]
    check = CheckRun(desktop.ledger, project, B, 7, B, True)
    check.is_newest()
    if step != "moved":
        desktop.ledger.work.cancel("gate", "compiler#7@*", "", (WorkState.QUEUED,))
    if step == "queued":
        check.queues()
    working.do(work, desktop.desk)
    assert desktop.ledger.work.get(added).state is WorkState.DONE
    assert [payload["commit"] for _, payload in desktop.gates()] == [B]
    assert (desktop.said(A)["conclusion"], desktop.said(B)["status"]) == ("cancelled", "queued")


def test_a_head_that_came_back_is_the_newest(desktop: Desktop) -> None:
    desktop.pull(A, EARLY)
    desktop.pull(B, LATE)
    desktop.pull(A, LATE)
    newest = desktop.ledger.checks.newest("acme/compiler", "compiler", 7)
    assert newest is not None and newest.head_sha == A
    assert "superseded" in desktop.recheck(B).note


def test_checks_of_others_are_not_repeated(desktop: Desktop) -> None:
    desktop.check(A, project="other")
    desktop.check(A)
    desktop.do("recheck", "r", {"commit": A, "external_id": "somebody's", "by": "ann"})
    desktop.do("recheck", "s", {"commit": B, "external_id": "", "by": "ann"})
    assert not desktop.gates()
    desktop.do("recheck", "t", {"commit": A, "external_id": "", "by": "ann"})
    assert len(desktop.gates()) == 1


def test_what_waits_for_a_build_begins_when_it_may_be_there(desktop: Desktop) -> None:
    later = now() + timedelta(hours=1)
    for kind, key, commit in (("gate", "x", A), ("suite", f"compiler:{A}", A), ("gate", "compiler#8", B)):
        desktop.ledger.work.add(NewWork(kind, key, "compiler", {"commit": commit}, not_before=later))
    assert desktop.ledger.work.claim(["gate", "suite"]) is None
    assert desktop.do("wake", f"compiler:{A}", {"commit": A}).note == "2 woken"
    woken = [desktop.ledger.work.claim(["gate", "suite"]) for _ in range(3)]
    assert [one and one.key for one in woken] == ["x", f"compiler:{A}", None]


def test_a_build_that_nobody_waits_for_wakes_nothing(desktop: Desktop) -> None:
    assert desktop.do("wake", f"compiler:{A}", {"commit": A}).note == "0 woken"
