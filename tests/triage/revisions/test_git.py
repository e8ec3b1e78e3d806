"""A repository is asked, never obeyed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.builds import tinyc
from triage.revisions.git import GitError, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    tinyc.repository(tmp_path / "repository", [{"a.py": "one\n", "src/b.cc": "x\n"}, {"a.py": "one\ntwo\n"}])
    return Repository(tmp_path / "repository")


def test_history_is_told_oldest_first_and_after_a_commit(repository: Repository) -> None:
    first, second = repository.history("main")
    assert second.parent == first.id
    assert repository.history("main", since=first.id) == [second]


def test_where_two_commits_parted_is_told(repository: Repository) -> None:
    first, second = repository.history("main")
    assert repository.merge_base(first.id, second.id) == first.id
    assert repository.merge_base(second.id, second.id) == second.id


def test_commits_that_share_no_history_parted_nowhere(repository: Repository) -> None:
    git = ["git", "-C", str(repository.folder), "-c", "user.name=tests", "-c", "user.email=tests@example.org"]
    subprocess.run([*git, "checkout", "--quiet", "--orphan", "other"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "alone"], check=True)
    assert repository.merge_base("main", "other") == ""
    with pytest.raises(GitError):
        repository.merge_base("main", "nowhere")


def test_what_differs_between_commits_is_told_below_the_paths_that_matter(repository: Repository) -> None:
    first, second = repository.history("main")
    assert repository.changed(first.id, second.id) == ["a.py"]
    assert repository.changed(first.id, second.id, "src") == []
    assert "+two" in repository.difference(first.id, second.id, "a.py")
    assert repository.text(first.id, "a.py") == "one\n"


def test_hooks_filters_and_settings_of_the_repository_are_not_run(repository: Repository, tmp_path: Path) -> None:
    commit = repository.history("main")[-1]
    trap = tmp_path / "ran"
    config = repository.folder / ".git" / "config"
    config.write_text(
        config.read_text()
        + f'[diff "x"]\n\ttextconv = touch {trap};\n\tcommand = touch {trap};\n[core]\n\tpager = touch {trap};\n'
    )
    (repository.folder / ".gitattributes").write_text("*.py diff=x\n")
    first = repository.history("main")[0]
    assert "+two" in repository.difference(first.id, commit.id, "a.py")
    repository.text(commit.id, "a.py")
    repository.export(commit.id, "", tmp_path / "tree")
    assert (tmp_path / "tree" / "a.py").read_text() == "one\ntwo\n"
    assert not trap.exists()


def test_no_such_repository_commit_or_path_is_said(repository: Repository, tmp_path: Path) -> None:
    assert repository.resolve("nothing") is None
    assert repository.resolve("--help") is None
    assert repository.tree("main", "nowhere") == ""
    with pytest.raises(GitError, match="nowhere"):
        repository.export("main", "nowhere", tmp_path / "tree")
    with pytest.raises(GitError, match=r"not a git repository|cannot change to"):
        Repository(tmp_path / "void").history("main")
