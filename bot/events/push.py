"""``push``: a commit landed on the branch that the project watches, so its suite runs."""

from __future__ import annotations

from bot import keys
from bot.events import Event, text
from bot.events._reading import SUITE_PRIORITY, commit, flag, identifier
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """One suite for all commits of the push: what was there before against what is there now.

    `before` is "" where the branch is new; `forced` tells that it may be no ancestor. `at` tells one push from another
    that asks the same, since a branch may be forced back and forth: GitHub's time of it, in seconds since 1970.
    """
    if text(event.payload, "ref") != f"refs/heads/{project.branch}":
        return f"not the branch {project.branch}"
    after = commit(event.payload, "after")
    if flag(event.payload, "deleted") or not after:
        return f"the branch {project.branch} was deleted, or the push names no commit"
    if not project.suite:
        return "the project runs no suite"
    before = commit(event.payload, "before")
    if before == after:
        return "nothing new was pushed"
    payload = {"commit": after, "before": before, "forced": flag(event.payload, "forced")}
    payload |= {"at": identifier(event.payload, "repository", "pushed_at") or 0}
    return [NewWork("suite", keys.commit(project.name, after), project.name, payload, SUITE_PRIORITY)]
