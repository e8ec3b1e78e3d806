"""GitHub's own examples of webhook payloads (npm: `@octokit/webhooks-examples`), changed to a test's needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from tests.github.node import package


@cache
def examples() -> Mapping[str, tuple[dict[str, Any], ...]]:
    """All examples of each event; not to be changed."""
    listed = json.loads(package("@octokit/webhooks-examples", "api.github.com/index.json").read_bytes())
    return {each["name"]: tuple(each["examples"]) for each in listed}


def payload(event: str, action: str = "", changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An example of an event, e.g. ``payload("issues", "closed", {"sender": {"login": "maintainer"}})``.

    `changes` replace what the example says; within objects the rest stays. Where no example has the action, another of
    the event's gets it.
    """
    known = examples()[event]
    found = next((each for each in known if each.get("action", "") == action), known[0])
    told = changed(found, {"action": action} if action else {})
    return changed(told, changes or {})


def changed(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with changes, of which those within objects keep the rest of the object."""
    result: dict[str, Any] = json.loads(json.dumps(document))
    for name, value in changes.items():
        inner = result.get(name)
        result[name] = changed(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return result
