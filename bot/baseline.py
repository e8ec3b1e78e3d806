"""The build that a change is compared with: the one that is named, or the commit where the change left it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.failures import ExitCode, Refusal
from fuzz.case import Revision
from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.git import GitError, Repository
from triage.revisions.index import IndexUnreachable


@dataclass(frozen=True)
class Baseline:
    """`named` is the base as it was given, in full where it is known; `revision` is what a head is compared with.

    Where there is none, `why` says so.
    """

    named: str
    revision: Revision | None = None
    why: str = ""

    @property
    def version(self) -> str:
        """The revision that a head is compared with, "" where there is none."""
        return self.revision.version if self.revision else ""


def find(compiler: Compiler, name: str, head: Revision) -> Baseline:
    """What `head` is compared with when `name` is its base.

    Of commits it is their merge base: what the base's branch has changed since then is none of the head's doing.
    Raises Refusal where the package index does not answer.
    """
    if not name.strip():
        return Baseline(name, why="no base was given")
    try:
        base = listing.find(compiler, name)
        if not ("repository" in compiler.settings and base.commit and head.commit):
            return Baseline(base.version, base)
        return _parted(compiler, base, head)
    except (listing.UnknownRevision, GitError) as error:
        return Baseline(name, why=str(error))
    except IndexUnreachable as error:
        raise Refusal(str(error), ExitCode.ENVIRONMENT) from error


def _parted(compiler: Compiler, base: Revision, head: Revision) -> Baseline:
    """Where two commits parted. Raises GitError, listing.UnknownRevision."""
    repository = Repository(compiler.path("repository"))
    common = repository.merge_base(base.commit, head.commit)
    if not common:
        why = f"base and head have no common commit in {repository.folder}: fetch its whole history"
        return Baseline(base.version, why=why)
    if common == head.commit != base.commit:
        return Baseline(base.version, why="base has all of head already: there is no change to judge")
    return Baseline(base.version, listing.find(compiler, common))
