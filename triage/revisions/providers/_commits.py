"""What providers of commits share: the revisions of a repository's branch."""

from __future__ import annotations

from fuzz.case import Revision
from triage.revisions.config import Compiler
from triage.revisions.git import Commit, Repository


def repository(compiler: Compiler) -> Repository:
    """The configured repository."""
    return Repository(compiler.path("repository"))


def revisions(compiler: Compiler) -> tuple[Revision, ...]:
    """The commits of the configured branch after `since`, oldest first. Raises git.GitError."""
    history = repository(compiler).history(compiler.text("branch", "HEAD"), compiler.text("since"))
    return tuple(revision(commit) for commit in history)


def resolve(compiler: Compiler, name: str) -> Revision | None:
    """Any commit of the repository, on the branch or not: the head of a pull request is on none."""
    commit = repository(compiler).resolve(name)
    return revision(commit) if commit else None


def foreign(compiler: Compiler, revision: Revision) -> bool:
    """Whether a commit is not on the configured branch, as the head of a pull request is not. Raises git.GitError."""
    return not repository(compiler).contains(compiler.text("branch", "HEAD"), revision.commit)


def word(compiler: Compiler, revision: Revision) -> str:
    """What a maintainer's word is given for: this commit, and none that is pushed later."""
    return revision.commit


def revision(commit: Commit) -> Revision:
    """A commit as a revision."""
    return Revision(commit.id, commit=commit.id, date=commit.date, parent=commit.parent)
