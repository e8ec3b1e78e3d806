"""Whether a build contains a fix: by the history of commits, or by the order of releases."""

from __future__ import annotations

from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.git import GitError, Repository
from triage.revisions.index import IndexUnreachable


def contains(compiler: Compiler, revision: str, fix: str) -> bool | None:
    """Whether the revision called `revision` is the one called `fix` or has it in its history; None if unknown."""
    try:
        if "repository" in compiler.settings:
            return _in_history(Repository(compiler.path("repository")), revision, fix)
        known = [each.version for each in listing.revisions(compiler)]
    except (GitError, IndexUnreachable):
        return None
    return known.index(revision) >= known.index(fix) if {revision, fix} <= set(known) else None


def landed_after(compiler: Compiler, fix: str, landed: str, build: str) -> bool | None:
    """Whether a fix came to the branch after a build; None where the history does not tell, e.g. after a forced push.

    `landed` is what brought the fix there: the merge that it came with, or itself.
    """
    if contains(compiler, build, fix):
        return False
    return True if contains(compiler, landed, build) else None


def _in_history(repository: Repository, revision: str, fix: str) -> bool | None:
    newer, older = repository.resolve(revision), repository.resolve(fix)
    return repository.contains(newer.id, older.id) if newer and older else None
