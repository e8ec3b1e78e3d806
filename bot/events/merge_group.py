"""``merge_group``: GitHub's merge queue asks for checks on a commit that is about to land."""

from __future__ import annotations

from bot import keys
from bot.events import Event, text
from bot.events._reading import commit, head
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """Such commits lie in the repository itself, so they come from no fork."""
    if not project.gate:
        return "the project has no gate"
    found = commit(event.payload, "merge_group", "head_sha")
    if not found:
        return "no head commit in it"
    branch = text(event.payload, "merge_group", "base_ref").removeprefix("refs/heads/")
    if branch != project.branch:
        return f"not for the branch {project.branch}"
    if event.action == "destroyed":
        key = keys.gate(project.name, None, found)
        payload = {"commit": found, "pull": None, "at": "", "ended": "the merge queue dropped it"}
        return [NewWork("pull", f"{key}:{event.id}", project.name, payload, 0)]
    if event.action != "checks_requested":
        return "no check is asked for"
    base = commit(event.payload, "merge_group", "base_sha")
    return [head(project, {"commit": found, "base_ref": branch, "base": base, "fork": False, "at": ""}, None)]
