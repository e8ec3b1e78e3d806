"""Events as GitHub tells them, for one project on the branch ``main``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot import events
from bot.events import Event
from bot.settings import Project
from tests.github import hooks
from triage.ledger.records import NewWork

A, B, C, ZEROS = "a" * 40, "b" * 40, "c" * 40, "0" * 40


def project(**changes: Any) -> Project:
    """A project of acme/compiler."""
    return Project(**{"name": "compiler", "repository": "acme/compiler", "compiler": "tiny", **changes})


def event(name: str, action: str = "", changes: Mapping[str, Any] | None = None) -> Event:
    """One of GitHub's examples of an event, changed."""
    return Event("guid-1", name, hooks.payload(name, action, changes))


def handled(found: Event, **changes: Any) -> list[NewWork] | str:
    """What follows from an event, for a project that differs in `changes`."""
    return events.load(found.name).handle(found, project(**changes))


def work(found: Event, **changes: Any) -> NewWork:
    """The one piece of work that follows."""
    [one] = _listed(handled(found, **changes))
    return one


def why_not(found: Event, **changes: Any) -> str:
    """Why nothing follows."""
    answer = handled(found, **changes)
    assert isinstance(answer, str), answer
    return answer


def _listed(answer: list[NewWork] | str) -> list[NewWork]:
    assert isinstance(answer, list), answer
    return answer
