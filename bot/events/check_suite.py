"""``check_suite``: all checks of a commit are wanted again, or others' checks have ended, so a build may be ready."""

from __future__ import annotations

from bot.events import Event
from bot.events._reading import again, commit, moment, wake
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """`requested` comes with every push and asks for nothing more: pull requests tell of their new heads themselves."""
    found = commit(event.payload, "check_suite", "head_sha")
    if not found:
        return "no head commit in it"
    if event.action == "rerequested":
        return [again(event, project, found, moment(event.payload, "check_suite", "updated_at"))]
    return [wake(project, found)] if event.action == "completed" else "nothing to do"
