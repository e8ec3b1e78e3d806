"""A pull request changes."""

from __future__ import annotations

from typing import Any

import pytest

from bot.events import Event
from tests.bot.events.support import A, B, event, why_not, work

OURS = {"full_name": "acme/compiler"}


def pull(action: str, head: Any = None, changes: Any = None, **more: Any) -> Event:
    told = {
        "number": 7,
        "draft": False,
        "updated_at": "2026-01-02T03:04:05Z",
        "base": {"ref": "main", "sha": A, "repo": OURS},
        "head": {"sha": B, "repo": OURS, **(head or {})},
        **more,
    }
    return event("pull_request", action, {"number": 7, "pull_request": told, "changes": changes or {}})


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize", "ready_for_review"])
def test_a_new_head_is_checked(action: str) -> None:
    found = work(pull(action))
    assert (found.kind, found.project, found.priority) == ("pull", "compiler", 10)
    told = {"pull": 7, "commit": B, "base": A, "base_ref": "main", "fork": False, "ended": ""}
    assert found.payload == told | {"at": "2026-01-02T03:04:05Z"}


def test_a_draft_waits_until_it_is_ready() -> None:
    assert why_not(pull("opened", draft=True)) == "a draft"
    assert work(pull("converted_to_draft", draft=True)).payload["ended"]


def test_other_branches_and_projects_without_a_gate_are_left_alone() -> None:
    other = {"ref": "stable", "sha": A, "repo": OURS}
    assert "branch" in why_not(pull("opened", base=other))
    why_not(pull("opened"), gate=False)
    for action in ("labeled", "assigned", "edited", "review_requested", "unheard_of"):
        why_not(pull(action))


def test_a_closed_one_needs_no_check_any_more() -> None:
    assert work(pull("closed", merged=True)).payload["ended"] == "the pull request was closed"


def test_one_that_is_pointed_elsewhere_follows_its_base() -> None:
    moved = {"base": {"ref": {"from": "other"}}}
    assert work(pull("edited", changes=moved)).payload["ended"] == ""
    away = pull("edited", changes=moved, base={"ref": "other", "sha": A, "repo": OURS})
    assert work(away).payload["ended"]


@pytest.mark.parametrize("repo", [{"full_name": "mallory/compiler"}, {"full_name": None}, None, "acme/compiler"])
def test_what_does_not_surely_lie_in_the_repository_comes_from_a_fork(repo: Any) -> None:
    found = work(pull("opened", head={"repo": None} if repo is None else {"repo": repo}))
    assert found.payload["fork"] is True


def test_names_of_repositories_do_not_tell_upper_from_lower_case() -> None:
    assert work(pull("opened", head={"repo": {"full_name": "Acme/Compiler"}})).payload["fork"] is False


def test_a_pull_request_of_a_program_is_checked_like_any_other() -> None:
    found = pull("opened", user={"login": "dependabot[bot]", "type": "Bot"})
    assert work(found).kind == "pull"
