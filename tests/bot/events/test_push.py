"""A commit lands."""

from __future__ import annotations

from typing import Any

from bot.events import Event
from tests.bot.events.support import ZEROS, A, B, event, why_not, work


def push(**changes: Any) -> Event:
    return event("push", changes={"ref": "refs/heads/main", "before": A, "after": B, "deleted": False, **changes})


def test_a_push_runs_one_suite_from_what_was_there_to_what_is_there() -> None:
    found = work(push(commits=[{"id": A}, {"id": B}]))
    assert (found.kind, found.key, found.project) == ("suite", f"compiler:{B}", "compiler")
    assert found.payload == {"commit": B, "before": A, "forced": False, "at": 1557933657}
    assert work(push(repository={"pushed_at": "2026-01-01T00:00:00Z"})).payload["at"] == 0


def test_only_the_branch_of_the_project_counts() -> None:
    for ref in ("refs/heads/other", "refs/tags/main", "refs/heads/feature/main", "main", "refs/heads/Main"):
        assert "branch" in why_not(push(ref=ref))
    assert work(push(ref="refs/heads/release/1.x"), branch="release/1.x").payload["commit"] == B


def test_a_deleted_branch_runs_nothing() -> None:
    assert "deleted" in why_not(push(deleted=True))
    assert "deleted" in why_not(push(after=ZEROS))


def test_a_new_branch_has_nothing_before() -> None:
    assert work(push(before=ZEROS, created=True)).payload["before"] == ""


def test_a_forced_push_says_so() -> None:
    assert work(push(forced=True)).payload["forced"] is True


def test_what_is_no_full_commit_is_not_believed() -> None:
    for after in ("main", "--upload-pack=x", "A" * 40, "b" * 39, "b" * 41, None):
        why_not(push(after=after))
    assert work(push(after="b" * 64)).payload["commit"] == "b" * 64  # a repository with SHA-256


def test_a_push_of_nothing_or_for_a_project_without_suite_runs_nothing() -> None:
    why_not(push(before=B))
    why_not(push(), suite=False)


def test_a_merge_queue_may_push() -> None:
    """The queue is a program; what it lands is a commit like any other."""
    assert work(push(sender={"login": "github-merge-queue[bot]", "type": "Bot"})).kind == "suite"
