"""An event that is one piece of work for every delivery, or raises, as its payload wants it."""

from __future__ import annotations

import uuid

from bot.events import Event
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    if event.payload.get("raise"):
        raise ZeroDivisionError("planted")
    if event.payload.get("unsaveable"):
        return [NewWork("planted", event.id, project.name, {"no": object()})]
    if "nothing" in event.payload:
        return str(event.payload["nothing"])
    # A key that is never the same: were a delivery handled twice, there would be two.
    return [NewWork("planted", f"{event.id} {uuid.uuid4()}", project.name, {"number": event.payload.get("number")})]
