"""What GitHub's webhooks mean, one file an event; the file's name is the event (issue 6).

An event is a module with ``handle(event, project) -> list[NewWork] | str``: the work that follows for one project of
the repository, or why there is none. Pure: what only GitHub knows (a person's permission) is asked when the work is
done. Payloads are read tolerantly: GitHub's own examples do not all follow its own schema. Files that begin with
``_`` are no events.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from bot.settings import Project
from triage.ledger.records import Delivery, NewWork


class Unreadable(ValueError):
    """A delivery whose body is no JSON object."""


@dataclass(frozen=True)
class Event:
    """One delivery, read: `action` is "" for events that have none, `repository` is ``owner/name`` or ""."""

    id: str
    name: str
    payload: Mapping[str, Any]

    @property
    def action(self) -> str:
        """What happened, e.g. ``opened``."""
        found = self.payload.get("action")
        return found if isinstance(found, str) else ""

    @property
    def repository(self) -> str:
        """Where it happened."""
        return text(self.payload, "repository", "full_name")

    @property
    def sender(self) -> str:
        """The login of who did it."""
        return text(self.payload, "sender", "login")

    @property
    def by_bot(self) -> bool:
        """Whether a program did it."""
        return text(self.payload, "sender", "type") == "Bot" or self.sender.endswith("[bot]")


class Handler(Protocol):
    """A module of this folder."""

    def handle(self, event: Event, project: Project) -> list[NewWork] | str: ...


def read(delivery: Delivery) -> Event:
    """The event of a delivery. Raises Unreadable."""
    try:
        payload = json.loads(delivery.body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the body is no JSON: {error}") from error
    if not isinstance(payload, dict):
        raise Unreadable("the body is no JSON object")
    return Event(delivery.id, delivery.event, payload)


def at(payload: object, *path: str | int) -> Any:
    """What lies at a path of keys and positions, None where there is nothing."""
    for step in path:
        if isinstance(payload, Mapping) and isinstance(step, str):
            payload = payload.get(step)
        elif isinstance(payload, list) and isinstance(step, int) and -len(payload) <= step < len(payload):
            payload = payload[step]
        else:
            return None
    return payload


def text(payload: object, *path: str | int) -> str:
    """The text at a path, "" where there is none."""
    found = at(payload, *path)
    return found if isinstance(found, str) else ""


def number(payload: object, *path: str | int) -> int | None:
    """The whole number at a path."""
    found = at(payload, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


@cache
def names() -> tuple[str, ...]:
    """The events that mean something."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_")))


@cache
def load(name: str) -> Handler:
    """The handler of an event."""
    module: Handler = importlib.import_module(f"{__name__}.{name}")
    return module
