"""``ping``: GitHub tries the webhook."""

from __future__ import annotations

from bot.events import Event
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """It arrived, which is all that it asks for."""
    return "the webhook works"
