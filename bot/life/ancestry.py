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


def _in_history(repository: Repository, revision: str, fix: str) -> bool | None:
    newer, older = repository.resolve(revision), repository.resolve(fix)
    return repository.contains(newer.id, older.id) if newer and older else None
