"""``pull_request``: the head of a pull request is checked, and no longer once it is closed."""

from __future__ import annotations

from bot import keys
from bot.events import Event, at, text
from bot.events._reading import GATE_PRIORITY, commit, flag, issue_number, moment
from bot.settings import Project
from triage.ledger.records import NewWork

_CHECKED = frozenset({"opened", "reopened", "synchronize", "ready_for_review"})
#: What ends a check, and why.
_ENDED = {"closed": "the pull request was closed", "converted_to_draft": "the pull request is a draft again"}


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """Drafts are left alone, and so are pull requests for other branches.

    The work is a `pull`, which minds that deliveries may come late: the head of an older one is not checked.
    """
    if not project.gate:
        return "the project has no gate"
    number = issue_number(event.payload, "number") or issue_number(event.payload, "pull_request", "number")
    head = commit(event.payload, "pull_request", "head", "sha")
    if number is None or not head:
        return "no pull request's number and head in it"
    ours = text(event.payload, "pull_request", "base", "ref") == project.branch
    retargeted = event.action == "edited" and bool(text(event.payload, "changes", "base", "ref", "from"))
    if event.action in _ENDED or (retargeted and not ours):
        return [_pull(event, project, number, head, _ENDED.get(event.action, "it is for another branch now"))]
    if event.action not in _CHECKED and not retargeted:
        return f"nothing to do for {event.action!a}"[:100]
    if not ours:
        return f"not for the branch {project.branch}"
    if flag(event.payload, "pull_request", "draft"):
        return "a draft"
    return [_pull(event, project, number, head, "")]


def _pull(event: Event, project: Project, number: int, head: str, ended: str) -> NewWork:
    payload = {
        "pull": number,
        "commit": head,
        "base_ref": project.branch,
        "base": commit(event.payload, "pull_request", "base", "sha"),
        "fork": _fork(event),
        "at": moment(event.payload, "pull_request", "updated_at"),
        "ended": ended,
    }
    # One work a delivery: which of them counts is decided when it is done.
    key = f"{keys.gate(project.name, number, head)}:{event.id}"
    return NewWork("pull", key, project.name, payload, GATE_PRIORITY)


def _fork(event: Event) -> bool:
    """Whether the head lies elsewhere; in doubt it does (the repository of a deleted fork is null)."""
    head = at(event.payload, "pull_request", "head", "repo", "full_name")
    base = at(event.payload, "pull_request", "base", "repo", "full_name")
    return not (isinstance(head, str) and isinstance(base, str) and head.lower() == base.lower())
