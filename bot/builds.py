"""Compilers, revisions and how they are named on the command line, their errors as one line."""

from __future__ import annotations

from bot.failures import ExitCode, Refusal
from fuzz.case import Revision
from triage.revisions import config, listing
from triage.revisions.config import Compiler
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable


def compiler(name: str) -> Compiler:
    """The configured compiler of that name or file. Raises Refusal."""
    try:
        return config.load(name)
    except config.BadConfiguration as error:
        raise Refusal(str(error)) from error


def revision(chosen: Compiler, name: str) -> Revision:
    """One revision of a compiler. Raises Refusal."""
    try:
        return listing.find(chosen, name)
    except (listing.UnknownRevision, GitError) as error:
        raise Refusal(str(error)) from error
    except IndexUnreachable as error:
        raise Refusal(str(error), ExitCode.ENVIRONMENT) from error


def span(chosen: Compiler, first: str, last: str) -> tuple[Revision, ...]:
    """The revisions from `first` to `last` ("": the oldest, the newest), both included. Raises Refusal."""
    try:
        known = listing.revisions(chosen)
        if not known:
            raise Refusal(f"{chosen.name} has no revisions (its configuration: {chosen.source})")
        return listing.between(chosen, first or known[0].version, last or known[-1].version)
    except (listing.UnknownRevision, GitError) as error:
        raise Refusal(str(error)) from error
    except IndexUnreachable as error:
        raise Refusal(str(error), ExitCode.ENVIRONMENT) from error
