"""The life of a bug as the database tells it: found, decided about, reported, closed, reopened, and what waits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.pages.documents import utc
from triage.ledger import Ledger
from triage.ledger.records import Outgoing, OutKind, OutState
from triage.life_picture import CLOSED, DECIDED, FOUND, OTHER, REOPENED, REPORTED, Event
from triage.records import Bug

#: The revision that the key of a closing or reopening ends with: ``close:bug:7:0.28.0`` (docs/life.md).
_REVISION = re.compile(r"(?:close|reopen):bug:\d+:(?P<revision>[^:]+)")
_WAITING = {OutState.HELD: "waits for a moderator", OutState.READY: "waits to be sent", OutState.SENDING: "being sent"}
_NAMES = {OutKind.ISSUE: "the report", OutKind.STATE: "a change of the issue's state", OutKind.COMMENT: "a comment"}


def events(ledger: Ledger, bug: Bug) -> list[Event]:
    """What happened to a bug, in order of time (UTC), and behind it what is still to happen."""
    found = [Event(utc(bug.created), FOUND, f"found in {bug.backend} {bug.revision}")]
    found += [event for one in ledger.outbox.listed(bug_id=bug.id) for event in _events(one)]
    found += [Event(utc(act.at), DECIDED, f"{act.by} {act.text}") for act in ledger.acts.of_bug(bug.id)]
    return sorted(found, key=lambda event: (event.kind == OTHER, event.at))


def _events(one: Outgoing) -> Iterator[Event]:
    at = utc(one.updated)
    if one.state in _WAITING and one.kind in _NAMES:
        yield Event(at, OTHER, f"{_NAMES[one.kind]} {_WAITING[one.state]}")
    if one.state is not OutState.SENT:
        return
    if one.kind is OutKind.ISSUE:
        number = one.result.get("number") or one.number
        yield Event(at, REPORTED, f"reported in {one.repository}" + (f" as #{number}" if number else ""))
    if one.kind is OutKind.STATE:
        named = _REVISION.match(one.key)
        since = f" with {named['revision']}" if named else ""
        opened = bool(one.payload.get("open"))
        yield Event(at, REOPENED if opened else CLOSED, f"{'reopened' if opened else 'closed'}{since}")
