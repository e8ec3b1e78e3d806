"""Checks that are wanted again, builds that may be ready, merge groups, releases."""

from __future__ import annotations

import pytest

from tests.bot.events.support import A, B, event, why_not, work

DONE = "2026-01-02T03:04:05Z"


@pytest.mark.parametrize("action", ["rerequested", "requested_action"])
def test_a_check_run_that_is_wanted_again_is_named_by_head_and_our_id(action: str) -> None:
    """Of a fork GitHub tells no pull request: the list is empty."""
    told = {"head_sha": B, "external_id": "ours-1", "pull_requests": [], "completed_at": DONE}
    found = work(event("check_run", action, {"check_run": told, "sender": {"login": "ann"}}))
    assert (found.kind, found.payload) == ("recheck", {"commit": B, "external_id": "ours-1", "by": "ann", "at": DONE})


def test_check_runs_of_others_are_none_of_ours() -> None:
    why_not(event("check_run", "rerequested", {"check_run": {"head_sha": B, "external_id": ""}}))
    for action in ("created", "completed"):
        why_not(event("check_run", action, {"check_run": {"head_sha": B, "external_id": "ours-1"}}))


def test_a_check_suite_that_is_wanted_again_means_all_checks_of_the_head() -> None:
    found = work(event("check_suite", "rerequested", {"check_suite": {"head_sha": B}}))
    assert found.kind == "recheck" and found.payload["external_id"] == ""


def test_the_check_suite_that_comes_with_every_push_asks_for_nothing() -> None:
    why_not(event("check_suite", "requested", {"check_suite": {"head_sha": B}}))


@pytest.mark.parametrize("name", ["check_suite", "workflow_run"])
def test_what_waits_for_a_build_is_woken_when_others_have_ended(name: str) -> None:
    found = work(event(name, "completed", {name: {"head_sha": B, "conclusion": "success", "pull_requests": []}}))
    assert (found.kind, found.payload) == ("wake", {"commit": B})
    why_not(event(name, "completed", {name: {"head_sha": None}}))


def test_a_merge_group_is_checked_by_its_commit() -> None:
    group = {"head_sha": B, "base_sha": A, "base_ref": "refs/heads/main"}
    found = work(event("merge_group", "checks_requested", {"merge_group": group}))
    assert (found.kind, found.key) == ("gate", f"compiler@{B}")
    told = {"commit": B, "base": A, "base_ref": "main", "fork": False, "pull": None, "at": ""}
    assert found.payload == told
    assert work(event("merge_group", "destroyed", {"merge_group": group})).payload["ended"]
    why_not(event("merge_group", "checks_requested", {"merge_group": group}), branch="other")


def test_a_release_is_named_by_its_version() -> None:
    found = work(event("release", "published", {"release": {"tag_name": "v1.2.3", "draft": False, "prerelease": True}}))
    assert found.payload == {"version": "1.2.3", "tag": "v1.2.3", "prerelease": True}
    plain = event("release", "published", {"release": {"tag_name": "vision-2", "draft": False}})
    assert work(plain).payload["version"] == "vision-2"


def test_only_what_is_published_is_a_release() -> None:
    for action in ("created", "edited", "deleted", "prereleased", "released"):
        why_not(event("release", action, {"release": {"tag_name": "v1"}}))
    for tag in ("-x", "", "a b", None, "x" * 200, "tag\n"):
        why_not(event("release", "published", {"release": {"tag_name": tag}}))


def test_what_only_concerns_the_webhook_is_noted() -> None:
    assert why_not(event("ping")) == "the webhook works"
    assert "deleted" in why_not(event("installation", "deleted"))
    assert "removed" in why_not(event("installation_repositories", "removed"))
