"""Which operators a commit touches, from --changed or from the repository of the compiler's configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.console import err
from fuzz.case import Revision
from triage.revisions.config import Compiler
from triage.revisions.git import GitError, Repository
from triage.suite import changed
from triage.suite.changed import Lines, Place


def operators(compiler: Compiler, base: str, head: Revision, named: Sequence[Lines]) -> dict[str, Place]:
    """Operators (as `order.spelling` spells them) and the changed lines that convert them; empty if nothing is known.

    `base` and `head` are asked of the configured repository, unless files are `named`. What cannot be read is told on
    stderr: an order is a matter of speed only.
    """
    if named:
        return changed.touched(named, _texts(named))
    if not ("repository" in compiler.settings and base and head.commit):
        return {}
    repository = Repository(compiler.path("repository"))
    try:
        changes = changed.from_git(repository, base, head.commit)
        return changed.touched(changes, changed.texts(repository, head.commit, changes))
    except GitError as error:
        err.print(f"graphwarden: what the commit touches is not known: {error}", markup=False, soft_wrap=True)
        return {}


def _texts(changes: Sequence[Lines]) -> dict[str, str]:
    """The texts of the Python files among `changes` that lie where they are named."""
    found = {}
    for each in changes:
        path = Path(each.path)
        if path.suffix == ".py" and path.is_file():
            found[each.path] = path.read_text(encoding="utf-8", errors="replace")
    return found
