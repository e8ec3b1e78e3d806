"""Pull requests that are at one head commit share its check run, and none ends it for the others.

They are for the same branch (a project watches one), so what is asked about the head is the same for all: what it
changes since it left that branch. The newest base that is known of any of them answers it for all.
"""

from __future__ import annotations

from dataclasses import replace

from bot import keys
from bot.checks.ending import cancelled
from bot.checks.run import OPEN
from bot.settings import Project
from triage.ledger import Ledger
from triage.ledger.records import Check, NewOutgoing, NewWork
from triage.revisions.config import Compiler
from triage.revisions.git import Repository

_PRIORITY = 10


def others(ledger: Ledger, check: Check) -> list[Check]:
    """The rows of other pull requests that are at the same head, as far as is known."""
    return [
        each
        for each in ledger.checks.of_head(check.repository, check.head_sha)
        if each.project == check.project and each.pull != check.pull and each.newest and each.state != "cancelled"
    ]


def left(ledger: Ledger, project: Project, check: Check, why: str, title: str = "Cancelled") -> list[NewOutgoing]:
    """A pull request needs its check no more; what is said (it is in the outbox then).

    Where another one is at that head, nothing is said: the check run is that one's. What this one has said there
    meanwhile is replaced by another run, unless one is to come anyway. `why` is told, and may be foreign.
    """
    remaining = others(ledger, check)
    if not remaining:
        return [cancelled(ledger, check, why, title)]
    if all(each.state not in OPEN for each in remaining):
        ledger.work.add(gate(project, remaining[0]))
    ledger.checks.put(replace(check, state="cancelled", conclusion="cancelled"))
    return []


def gate(project: Project, check: Check) -> NewWork:
    """The gate of a check, once more; "again" lets no earlier result stand for it."""
    payload = {"commit": check.head_sha, "base": check.base, "base_ref": project.branch, "pull": check.pull}
    key = keys.gate(project.name, check.pull, check.head_sha)
    return NewWork("gate", key, project.name, {**payload, "fork": check.fork, "again": True}, _PRIORITY)


def base(ledger: Ledger, compiler: Compiler, check: Check) -> str:
    """The newest of the bases that are known of pull requests at this head; where none is, that of `check`.

    Raises triage.revisions.git.GitError.
    """
    found = check.base
    if not found or "repository" not in compiler.settings:
        return found
    repository = Repository(compiler.path("repository"))
    for each in others(ledger, check):
        known = repository.resolve(each.base) if each.base else None
        if known is not None and repository.resolve(found) and repository.contains(known.id, found):
            found = known.id
    return found
