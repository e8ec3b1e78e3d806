"""Commits are brought into the compiler's repository, and nothing else happens there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import fetching
from tests.bot.checks.support import git
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.revisions.config import Compiler
from triage.revisions.git import GitError


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    tinyc.repository(tmp_path / "origin", [tinyc.sources()])
    return tmp_path / "origin"


def cloned(origin: Path, *options: str) -> Compiler:
    clone = origin.with_name("clone")
    git(origin.parent, "clone", "--quiet", *options, str(origin), str(clone))
    return support.overlaid(origin.parent, clone, tinyc.wheel(origin.parent, "1.0"))


def commit(origin: Path, message: str) -> str:
    git(origin, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(origin, "rev-parse", "HEAD").strip()


def test_a_commit_that_is_on_no_branch_is_fetched_by_its_hash(origin: Path) -> None:
    compiler = cloned(origin)
    head = commit(origin, "a pull request")
    git(origin, "reset", "--quiet", "--hard", "HEAD~1")
    fetching.fetch(compiler, "origin", [head, ""])
    assert git(compiler.path("repository"), "cat-file", "-t", head).strip() == "commit"


def test_a_remote_that_gives_nothing_by_hash_is_asked_for_the_head_of_the_pull_request(origin: Path) -> None:
    git(origin, "config", "protocol.version", "0")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "false")
    compiler = cloned(origin)
    git(compiler.path("repository"), "config", "protocol.version", "0")
    head = commit(origin, "a pull request")
    git(origin, "update-ref", "refs/pull/7/head", head)
    git(origin, "reset", "--quiet", "--hard", "HEAD~1")
    later = commit(origin, "pushed later")
    git(origin, "update-ref", "refs/pull/8/head", later)
    fetching.fetch(compiler, "origin", [head], pull=7)
    assert git(compiler.path("repository"), "cat-file", "-t", head).strip() == "commit"
    with pytest.raises(GitError, match="does not give commit 0123"):
        fetching.fetch(compiler, "origin", ["0123456789" * 4], pull=8)


def test_what_is_there_needs_no_remote_and_what_is_missing_says_so(origin: Path) -> None:
    compiler = cloned(origin)
    fetching.fetch(compiler, "", [git(origin, "rev-parse", "HEAD").strip()])
    with pytest.raises(GitError, match="names no remote"):
        fetching.fetch(compiler, "", ["0123456789" * 4])


@pytest.mark.parametrize("name", ["--upload-pack=touch /tmp/hurt", "main", "HEAD", "../../etc", "0" * 39, "a\nb"])
def test_only_a_full_hash_is_fetched(origin: Path, name: str) -> None:
    with pytest.raises(GitError, match="is no full hash"):
        fetching.fetch(cloned(origin), "origin", [name])


def test_no_hook_runs_and_no_tag_comes(origin: Path) -> None:
    compiler = cloned(origin)
    clone = compiler.path("repository")
    for hook in ("reference-transaction", "post-merge", "post-checkout"):
        path = clone / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch {clone}/hurt\n")
        path.chmod(0o755)
    head = commit(origin, "landed")
    git(origin, "tag", "v9")
    fetching.fetch(compiler, "origin", [head])
    fetching.update(compiler, "origin", "main")
    assert git(clone, "rev-parse", "origin/main").strip() == head
    assert not (clone / "hurt").exists() and not git(clone, "tag")


@pytest.mark.parametrize(("options", "place"), [((), "origin/main"), (("--bare",), "main")])
def test_the_branch_is_brought_up_to_date(origin: Path, options: tuple[str, ...], place: str) -> None:
    compiler = cloned(origin, *options)
    git(origin, "commit", "--quiet", "--amend", "--allow-empty", "--message", "forced")
    fetching.update(compiler, "origin", "main")
    assert git(compiler.path("repository"), "rev-parse", place) == git(origin, "rev-parse", "main")


def test_a_branch_that_the_remote_does_not_give_stays_as_it_was(origin: Path) -> None:
    compiler = cloned(origin)
    before = git(compiler.path("repository"), "rev-parse", "origin/main")
    fetching.update(compiler, "origin", "no-such-branch")
    fetching.update(compiler, "elsewhere", "main")
    assert git(compiler.path("repository"), "rev-parse", "origin/main") == before


def test_a_compiler_that_is_no_repository_needs_nothing_and_is_left_as_it_is(tmp_path: Path) -> None:
    compiler, missing = support.wheels(tmp_path), "0123456789" * 4
    before = sorted(tmp_path.rglob("*"))
    fetching.fetch(compiler, "origin", [missing])  # of a repository that would be refused
    fetching.update(compiler, "origin", "main")
    assert sorted(tmp_path.rglob("*")) == before
    assert before and "repository" not in compiler.settings
