"""``check_run``: a person wants a check of the bot's again, by GitHub's button or by the bot's own."""

from __future__ import annotations

from bot.events import Event, text
from bot.events._reading import again, commit, moment
from bot.settings import Project
from triage.ledger.records import NewWork

_AGAIN = frozenset({"rerequested", "requested_action"})


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """Whether it is a check of ours the ledger tells. GitHub shows these buttons only to people who may push."""
    if event.action not in _AGAIN:
        return "nobody wants a check again"
    found = commit(event.payload, "check_run", "head_sha")
    external_id = text(event.payload, "check_run", "external_id")
    if not found or not external_id or len(external_id) > 200 or not external_id.isascii():
        return "no check of ours"
    return [again(event, project, found, moment(event.payload, "check_run", "completed_at"), external_id)]
