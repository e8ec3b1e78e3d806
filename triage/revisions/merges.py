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
    `old`: `left` was on the branch before the outermost merge. Of a branch that was taken in from there, nothing is its
    own: it has no `commits`.
    """

    left: Revision | None
    commits: tuple[Revision, ...]
    old: bool = False


def sides(compiler: Compiler, merge: Revision, before: Revision) -> list[Side]:
    """What a commit takes in beside its first parent; nothing of one that is no merge, or no commit.

    `before` is the commit before the outermost merge that is searched: what was on the branch by then is nobody's own.
    Raises triage.revisions.git.GitError.
    """
    if not merge.commit or "repository" not in compiler.settings:
        return []
    repository = Repository(compiler.path("repository"))
    first, *others = repository.parents(merge.commit) or [""]
    return [_side(compiler, repository, other, first, before.commit) for other in others]


def _side(compiler: Compiler, repository: Repository, tip: str, first: str, before: str) -> Side:
    commits = tuple(_commits.revision(each) for each in repository.history(tip, first, before))
    where = commits[0].parent if commits else tip
    left = _commits.resolve(compiler, where) if where else None
    return Side(left, commits, left is not None and repository.contains(before, left.commit))


def parent(compiler: Compiler, merge: str) -> str:
    """The commit that a merge was made on, its first parent; "" of a first commit. Raises git.GitError."""
    found = _commits.resolve(compiler, merge)
    return found.parent if found else ""


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
