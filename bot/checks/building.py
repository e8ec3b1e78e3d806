"""The builds that a check compares: whether there is one, whether it may be made, and making it."""

from __future__ import annotations

from bot import builds
from bot.failures import Refusal
from fuzz.case import Revision
from fuzz.runner import Runner
from triage.revisions import approvals, listing, places
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.revisions.recipe import CannotBuild
from triage.revisions.waiting import GoesOn
from triage.revisions.waiting import wanted as always

#: Providers whose builds are commits.
_OF_COMMITS = frozenset({"overlay", "command"})
#: Seconds between two looks for a build that is not there yet; `wake` comes earlier.
POLL = 60.0


class NotYet(Exception):
    """There is no build of the commit, and one may still come."""


def find(compiler: Compiler, commit: str) -> Revision:
    """The build of a commit. Raises NotYet, Untestable where none will ever come, and Refusal.

    Commits of a repository are builds; else somebody's CI makes one and gives it the commit's name. Releases are
    numbers.
    """
    if compiler.provider == "release":
        reason = f"{compiler.name} knows releases only, and a commit is none"
        raise Untestable(commit[:12], reason, missing=True)
    try:
        return builds.revision(compiler, commit)
    except Refusal as problem:
        if isinstance(problem.__cause__, listing.UnknownRevision) and compiler.provider == "wheel":
            raise NotYet(str(problem)) from problem
        raise


def needs_word(compiler: Compiler, revision: Revision) -> bool:
    """Whether a build waits for a maintainer's word. Raises Untestable, git.GitError."""
    try:
        return approvals.wanted(places.root(), compiler, revision)
    except CannotBuild as refusal:
        raise Untestable(revision.version, refusal.reason, refusal.log) from refusal


def accept(compiler: Compiler, revision: Revision) -> None:
    """GitHub says that somebody with write permission pushed it: that is the word. Raises Untestable, git.GitError.

    A commit keeps it though the branch speaks for it today: a forced push may take it off the branch, and the bugs that
    were found on it are still judged by it.
    """
    try:
        keeps = compiler.untrusted and compiler.provider in _OF_COMMITS
        if keeps or approvals.wanted(places.root(), compiler, revision):
            approvals.give(places.root(), compiler, revision)
    except CannotBuild as refusal:
        raise Untestable(revision.version, refusal.reason, refusal.log) from refusal


def ensure(
    runner: Runner, compiler: Compiler, revision: Revision, *, again: bool = False, goes_on: GoesOn = always
) -> Revision:
    """The revision with its environment, which is made now if need be. Raises NotYet, Untestable.

    A wheel that is not at its address may still come; everything else that is missing will not. With `again`, a build
    that has failed before is tried once more. `goes_on` is called every few seconds; what it raises ends the build.
    """
    environments = Environments(runner, goes_on=goes_on)
    try:
        return environments.ensure(compiler, revision)
    except Untestable as problem:
        if problem.missing and compiler.provider == "wheel":
            raise NotYet(problem.reason) from problem
        if not again or problem.missing:
            raise
        return environments.ensure(compiler, revision, fresh=True)
