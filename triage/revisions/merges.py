"""What merges bring: the commits inside them, which are on no list of a branch's revisions."""

from __future__ import annotations

from dataclasses import dataclass

from fuzz.case import Revision
from triage.revisions.config import Compiler
from triage.revisions.git import Repository
from triage.revisions.providers import _commits


@dataclass(frozen=True)
class Side:
    """One branch that a merge takes in: its own commits along first parents, the oldest first.

    `left` is the commit before them, where it left what it is merged into; None where it shares no commit with that.
    """

    left: Revision | None
    commits: tuple[Revision, ...]


def sides(compiler: Compiler, merge: Revision) -> list[Side]:
    """What a commit takes in beside its first parent; nothing of one that is no merge, or no commit.

    Raises triage.revisions.git.GitError.
    """
    if not merge.commit or "repository" not in compiler.settings:
        return []
    repository = Repository(compiler.path("repository"))
    first, *others = repository.parents(merge.commit) or [""]
    found = [tuple(_commits.revision(each) for each in repository.history(other, first)) for other in others]
    return [Side(_left(compiler, commits[0]), commits) for commits in found if commits]


def _left(compiler: Compiler, oldest: Revision) -> Revision | None:
    return _commits.resolve(compiler, oldest.parent) if oldest.parent else None


def bringer(compiler: Compiler, revision: Revision) -> str:
    """The listed merge with which a commit came to the branch, "" where it is listed itself or came with none.

    Raises triage.revisions.git.GitError.
    """
    if not revision.commit or "repository" not in compiler.settings:
        return ""
    repository = Repository(compiler.path("repository"))
    branch = compiler.text("branch", "HEAD")
    if any(each.id == revision.commit for each in repository.history(branch)):
        return ""
    return repository.brought_by(branch, revision.commit)
