"""Which build a bug is judged by: what the watched branch is now, whatever build somebody named or a push brought.

A bug is fixed, or back, only if the newest build of the branch says so: pushes come faster than bugs are bisected, and
people name builds that are older or that never landed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.desk import Desk
from bot.life import ancestry
from bot.settings import Project
from triage.ledger.records import WorkState
from triage.revisions import listing
from triage.revisions.config import Compiler

#: Suites that are looked at, the newest ones.
_SUITES = 200


def newest(desk: Desk, project: Project, compiler: Compiler, named: str) -> str:
    """The newest of `named` and of the commits whose suite has ended; "" if `named` never landed and none has.

    Raises triage.revisions.git.GitError and IndexUnreachable.
    """
    suites = desk.ledger.work.listed([WorkState.DONE], "suite", limit=_SUITES)
    tested = {str(each.payload["commit"]) for each in suites if each.project == project.name}
    return last([each.version for each in listing.revisions(compiler)], {named, *tested})


def last(branch: Sequence[str], names: Collection[str]) -> str:
    """The last revision of a branch (the oldest first) that is among `names`, "" if none is. Pure."""
    return next((name for name in reversed(branch) if name in names), "")


def older(compiler: Compiler, name: str, than: str) -> bool:
    """Whether a revision is known to lie before another."""
    return name != than and ancestry.contains(compiler, than, name) is True
