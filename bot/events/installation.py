"""``installation``: the App was installed, suspended or removed. Noted; what the bot may do, GitHub tells each time."""

from __future__ import annotations

from bot.events import Event
from bot.events._reading import line, login
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """A note for those who read the list of deliveries."""
    account = login(event.payload, "installation", "account", "login") or "somebody"
    return f"installation of {account}: {line(event.action, 40) or 'changed'}"
