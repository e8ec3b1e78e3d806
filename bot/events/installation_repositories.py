"""``installation_repositories``: the App may see other repositories than before. Noted."""

from __future__ import annotations

from bot.events import Event, at
from bot.events._reading import line, login
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """A note for those who read the list of deliveries."""
    account = login(event.payload, "installation", "account", "login") or "somebody"
    added, removed = (_count(event, name) for name in ("repositories_added", "repositories_removed"))
    return f"installation of {account}: {line(event.action, 40)}, {added} repositories more, {removed} fewer"


def _count(event: Event, name: str) -> int:
    found = at(event.payload, name)
    return len(found) if isinstance(found, list) else 0
