"""Which revisions a compiler has, and which one a person means."""

from __future__ import annotations

import difflib

from fuzz.case import Revision
from triage.revisions import merges, providers
from triage.revisions.config import Compiler


class UnknownRevision(ValueError):
    """No such revision; the message names near ones."""


def revisions(compiler: Compiler) -> tuple[Revision, ...]:
    """All revisions, oldest first. Raises what the provider raises: IndexUnreachable, git.GitError."""
    found: tuple[Revision, ...] = providers.load(compiler.provider).revisions(compiler)
    return found


def find(compiler: Compiler, name: str) -> Revision:
    """The revision called `name`: a version, a tag or branch, the beginning of a commit. Raises UnknownRevision."""
    found: Revision | None = providers.load(compiler.provider).resolve(compiler, name)
    if found is not None:
        return found
    known = [revision.version for revision in revisions(compiler)]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known[-3:]
    hint = f"; near it: {', '.join(near)}" if near else ""
    raise UnknownRevision(f"{compiler.name} has no revision {name!r}{hint} (`graphwarden revisions {compiler.name}`)")


def between(compiler: Compiler, first: str, last: str) -> tuple[Revision, ...]:
    """The listed revisions from `first` to `last`, both included. Raises UnknownRevision, git.GitError.

    A commit that came to the branch inside a merge is not listed; the merge stands for it.
    """
    ends = [find(compiler, first), find(compiler, last)]
    known = list(revisions(compiler))
    places = [_place(compiler, known, end) for end in ends]
    if places[0] > places[1]:
        raise UnknownRevision(f"{first} is newer than {last}: --from takes the older of the two")
    return tuple(known[places[0] : places[1] + 1])


def _place(compiler: Compiler, known: list[Revision], wanted: Revision) -> int:
    places = {revision.version: place for place, revision in enumerate(known)}
    found = places.get(wanted.version)
    if found is None:
        found = places.get(merges.bringer(compiler, wanted))
    if found is None:
        raise UnknownRevision(f"{wanted.version} is not on the list of {compiler.name}'s revisions")
    return found
