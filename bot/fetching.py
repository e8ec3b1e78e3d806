"""Commits that GitHub tells of, brought into the compiler's local repository (docs/revisions.md).

What is fetched is data: nothing of it runs here, and a build of it still needs what `triage.revisions.approvals` asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import structlog

from triage.revisions.config import Compiler
from triage.revisions.git import GitError, Repository

log = structlog.get_logger()

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def fetch(compiler: Compiler, remote: str, commits: Iterable[str], pull: int | None = None) -> None:
    """Have these commits (full hashes; "" is left out) in the compiler's repository. What is there is not asked for.

    A compiler whose builds are no commits has none. `remote` is a name in that repository, "" where nothing may be
    fetched; where it does not give a commit by its hash, the head of the pull request is taken. Raises GitError.
    """
    if "repository" not in compiler.settings:
        return
    repository = Repository(compiler.path("repository"))
    missing = [commit for commit in commits if commit and not _there(repository, commit)]
    if not missing:
        return
    if not remote:
        raise GitError(f"{repository.folder} has no commit {missing[0]}, and `fetch` names no remote to take it from")
    for commit in missing:
        _take(repository, remote, commit, pull)


def update(compiler: Compiler, remote: str, branch: str) -> None:
    """Have a branch as it is now: as the remote's branch, or in a bare repository as its own.

    A repository without that remote is the one where people commit; there is nothing to take. Where the remote does not
    answer, the branch stays as it was: that is logged, and commits off it go on waiting for a word.
    """
    if "repository" not in compiler.settings or not remote:
        return
    repository = Repository(compiler.path("repository"))
    if remote not in repository.remotes():
        return
    place = "heads" if repository.bare() else f"remotes/{remote}"
    try:
        repository.fetch(remote, f"+refs/heads/{branch}:refs/{place}/{branch}")
    except GitError as problem:
        log.warning("branch_not_updated", compiler=compiler.name, branch=branch, why=str(problem))


def _there(repository: Repository, commit: str) -> bool:
    if not _COMMIT.fullmatch(commit):
        raise GitError(f"{commit[:80]!r} is no full hash of a commit")
    return repository.resolve(commit) is not None


def _take(repository: Repository, remote: str, commit: str, pull: int | None) -> None:
    """By its hash, which GitHub gives; else with the head of the pull request. Raises GitError."""
    why = "it has another head now"
    for wanted in (commit, *([] if pull is None else [f"refs/pull/{pull}/head"])):
        try:
            repository.fetch(remote, wanted)
        except GitError as problem:
            why = str(problem)
        if _there(repository, commit):
            return
    raise GitError(f"{remote} of {repository.folder} does not give commit {commit}: {why}")
