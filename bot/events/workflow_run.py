"""``workflow_run``: a workflow of the project has ended; the build of that commit may be ready."""

from __future__ import annotations

from bot.events import Event
from bot.events._reading import commit, wake
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """What waits for a build of the commit looks again, however the workflow ended."""
    found = commit(event.payload, "workflow_run", "head_sha")
    if event.action != "completed" or not found:
        return "no workflow has ended"
    return [wake(project, found)]
